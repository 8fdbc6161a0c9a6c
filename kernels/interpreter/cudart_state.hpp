#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fatbin/reader.hpp"
#include "kernels/interpreter/launch.hpp"

/// A stand-in for libcudart that runs kernels in the interpreter. A program that was linked with `-cudart
/// shared` and holds PTX that is not compressed finds it by LD_LIBRARY_PATH. Environment:
///   CUDAMATRIX_INTERPRETER_CC         compute capability of the device, "8.6"; unset: what the program's PTX
///   is for CUDAMATRIX_INTERPRETER_SCHEDULES  how often each kernel runs, each time with another interleaving
///   of warps (1) CUDAMATRIX_INTERPRETER_SEED       of the interleavings (1) CUDAMATRIX_INTERPRETER_STEPS
///   most warp instructions of one launch (20000000000) CUDAMATRIX_INTERPRETER_THREADS    of the host (0: one
///   for each processor) CUDAMATRIX_INTERPRETER_RACES      0: do not look for races
///   CUDAMATRIX_INTERPRETER_MEMORY     MiB of device memory (4096)
///   CUDAMATRIX_INTERPRETER_STATISTICS 1: says on standard error what each launch took
namespace cudamatrix::suite::ptx {

/// Values of cudaError_t that calls give by themselves (CUDA Runtime API, "Data types used by CUDA Runtime").
enum Error : int {
    kSuccess = 0,
    kInvalidValue = 1,
    kMemoryAllocation = 2,
    kInvalidConfiguration = 9,
    kInvalidSymbol = 13,
    kInvalidMemcpyDirection = 21,
    kMissingConfiguration = 52,
    kInvalidDeviceFunction = 98,
    kInvalidDevice = 101,
    kNoKernelImage = 209,
    kInvalidPtx = 218,
    kInvalidHandle = 400,
    kIllegalState = 401,
    kOutOfResources = 701,
    kTooManyBlocks = 720,
    kNotSupported = 801,
    kInvalidClusterSize = 912,
    kCaptureUnsupported = 900,
    kCaptureInvalidated = 901,
    kCaptureMerge = 902,
    kCaptureUnmatched = 903,
    kCaptureUnjoined = 904,
    kCaptureIsolation = 905,
    kCaptureImplicit = 906,
    kCapturedEvent = 907,
    kCaptureWrongThread = 908,
};

/// A fat binary that the program registered.
struct Image {
    fatbin::Bytes bytes;
    std::unique_ptr<Module> module;  ///< once it was needed
    int error = kSuccess;            ///< why there is none
};

struct Kernel {
    Image* image = nullptr;
    std::string name;
    int dynamic_shared = 0;  ///< bytes that cudaFuncSetAttribute allowed; 0: the usual 48 KiB
};

struct FoundKernel {
    Kernel* kernel = nullptr;  ///< null with an error
    const Function* function = nullptr;
    int error = kSuccess;
};

struct Symbol {
    Image* image = nullptr;
    std::string name;
    std::size_t size = 0;
};

struct Call {
    Dim3 grid;
    Dim3 block;
    std::size_t shared = 0;
    void* stream = nullptr;
    bool cooperative = false;
    Dim3 cluster;
};

struct Handle;
struct Graph;

/// What is known of memory that is allocated and freed in the order of streams.
struct MemoryPool {
    std::map<std::uint64_t, std::uint64_t> live;  ///< sizes by address
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0;  ///< with what was freed and is kept
    std::uint64_t reserved_high = 0;
    std::uint64_t threshold = 0;  ///< so much is kept when the host waits for a stream
};

/// All state of the runtime. It lives until the process ends, as programs call from destructors.
struct Runtime {
    std::recursive_mutex lock;
    DeviceMemory memory;
    RunOptions options;
    unsigned capability = 0;  ///< 86 for 8.6; 0: that of the PTX
    bool statistics = false;
    int sticky = kSuccess;  ///< after a fault every call fails, as on a device
    std::map<const void*, Kernel> kernels;
    std::map<const void*, Symbol> symbols;
    std::vector<std::unique_ptr<Image>> images;
    MemoryPool pool;
    std::map<void*, std::unique_ptr<Handle>> handles;     ///< streams and events that exist
    std::map<void*, std::unique_ptr<Graph>> graphs;       ///< captured ones
    std::map<void*, std::unique_ptr<Graph>> executables;  ///< instantiated ones

    Runtime();
    ~Runtime();
    [[nodiscard]] static Runtime& get();
    /// The module of an image, parsed and loaded when first needed; null and Image::error otherwise.
    Module* module_of(Image& image);
    /// The compute capability of the device, 86 for 8.6.
    [[nodiscard]] unsigned device_capability();
    /// The kernel behind a function of the host and its code.
    [[nodiscard]] FoundKernel find(const void* host);
};

/// Remembers an error for cudaGetLastError and gives it back.
int remember(int error);
/// remember(), after the sticky error of an earlier fault.
int result(int error);

/// Calls that the chevrons pushed in this thread.
[[nodiscard]] std::vector<Call>& pushed_calls();

/// What cudaRuntimeGetVersion says: 13000. Each libcudart has its own (cudart_version.cpp).
[[nodiscard]] int runtime_version();

}  // namespace cudamatrix::suite::ptx

/// An entry point of the runtime; only these are visible outside.
#define CUDAMATRIX_API extern "C" __attribute__((visibility("default")))
