// The driver's functions that programs get from the runtime, of which only one is known.
#include <cstring>

#include "kernels/interpreter/cudart_state.hpp"
#include "kernels/interpreter/tensor_map.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

constexpr unsigned kTensorMapVersion = 12000;  // CUDA with cuTensorMapEncodeTiled
constexpr unsigned kTensorMapCapability = 90;
constexpr int kNotFound = 500;  // cudaErrorSymbolNotFound
// cudaDriverEntryPointQueryResult
constexpr int kFound = 0;
constexpr int kNoSuchSymbol = 1;
constexpr int kTooOld = 2;

int encode_tiled(void* into, int type, std::uint32_t rank, void* address, const std::uint64_t* sizes,
                 const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                 int interleave, int swizzle, int promotion, int fill) {
    if (Runtime::get().device_capability() < kTensorMapCapability) return kNotSupported;
    TensorMapRequest request;
    request.type = static_cast<std::uint32_t>(type);
    request.rank = rank;
    request.address = reinterpret_cast<std::uintptr_t>(address);
    request.sizes = sizes;
    request.strides = strides;
    request.box = box;
    request.steps = steps;
    request.interleave = static_cast<std::uint32_t>(interleave);
    request.swizzle = static_cast<std::uint32_t>(swizzle);
    request.promotion = static_cast<std::uint32_t>(promotion);
    request.fill = static_cast<std::uint32_t>(fill);
    return encode_tensor_map(into, request);
}

int find(const char* name, void** function, unsigned version, int* answer) {
    if (name == nullptr || function == nullptr) return result(kInvalidValue);
    *function = nullptr;
    int found = kNoSuchSymbol;
    if (std::strcmp(name, "cuTensorMapEncodeTiled") == 0)
        found = version < kTensorMapVersion ? kTooOld : kFound;
    if (found == kFound) *function = reinterpret_cast<void*>(&encode_tiled);
    if (answer == nullptr) return result(found == kFound ? kSuccess : kNotFound);
    *answer = found;
    return result(kSuccess);
}

}  // namespace

/// The last parameter came with 12.0: programs of before pass what happens to be in its place.
CUDAMATRIX_API int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                           int* answer) {
    const auto version = static_cast<unsigned>(runtime_version());
    return find(name, function, version, version < kTensorMapVersion ? nullptr : answer);
}

CUDAMATRIX_API int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                    unsigned long long, int* answer) {
    return find(name, function, version, answer);
}
