// Device memory.
#include <cstdlib>
#include <cstring>

#include "kernels/interpreter/cudart_streams.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

enum Direction : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kByAddress };

std::uint64_t address(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_device(const void* pointer) {
    return address(pointer) >= kGlobalBase;
}

/// Is it of the device and of the host?
bool is_managed(const void* pointer) {
    const Allocation* found = Runtime::get().memory.find(address(pointer));
    return found != nullptr && found->managed;
}

int copy(void* to, const void* from, std::size_t size, int direction) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (direction < kHostToHost || direction > kByAddress) return result(kInvalidMemcpyDirection);
    if (runtime.sticky != kSuccess || size == 0) return result(kSuccess);
    const bool device_to = is_device(to);
    const bool device_from = is_device(from);
    const int found = device_from ? (device_to ? kDeviceToDevice : kDeviceToHost)
                                  : (device_to ? kHostToDevice : kHostToHost);
    const bool any = direction == kByAddress || is_managed(to) || is_managed(from);
    if (to == nullptr || from == nullptr || (!any && direction != found)) return result(kInvalidValue);
    bool done = true;
    if (found == kHostToHost) std::memcpy(to, from, size);
    if (found == kHostToDevice) done = runtime.memory.copy_in(address(to), from, size);
    if (found == kDeviceToHost) done = runtime.memory.copy_out(to, address(from), size);
    if (found == kDeviceToDevice) done = runtime.memory.copy(address(to), address(from), size);
    return result(done ? kSuccess : kInvalidValue);
}

int fill(void* to, int value, std::size_t size) {
    Runtime& runtime = Runtime::get();
    if (runtime.sticky != kSuccess || size == 0) return kSuccess;
    return runtime.memory.fill(address(to), static_cast<std::uint8_t>(value), size) ? kSuccess
                                                                                    : kInvalidValue;
}

int release(void* pointer) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const int unsafe = unsafe_in_capture();
    if (unsafe != kSuccess) return result(unsafe);
    if (pointer == nullptr) return result(kSuccess);
    forget_in_pool(address(pointer));
    return result(runtime.memory.release(address(pointer)) ? kSuccess : kInvalidValue);
}

struct FoundSymbol {
    std::uint64_t address = 0;
    std::size_t size = 0;
    int error = kInvalidSymbol;

    [[nodiscard]] bool has(std::size_t offset, std::size_t count) const {
        return offset <= size && count <= size - offset;
    }
};

/// A __device__ or __constant__ variable.
FoundSymbol find_symbol(Runtime& runtime, const void* host) {
    const auto known = runtime.symbols.find(host);
    if (known == runtime.symbols.end()) return {};
    const Symbol& symbol = known->second;
    const Module* module = runtime.module_of(*symbol.image);
    if (module == nullptr) return {0, 0, symbol.image->error};
    const auto variable = module->variable_index.find(symbol.name);
    if (variable == module->variable_index.end()) return {};
    return {module->variables[variable->second].address, symbol.size, kSuccess};
}

}  // namespace

CUDAMATRIX_API int cudaMalloc(void** pointer, std::size_t size) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (pointer == nullptr) return result(kInvalidValue);
    const int unsafe = unsafe_in_capture();
    if (runtime.sticky != kSuccess || unsafe != kSuccess) return result(unsafe);
    *pointer = nullptr;
    if (size == 0) return result(kSuccess);
    const std::uint64_t found = runtime.memory.allocate(size, "");
    *pointer = reinterpret_cast<void*>(found);
    return result(found != 0 ? kSuccess : kMemoryAllocation);
}

CUDAMATRIX_API int cudaFree(void* pointer) {
    return release(pointer);
}

CUDAMATRIX_API int cudaMallocHost(void** pointer, std::size_t size) {
    *pointer = std::malloc(size != 0 ? size : 1);
    return result(*pointer != nullptr ? kSuccess : kMemoryAllocation);
}

CUDAMATRIX_API int cudaFreeHost(void* pointer) {
    std::free(pointer);
    return result(kSuccess);
}

CUDAMATRIX_API int cudaMemcpy(void* to, const void* from, std::size_t size, int direction) {
    const int unsafe = unsafe_in_capture();
    return unsafe != kSuccess ? result(unsafe) : copy(to, from, size, direction);
}

CUDAMATRIX_API int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int direction,
                                   void* stream) {
    return result(in_stream(stream, [=] { return copy(to, from, size, direction); }));
}

CUDAMATRIX_API int cudaMemset(void* to, int value, std::size_t size) {
    return result(in_stream(nullptr, [=] { return fill(to, value, size); }));
}

CUDAMATRIX_API int cudaMemsetAsync(void* to, int value, std::size_t size, void* stream) {
    return result(in_stream(stream, [=] { return fill(to, value, size); }));
}

CUDAMATRIX_API int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    *total = runtime.memory.capacity();
    *free = runtime.memory.capacity() - runtime.memory.used();
    return result(kSuccess);
}

CUDAMATRIX_API int cudaGetSymbolAddress(void** pointer, const void* symbol) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const FoundSymbol found = find_symbol(runtime, symbol);
    *pointer = reinterpret_cast<void*>(found.address);
    return result(found.error);
}

CUDAMATRIX_API int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                                      std::size_t offset, int direction) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const FoundSymbol found = find_symbol(runtime, symbol);
    if (found.error != kSuccess) return result(found.error);
    if (!found.has(offset, size)) return result(kInvalidValue);
    return copy(reinterpret_cast<void*>(found.address + offset), from, size, direction);
}

CUDAMATRIX_API int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                                        int direction) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const FoundSymbol found = find_symbol(runtime, symbol);
    if (found.error != kSuccess) return result(found.error);
    if (!found.has(offset, size)) return result(kInvalidValue);
    return copy(to, reinterpret_cast<const void*>(found.address + offset), size, direction);
}
