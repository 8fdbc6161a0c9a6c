// The device, streams and events. There is one device; work in streams is done when the call returns.
#include <chrono>

#include "kernels/interpreter/cudart_state.hpp"

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
    {95, 1},                                       // cooperative launch
    {97, 227 << 10},                               // shared memory of a block that opts in
    {106, 32},                                     // blocks of a multiprocessor
};
constexpr int kMajor = 75;
constexpr int kMinor = 76;

struct Handle {
    std::chrono::steady_clock::time_point recorded;
    bool is_recorded = false;
};

int create(void** handle, bool event) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (handle == nullptr) return result(kInvalidValue);
    *handle = new Handle;
    runtime.handles[*handle] = event;
    return result(kSuccess);
}

/// The handle's object; null for the streams 0, 1 and 2 that always exist, and when there is none.
Handle* find(void* handle, bool event) {
    Runtime& runtime = Runtime::get();
    const auto known = runtime.handles.find(handle);
    return known != runtime.handles.end() && known->second == event ? static_cast<Handle*>(handle) : nullptr;
}

bool is_stream(void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle) <= 2 || find(handle, false) != nullptr;
}

int destroy(void* handle, bool event) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    Handle* found = find(handle, event);
    if (found == nullptr) return result(kInvalidHandle);
    runtime.handles.erase(handle);
    delete found;
    return result(kSuccess);
}

int need_stream(void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    return result(is_stream(handle) ? kSuccess : kInvalidHandle);
}

int need_event(void* handle) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    return result(find(handle, true) != nullptr ? kSuccess : kInvalidHandle);
}

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
    for (const AttributeRow& row : kAttributes) {
        if (row.attribute != attribute) continue;
        *value = row.value;
        return result(kSuccess);
    }
    return result(kNotSupported);
}

CUDAMATRIX_API int cudaDeviceSynchronize() {
    return result(kSuccess);
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

CUDAMATRIX_API int cudaStreamCreate(void** stream) {
    return create(stream, false);
}
CUDAMATRIX_API int cudaStreamCreateWithFlags(void** stream, unsigned) {
    return create(stream, false);
}
CUDAMATRIX_API int cudaStreamDestroy(void* stream) {
    return destroy(stream, false);
}
CUDAMATRIX_API int cudaStreamSynchronize(void* stream) {
    return need_stream(stream);
}
CUDAMATRIX_API int cudaStreamQuery(void* stream) {
    return need_stream(stream);
}
CUDAMATRIX_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
    const int error = need_stream(stream);
    return error != kSuccess ? error : need_event(event);
}

CUDAMATRIX_API int cudaEventCreate(void** event) {
    return create(event, true);
}
CUDAMATRIX_API int cudaEventCreateWithFlags(void** event, unsigned) {
    return create(event, true);
}
CUDAMATRIX_API int cudaEventDestroy(void* event) {
    return destroy(event, true);
}
CUDAMATRIX_API int cudaEventSynchronize(void* event) {
    return need_event(event);
}
CUDAMATRIX_API int cudaEventQuery(void* event) {
    return need_event(event);
}

CUDAMATRIX_API int cudaEventRecord(void* event, void* stream) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    Handle* found = find(event, true);
    if (found == nullptr || !is_stream(stream)) return result(kInvalidHandle);
    found->recorded = std::chrono::steady_clock::now();
    found->is_recorded = true;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    const Handle* first = find(begin, true);
    const Handle* last = find(end, true);
    if (first == nullptr || last == nullptr || !first->is_recorded || !last->is_recorded)
        return result(kInvalidHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(last->recorded - first->recorded).count();
    return result(kSuccess);
}
