#pragma once

#include <cstdint>

#include "kernels/interpreter/matrix_descriptor.hpp"

namespace cudamatrix::suite::ptx {

inline constexpr unsigned kMostDimensions = 5;
inline constexpr unsigned kTensorMapSize = 128;  ///< CUtensorMap, of which programs see bytes of no meaning
inline constexpr unsigned kTensorMapAlign = 64;

/// The arguments of cuTensorMapEncodeTiled, by the numbers that they have in cuda.h.
struct TensorMapRequest {
    std::uint32_t type = 0;
    std::uint32_t rank = 0;
    std::uint64_t address = 0;
    const std::uint64_t* sizes = nullptr;    ///< elements, `rank` of them, the inner one first
    const std::uint64_t* strides = nullptr;  ///< bytes, of all dimensions but the inner one
    const std::uint32_t* box = nullptr;      ///< elements
    const std::uint32_t* steps = nullptr;    ///< of elements
    std::uint32_t interleave = 0;
    std::uint32_t swizzle = 0;
    std::uint32_t promotion = 0;
    std::uint32_t fill = 0;
};

/// A tensor in global memory, and the box of it that a copy brings.
struct TensorMap {
    std::uint64_t magic = 0;
    std::uint64_t address = 0;
    std::uint64_t strides[kMostDimensions - 1] = {};  ///< bytes
    std::uint32_t last[kMostDimensions] = {};         ///< size - 1
    std::uint16_t box[kMostDimensions] = {};
    std::uint8_t rank = 0;
    std::uint8_t element = 0;  ///< bytes
    Swizzle swizzle = Swizzle::none;

    /// False for bytes that encode_tensor_map did not write.
    [[nodiscard]] bool valid() const;
    [[nodiscard]] std::uint64_t box_bytes() const;
};
static_assert(sizeof(TensorMap) <= kTensorMapSize, "it lies in a CUtensorMap");

/// Writes the 128 bytes of a tensor map. A CUresult: 0, 1 for what the driver refuses too (CUDA Driver API,
/// "cuTensorMapEncodeTiled"), 801 for what is not known here.
[[nodiscard]] int encode_tensor_map(void* into, const TensorMapRequest& request);

}  // namespace cudamatrix::suite::ptx
