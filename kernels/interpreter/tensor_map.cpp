#include "kernels/interpreter/tensor_map.hpp"

#include <cstring>

namespace cudamatrix::suite::ptx {
namespace {

// CUresult
constexpr int kDone = 0;
constexpr int kInvalid = 1;
constexpr int kUnknown = 801;

constexpr std::uint64_t kMagic = 0x70616d726f736e65;
constexpr std::uint64_t kMostSize = 1ULL << 32;
constexpr std::uint64_t kMostStride = 1ULL << 40;
constexpr std::uint32_t kMostBox = 256;
constexpr std::uint32_t kMostStep = 8;
constexpr std::uint64_t kUnit = 16;  // bytes

/// By CUtensorMapDataType; 0: elements of less than a byte, which are not known here.
constexpr std::uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};

/// CUtensorMapSwizzle counts the other way round than matrix descriptors.
constexpr Swizzle kSwizzles[] = {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128};

bool dimensions_are_valid(const TensorMapRequest& request) {
    for (std::uint32_t i = 0; i < request.rank; ++i) {
        if (request.sizes[i] == 0 || request.sizes[i] > kMostSize) return false;
        if (request.box[i] == 0 || request.box[i] > kMostBox) return false;
        if (request.steps[i] == 0 || request.steps[i] > kMostStep) return false;
        if (i + 1 < request.rank &&
            (request.strides[i] % kUnit != 0 || request.strides[i] >= kMostStride || request.strides[i] == 0))
            return false;
    }
    return true;
}

bool is_known(const TensorMapRequest& request) {
    for (std::uint32_t i = 0; i < request.rank; ++i) {
        if (request.steps[i] != 1) return false;
    }
    return request.interleave == 0 && request.fill == 0 && kElementBytes[request.type] != 0 &&
           request.swizzle < 4;
}

}  // namespace

bool TensorMap::valid() const {
    return magic == kMagic;
}

std::uint64_t TensorMap::box_bytes() const {
    std::uint64_t bytes = element;
    for (unsigned i = 0; i < rank; ++i)
        bytes *= box[i];
    return bytes;
}

int encode_tensor_map(void* into, const TensorMapRequest& request) {
    constexpr std::uint32_t kTypes = sizeof kElementBytes;
    constexpr std::uint32_t kSwizzleModes = 7;  // with those of Blackwell
    if (into == nullptr || reinterpret_cast<std::uintptr_t>(into) % kTensorMapAlign != 0) return kInvalid;
    if (request.rank == 0 || request.rank > kMostDimensions || request.type >= kTypes) return kInvalid;
    if (request.interleave > 2 || request.swizzle >= kSwizzleModes || request.promotion > 3 ||
        request.fill > 1)
        return kInvalid;
    if (request.sizes == nullptr || request.box == nullptr || request.steps == nullptr ||
        (request.rank > 1 && request.strides == nullptr))
        return kInvalid;
    if (request.address == 0 || request.address % kUnit != 0 || !dimensions_are_valid(request))
        return kInvalid;
    if (!is_known(request)) return kUnknown;
    TensorMap map;
    map.magic = kMagic;
    map.address = request.address;
    map.rank = static_cast<std::uint8_t>(request.rank);
    map.element = kElementBytes[request.type];
    map.swizzle = kSwizzles[request.swizzle];
    for (std::uint32_t i = 0; i < request.rank; ++i) {
        map.last[i] = static_cast<std::uint32_t>(request.sizes[i] - 1);
        map.box[i] = static_cast<std::uint16_t>(request.box[i]);
        if (i + 1 < request.rank) map.strides[i] = request.strides[i];
    }
    const std::uint64_t inner = std::uint64_t{map.box[0]} * map.element;
    if (inner % kUnit != 0) return kInvalid;
    if (map.swizzle != Swizzle::none && inner > swizzle_span(map.swizzle)) return kInvalid;
    std::memset(into, 0, kTensorMapSize);
    std::memcpy(into, &map, sizeof map);
    return kDone;
}

}  // namespace cudamatrix::suite::ptx
