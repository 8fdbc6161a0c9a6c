#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/support/context.hpp"
#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"

/// tc.nvfp4: products of 4-bit floating-point numbers (E2M1) that have a scale (UE4M3) for each 16 along K,
/// with float32 sums on tensor cores, against float64.
namespace cudamatrix::suite {

inline constexpr int kNvfp4Block = 16;  ///< numbers of a row of A, or a column of B, that share a scale
inline constexpr int kNvfp4Chunks = 4;  ///< such blocks in the K of one instruction

/// What a kernel should multiply: numbers times scales, which a float holds exactly.
struct TensorNvfp4 {
    static constexpr const char* kId = "tc.nvfp4";
    using Stored = float;
    using Sum = float;
    static constexpr int kM = 16;
    static constexpr int kN = 8;
    static constexpr int kK = 64;

    static double value(Stored stored) { return static_cast<double>(stored); }
};

/// As it lies in memory: two numbers in a byte, the first in its low half.
struct Nvfp4Inputs {
    TensorShape shape;
    std::vector<std::uint8_t> a;         ///< m x k / 2, row by row
    std::vector<std::uint8_t> b;         ///< n x k / 2, column by column
    std::vector<std::uint8_t> a_scales;  ///< m x k / 16
    std::vector<std::uint8_t> b_scales;  ///< n x k / 16
};

/// The number with these four bits: 0, 0.5, 1, 1.5, 2, 3, 4 or 6, with a sign (OCP "Microscaling Formats",
/// 5.3.3).
inline float e2m1_value(unsigned bits) {
    constexpr float kValues[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    return (bits & 8) != 0 ? -kValues[bits & 7] : kValues[bits & 7];
}
/// A scale is an E4M3 without its sign.
inline float ue4m3_value(std::uint8_t bits) {
    return fp8_value(bits, kE4m3);
}

/// K: nine steps.
[[nodiscard]] Nvfp4Inputs nvfp4_inputs(const TensorShape& shape = {96, 64, 576});
[[nodiscard]] TensorInputs<TensorNvfp4> nvfp4_numbers(const Nvfp4Inputs& inputs);
[[nodiscard]] Record nvfp4_check(const TensorInputs<TensorNvfp4>& numbers,
                                 const TensorOutputs<TensorNvfp4>& outputs, const char* backend);

}  // namespace cudamatrix::suite
