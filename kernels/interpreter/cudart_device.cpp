// The device. There is one.
#include "kernels/interpreter/cudart_streams.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

// cudaDeviceAttr (CUDA Runtime API, "Data types"). 75 and 76 depend on the settings.
struct AttributeRow {
    int attribute;
    int value;
};
constexpr AttributeRow kAttributes[] = {
    {1, 1024},                                     // threads of a block
    {2, 1024},                                     // block x, y, z
    {3, 1024},       {4, 64},    {5, 0x7fffffff},  // grid x, y, z
    {6, 65535},      {7, 65535}, {8, 48 << 10},    // shared memory of a block
    {9, 64 << 10},                                 // constant memory
    {10, 32},                                      // lanes of a warp
    {12, 65536},                                   // registers of a block
    {13, 1000000},                                 // clock, kHz
    {16, 1},                                       // multiprocessors
    {36, 1000000},                                 // memory clock, kHz
    {37, 64},                                      // memory bus, bits
    {39, 2048},                                    // threads of a multiprocessor
    {81, 228 << 10},                               // shared memory of a multiprocessor
    {82, 65536},                                   // registers of a multiprocessor
    {83, 1},                                       // managed memory
    {88, 0},                                       // access to all memory of the host
    {89, 1},                                       // managed memory for both at once
    {95, 1},                                       // cooperative launch
    {97, 227 << 10},                               // shared memory of a block that opts in
    {106, 32},                                     // blocks of a multiprocessor
    {115, 1},                                      // memory pools
};
constexpr int kMajor = 75;
constexpr int kMinor = 76;
constexpr int kClusterLaunch = 120;
constexpr unsigned kFirstClusters = 90;  // compute capability

}  // namespace

CUDAMATRIX_API int cudaGetDeviceCount(int* count) {
    *count = 1;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaGetDevice(int* device) {
    *device = 0;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaSetDevice(int device) {
    return result(device == 0 ? kSuccess : kInvalidDevice);
}

CUDAMATRIX_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (value == nullptr) return result(kInvalidValue);
    if (device != 0) return result(kInvalidDevice);
    if (attribute == kMajor || attribute == kMinor) {
        const auto capability = static_cast<int>(runtime.device_capability());
        *value = attribute == kMajor ? capability / 10 : capability % 10;
        return result(kSuccess);
    }
    if (attribute == kClusterLaunch) {
        *value = runtime.device_capability() >= kFirstClusters ? 1 : 0;
        return result(kSuccess);
    }
    for (const AttributeRow& row : kAttributes) {
        if (row.attribute != attribute) continue;
        *value = row.value;
        return result(kSuccess);
    }
    return result(kNotSupported);
}

CUDAMATRIX_API int cudaDeviceSynchronize() {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    synchronise_pool();
    return result(unsafe_in_capture());
}

CUDAMATRIX_API int cudaDeviceReset() {
    return result(kSuccess);
}

CUDAMATRIX_API int cudaRuntimeGetVersion(int* version) {
    *version = runtime_version();
    return result(kSuccess);
}

CUDAMATRIX_API int cudaDriverGetVersion(int* version) {
    *version = runtime_version();
    return result(kSuccess);
}
