// The default memory pool, and managed memory (CUDA Runtime API, "Stream Ordered Memory Allocator" and
// "Memory Management").
#include <algorithm>
#include <cstring>

#include "kernels/interpreter/cudart_streams.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

constexpr std::uint64_t kPoolPiece = 2ULL << 20;  // what a pool takes at once
constexpr int kFirstWithStatistics = 11030;       // of pools
constexpr int kFirstWithLocations = 13000;        // of cudaMemPrefetchAsync

// cudaMemPoolAttr. 1 to 3 say which memory may be used again, and are not known here.
enum PoolAttribute : int { kThreshold = 4, kReserved = 5, kReservedHigh = 6, kUsed = 7, kUsedHigh = 8 };
// cudaMemLocationType.
enum LocationType : std::uint32_t { kOnDevice = 1, kOnHost = 2 };

/// Of calls that no graph here can hold: an error when the stream captures, or is none.
int not_in_capture(void* stream) {
    if (!is_stream(stream)) return kInvalidHandle;
    const Handle* found = find_handle(stream, false);
    if (found == nullptr || found->capture == nullptr) return kSuccess;
    found->capture->invalid = true;
    return kNotSupported;
}

std::uint64_t whole_pieces(std::uint64_t size) {
    return (size + kPoolPiece - 1) / kPoolPiece * kPoolPiece;
}

/// The pool gives back what it has beyond `least` and beyond what is in use.
void shrink(MemoryPool& pool, std::uint64_t least) {
    pool.reserved = std::max(whole_pieces(pool.used), std::min(pool.reserved, least));
}

std::uint64_t* value_of(MemoryPool& pool, int attribute) {
    switch (attribute) {
        case kThreshold:
            return &pool.threshold;
        case kReserved:
            return &pool.reserved;
        case kReservedHigh:
            return &pool.reserved_high;
        case kUsed:
            return &pool.used;
        case kUsedHigh:
            return &pool.used_high;
        default:
            return nullptr;
    }
}

/// The pool's number with this name, or why there is none.
int find_value(void* pool, int attribute, const void* value, std::uint64_t*& found) {
    Runtime& runtime = Runtime::get();
    if (pool != &runtime.pool || value == nullptr) return kInvalidValue;
    if (attribute > kThreshold && runtime_version() < kFirstWithStatistics) return kInvalidValue;
    found = value_of(runtime.pool, attribute);
    return found != nullptr                           ? kSuccess
           : attribute >= 1 && attribute < kThreshold ? kNotSupported
                                                      : kInvalidValue;
}

/// Whether the place is one that memory can be fetched to: `device` up to 12.x, {type, id} from 13.0 on.
int check_location(std::uint64_t where) {
    const auto low = static_cast<std::uint32_t>(where);
    const auto high = static_cast<std::uint32_t>(where >> 32);
    if (runtime_version() < kFirstWithLocations)
        return static_cast<std::int32_t>(low) == -1 || low == 0 ? kSuccess : kInvalidDevice;
    if (low != kOnDevice && low != kOnHost) return kNotSupported;
    return low == kOnHost || high == 0 ? kSuccess : kInvalidDevice;
}

}  // namespace

namespace cudamatrix::suite::ptx {

void synchronise_pool() {
    MemoryPool& pool = Runtime::get().pool;
    shrink(pool, pool.threshold);
}

void forget_in_pool(std::uint64_t address) {
    MemoryPool& pool = Runtime::get().pool;
    const auto known = pool.live.find(address);
    if (known == pool.live.end()) return;
    pool.used -= known->second;
    pool.live.erase(known);
}

}  // namespace cudamatrix::suite::ptx

