#pragma once

#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.vadd: fp32 addition, element by element, exact.
namespace cudamatrix::suite {

inline constexpr const char* kVaddId = "cmp.vadd";
inline constexpr int kVaddThreads = 256;
inline constexpr int kVaddBlocks = 64;

struct VaddInputs {
    std::vector<float> a;
    std::vector<float> b;
};

/// `c` is longer than the inputs: what lies beyond must stay as it was.
struct VaddOutputs {
    std::vector<float> c;
    RunFlag flag;
};

/// Inputs of the test: signs and magnitudes mixed, a length that no block size divides.
[[nodiscard]] VaddInputs vadd_inputs();
/// Outputs as they are before the kernel runs: every element a pattern that no sum has.
[[nodiscard]] VaddOutputs vadd_blank(const VaddInputs& inputs);
[[nodiscard]] VaddOutputs vadd_on_cpu(const VaddInputs& inputs);
/// Compares with sums formed in float64. `backend` is "GPU" or "CPU", for the summary.
[[nodiscard]] Record vadd_check(const VaddInputs& inputs, const VaddOutputs& outputs, const char* backend);
[[nodiscard]] Record vadd_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
