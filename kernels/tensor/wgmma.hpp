#pragma once

#include "kernels/support/context.hpp"
#include "kernels/tensor/bf16.hpp"

/// tc.wgmma: products of bfloat16 by the instructions of 9.0a, which multiply in four warps what TMA has
/// brought to shared memory, against float64.
namespace cudamatrix::suite {

struct TensorWgmma : TensorBf16 {
    static constexpr const char* kId = "tc.wgmma";
    static constexpr int kM = 64;
    static constexpr int kN = 128;
};

inline constexpr int kWgmmaDepth = 64;                    ///< of K in one stage: rows of 128 bytes
inline constexpr int kWgmmaStages = 4;                    ///< that TMA may be ahead
inline constexpr int kWgmmaConsumers = 4 * kWarp;         ///< threads that multiply
inline constexpr int kWgmmaThreads = 5 * kWarp;           ///< with the warp that starts the copies
inline constexpr TensorShape kWgmmaShape{100, 200, 552};  ///< tiles stick out along all three

/// One block for each tile of C.
template <>
inline int tensor_blocks<TensorWgmma>(const TensorShape& shape) {
    return tensor_tiles(shape, TensorWgmma::kM, TensorWgmma::kN);
}

[[nodiscard]] TensorInputs<TensorWgmma> wgmma_inputs(const TensorShape& shape = kWgmmaShape);
[[nodiscard]] Record wgmma_check(const TensorInputs<TensorWgmma>& inputs,
                                 const TensorOutputs<TensorWgmma>& outputs, const char* backend);

}  // namespace cudamatrix::suite
