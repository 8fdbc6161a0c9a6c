#pragma once

#include <string_view>

/// The faults that tests name, in reports as "fault F6".
namespace cudamatrix::suite {

struct Fault {
    std::string_view code;
    std::string_view text;  ///< one sentence
};

/// THE catalogue. Codes are public: one that was given stays, and is never given to another fault.
inline constexpr Fault kFaults[] = {
    {"F1", "The container has no NVIDIA driver, or the driver sees no GPU."},
    {"F2", "The toolkit's stub is on the library path and is taken for the driver."},
    {"F3", "The driver is too old for the CUDA runtime."},
    {"F4", "The driver's library and its kernel module are of different versions."},
    {"F5", "The compatibility library (cuda-compat) does not fit this GPU or this driver."},
    {"F6", "There is neither machine code nor PTX that runs on this GPU."},
    {"F7", "The PTX is newer than what the driver compiles."},
    {"F8", "PTX cannot be compiled: JIT is switched off, or the driver's JIT compiler is not mounted."},
    {"F9", "libnvrtc or its builtins are missing, or are of another major release."},
    {"F10", "The image's nvcc, nvrtc or nvJitLink does not know the GPU architecture."},
    {"F11", "A CUDA library is missing, or another version of it is loaded than the cell promises."},
    {"F12", "/dev/shm is missing or too small."},
    {"F13", "A variable left in the environment hides GPUs, slows programs down or changes results."},
    {"F14", "TF32 is used where it is switched off, or not used where it is allowed."},
    {"F15", "The GPU has uncorrectable memory errors, remapped rows, Xid errors or a lowered clock."},
    {"F16", "The GPU is not the promised one, or is taken or divided: exclusive mode, MIG, MPS."},
    {"F17", "PCIe is slower than its generation and width allow."},
    {"F18", "An illegal memory access is not reported, or spoils the next process."},
    {"F19", "After running out of GPU memory, the program cannot go on."},
    {"F20", "GPU memory is lost from run to run."},
    {"F21", "nvcc finds no host compiler that it accepts: too new, or none at all."},
    {"F22", "The C++ dialect is older than the CUDA headers accept (C++17 from CUDA 13)."},
    {"F23", "torch is not the promised build, or has no code for this GPU."},
    {"F24", "The fabric between the GPUs (NVSwitch) is not ready."},
    {"F25", "The driver cannot open its device nodes (/dev/nvidia*): seccomp or the device cgroup."},
};

inline const Fault* find_fault(std::string_view code) {
    for (const Fault& fault : kFaults) {
        if (fault.code == code) return &fault;
    }
    return nullptr;
}

}  // namespace cudamatrix::suite
