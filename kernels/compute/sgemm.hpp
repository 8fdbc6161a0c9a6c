#pragma once

#include <vector>

#include "kernels/compute/float_product.hpp"
#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.sgemm: fp32 matrix product in shared-memory tiles, against float64.
namespace cudamatrix::suite {

inline constexpr const char* kSgemmId = "cmp.sgemm";
inline constexpr int kSgemmMeasured = 4096;  ///< rows and columns of all three, where the speed is measured

struct SgemmOutputs {
    std::vector<float> c;  ///< m x n, with a guard behind
    RunFlag flag;
};

/// The test's inputs: sizes that no tile divides, so that every edge is exercised.
[[nodiscard]] SgemmInputs sgemm_inputs();
/// Rows that begin where four floats are read at once: that, too, is cut off at every edge.
[[nodiscard]] SgemmInputs sgemm_aligned_inputs();
[[nodiscard]] SgemmInputs sgemm_inputs(int m, int n, int k);
[[nodiscard]] int sgemm_blocks(const SgemmInputs& inputs);
[[nodiscard]] SgemmOutputs sgemm_blank(const SgemmInputs& inputs);
[[nodiscard]] SgemmOutputs sgemm_on_cpu(const SgemmInputs& inputs);
/// By the bounds of check_product().
[[nodiscard]] Record sgemm_check(const SgemmInputs& inputs, const SgemmOutputs& outputs, const char* backend);
/// What both products come to: the first that is not green, otherwise the checks of both.
[[nodiscard]] Record sgemm_both(Record odd, Record aligned);
[[nodiscard]] Record sgemm_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
