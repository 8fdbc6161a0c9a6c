#pragma once

#include "kernels/support/context.hpp"
#include "kernels/tensor/bf16.hpp"

/// tc.tcgen05: products of bfloat16 by the instructions of 10.0a, which one thread starts and whose sums lie
/// in tensor memory, against float64.
namespace cudamatrix::suite {

struct TensorTcgen05 : TensorBf16 {
    static constexpr const char* kId = "tc.tcgen05";
    static constexpr int kM = 128;
    static constexpr int kN = 128;
};

inline constexpr int kTcgen05Depth = 64;           ///< of K in one stage: rows of 128 bytes
inline constexpr int kTcgen05Stages = 4;           ///< that TMA may be ahead
inline constexpr int kTcgen05Threads = 6 * kWarp;  ///< four warps store the sums, one copies, one multiplies
inline constexpr TensorShape kTcgen05Shape{200, 136, 552};  ///< tiles stick out along all three

/// One block for each tile of C.
template <>
inline int tensor_blocks<TensorTcgen05>(const TensorShape& shape) {
    return tensor_tiles(shape, TensorTcgen05::kM, TensorTcgen05::kN);
}

[[nodiscard]] TensorInputs<TensorTcgen05> tcgen05_inputs(const TensorShape& shape = kTcgen05Shape);
[[nodiscard]] Record tcgen05_check(const TensorInputs<TensorTcgen05>& inputs,
                                   const TensorOutputs<TensorTcgen05>& outputs, const char* backend);

}  // namespace cudamatrix::suite
