#pragma once

#include <vector>

#include "kernels/compute/float_product.hpp"
#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.sgemm: fp32 matrix product in shared-memory tiles, against float64.
namespace cudamatrix::suite {

inline constexpr const char* kSgemmId = "cmp.sgemm";

struct SgemmOutputs {
    std::vector<float> c;  ///< m x n, with a guard behind
    RunFlag flag;
};

/// The test's inputs: sizes that no tile divides, so that every edge is exercised.
[[nodiscard]] SgemmInputs sgemm_inputs();
[[nodiscard]] SgemmInputs sgemm_inputs(int m, int n, int k);
[[nodiscard]] int sgemm_blocks(const SgemmInputs& inputs);
[[nodiscard]] SgemmOutputs sgemm_blank(const SgemmInputs& inputs);
[[nodiscard]] SgemmOutputs sgemm_on_cpu(const SgemmInputs& inputs);
/// By the bounds of check_product().
[[nodiscard]] Record sgemm_check(const SgemmInputs& inputs, const SgemmOutputs& outputs, const char* backend);
[[nodiscard]] Record sgemm_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