CUDAMATRIX_API int cudaMallocAsync(void** pointer, std::size_t size, void* stream) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (pointer == nullptr) return result(kInvalidValue);
    const int refused = not_in_capture(stream);
    if (runtime.sticky != kSuccess || refused != kSuccess) return result(refused);
    *pointer = nullptr;
    if (size == 0) return result(kSuccess);
    const std::uint64_t found = runtime.memory.allocate(size, "");
    if (found == 0) return result(kMemoryAllocation);
    *pointer = reinterpret_cast<void*>(found);
    MemoryPool& pool = runtime.pool;
    pool.live[found] = size;
    pool.used += size;
    pool.used_high = std::max(pool.used_high, pool.used);
    pool.reserved = std::max(pool.reserved, whole_pieces(pool.used));
    pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
    return result(kSuccess);
}

/// The memory is gone at once, so that whoever uses it later is told so.
CUDAMATRIX_API int cudaFreeAsync(void* pointer, void* stream) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const int refused = not_in_capture(stream);
    if (refused != kSuccess) return result(refused);
    if (runtime.pool.live.count(address) == 0) return result(kInvalidValue);
    forget_in_pool(address);
    return result(runtime.memory.release(address) ? kSuccess : kInvalidValue);
}

CUDAMATRIX_API int cudaDeviceGetDefaultMemPool(void** pool, int device) {
    if (pool == nullptr) return result(kInvalidValue);
    if (device != 0) return result(kInvalidDevice);
    *pool = &Runtime::get().pool;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaMemPoolTrimTo(void* pool, std::size_t least) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (pool != &runtime.pool) return result(kInvalidValue);
    shrink(runtime.pool, least);
    return result(kSuccess);
}

CUDAMATRIX_API int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    std::uint64_t* found = nullptr;
    const int error = find_value(pool, attribute, value, found);
    if (error == kSuccess) std::memcpy(value, found, sizeof *found);
    return result(error);
}

/// The threshold takes any number; the highest ones can be set to 0 only.
CUDAMATRIX_API int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
    const std::lock_guard<std::recursive_mutex> hold(Runtime::get().lock);
    std::uint64_t* found = nullptr;
    const int error = find_value(pool, attribute, value, found);
    if (error != kSuccess) return result(error);
    std::uint64_t wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    const bool resets = (attribute == kReservedHigh || attribute == kUsedHigh) && wanted == 0;
    if (attribute != kThreshold && !resets) return result(kInvalidValue);
    *found = wanted;
    return result(kSuccess);
}

CUDAMATRIX_API int cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
    constexpr unsigned kAttachGlobal = 1;
    constexpr unsigned kAttachHost = 2;
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    if (pointer == nullptr || size == 0 || (flags != kAttachGlobal && flags != kAttachHost))
        return result(kInvalidValue);
    if (flags == kAttachHost) return result(kNotSupported);
    const int unsafe = unsafe_in_capture();
    if (runtime.sticky != kSuccess || unsafe != kSuccess) return result(unsafe);
    const std::uint64_t found = runtime.memory.allocate_managed(size);
    *pointer = reinterpret_cast<void*>(found);
    return result(found != 0 ? kSuccess : kMemoryAllocation);
}

// Up to 12.x (pointer, size, device, stream), from 13.0 on (pointer, size, location, flags, stream); a
// location is two words, which a register holds.
CUDAMATRIX_API int cudaMemPrefetchAsync(const void* pointer, std::size_t size, std::uint64_t where,
                                        std::uint64_t fourth, void* fifth) {
    Runtime& runtime = Runtime::get();
    const std::lock_guard<std::recursive_mutex> hold(runtime.lock);
    const bool has_flags = runtime_version() >= kFirstWithLocations;
    const int refused = not_in_capture(has_flags ? fifth : reinterpret_cast<void*>(fourth));
    if (refused != kSuccess) return result(refused);
    const Allocation* found = runtime.memory.find(reinterpret_cast<std::uint64_t>(pointer), size);
    if (found == nullptr || !found->managed || size == 0) return result(kInvalidValue);
    if (has_flags && static_cast<std::uint32_t>(fourth) != 0) return result(kInvalidValue);
    return result(check_location(where));
}
