#pragma once

#include <string>
#include <vector>

#include "kernels/support/context.hpp"

/// Finds the libraries that make device code at run time: the toolkit's through the loader, torch's in the
/// wheels that it comes in.
namespace cudamatrix::suite {

struct JitLibraryName {
    const char* stem;    ///< "libnvrtc"
    const char* wheel;   ///< its folder below site-packages/nvidia
    bool torch_has_one;  ///< every torch with CUDA brings it
};
inline constexpr JitLibraryName kNvrtcName{"libnvrtc", "cuda_nvrtc", true};
inline constexpr JitLibraryName kNvJitLinkName{"libnvJitLink", "nvjitlink", false};

/// One that the image has, or that the cell promises and the image has not.
struct JitLibrary {
    std::string owner;       ///< "toolkit" or "torch"
    std::string name;        ///< as dlopen was given it
    void* handle = nullptr;  ///< null: it does not load; it is never closed
    std::string error;       ///< why not
    std::string path;        ///< where it lies, links resolved
    int cuda_major = 0;      ///< that the cell promises of its owner; 0 = none
};

/// "libnvrtc.so.12" for CUDA 12.
[[nodiscard]] std::string jit_soname(const JitLibraryName& name, int cuda_major);

/// Those of the toolkit and of torch, loaded. What is neither promised (--lib, torch) nor there is left out.
[[nodiscard]] std::vector<JitLibrary> find_jit_libraries(const Context& context, const JitLibraryName& name);

}  // namespace cudamatrix::suite
