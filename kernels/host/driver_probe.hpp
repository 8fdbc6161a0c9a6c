#pragma once

#include <optional>
#include <string>
#include <vector>

/// Looks at the NVIDIA driver through libcuda alone: no CUDA runtime, so that nothing translates its answers.
namespace cudamatrix::suite {

/// The entry points that are used, as in cuda.h; present since CUDA 11.
struct DriverApi {
    int (*init)(unsigned) = nullptr;
    int (*driver_version)(int*) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device_get)(int*, int) = nullptr;
    int (*device_attribute)(int*, int, int) = nullptr;
    int (*device_name)(char*, int, int) = nullptr;
    int (*device_memory)(std::size_t*, int) = nullptr;
    int (*device_uuid)(void*, int) = nullptr;  ///< 16 bytes
};

struct DriverOptions {
    std::string root;                      ///< prefix of /proc/driver/nvidia/version
    std::string library = "libcuda.so.1";  ///< as dlopen takes it
};

struct DriverFacts {
    bool found = false;          ///< a libcuda was loaded
    void* library = nullptr;     ///< as dlopen gave it; it is never closed
    std::string load_error;      ///< why not
    bool absent = false;         ///< ... because there is none, not because it is broken
    std::string path;            ///< where the loader found it, links resolved
    std::string version;         ///< "550.54.15", from the file's name; "" when the name has none
    bool stub = false;           ///< the toolkit's link-time stand-in
    bool compat = false;         ///< from a cuda-compat package
    std::string kernel_version;  ///< of the kernel module, from /proc; "" when not loaded or not visible
    int cuda = 0;                ///< newest CUDA it offers: 12040 = 12.4; 0 = it did not say
    int init = -1;               ///< answer of cuInit; -1 = not called
    int devices = 0;             ///< after a successful cuInit
    DriverApi api;
};

/// Loads libcuda and asks it. cuInit is called at most once and only when the library is no stub.
[[nodiscard]] DriverFacts probe_driver(const DriverOptions& options);

/// "12.4" from 12040.
[[nodiscard]] std::string cuda_text(int cuda);
/// "550.54.15" out of the text of /proc/driver/nvidia/version or a file name; "" when there is none.
[[nodiscard]] std::string find_driver_version(const std::string& text);
/// The first driver release whose branch runs programs of a CUDA major by minor-version compatibility; "" if
/// unknown. Source: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
[[nodiscard]] std::string minimum_driver(int cuda_major);

}  // namespace cudamatrix::suite
