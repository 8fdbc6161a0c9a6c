#pragma once

#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.fma: chains of fused multiply-adds in registers, float32 and float64, exact.
namespace cudamatrix::suite {

inline constexpr const char* kFmaId = "cmp.fma";
inline constexpr int kFmaThreads = 128;
inline constexpr int kFmaBlocks = 256;

template <typename T>
struct FmaNumbers {
    std::vector<T> start;   ///< kFmaChains of each item
    std::vector<T> factor;  ///< two of each item
    std::vector<T> addend;  ///< two of each item
};

struct FmaInputs {
    std::size_t n = 0;  ///< items
    FmaNumbers<float> f32;
    FmaNumbers<double> f64;
};

/// The chains' ends, with a guard behind.
struct FmaOutputs {
    std::vector<float> f32;
    std::vector<double> f64;
    RunFlag flag;
};

/// The test's inputs: a number of items that no block size divides.
[[nodiscard]] FmaInputs fma_inputs();
[[nodiscard]] FmaInputs fma_inputs(std::size_t n);
[[nodiscard]] FmaOutputs fma_blank(const FmaInputs& inputs);
[[nodiscard]] FmaOutputs fma_on_cpu(const FmaInputs& inputs);
/// Compares with the same chains of std::fma, bit by bit.
[[nodiscard]] Record fma_check(const FmaInputs& inputs, const FmaOutputs& outputs, const char* backend);
[[nodiscard]] Record fma_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
