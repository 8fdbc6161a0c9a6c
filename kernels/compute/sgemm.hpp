#pragma once

#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.sgemm: fp32 matrix product in shared-memory tiles, against float64.
namespace cudamatrix::suite {

inline constexpr const char* kSgemmId = "cmp.sgemm";

struct SgemmInputs {
    int m = 0;
    int n = 0;
    int k = 0;
    std::vector<float> a;  ///< m x k
    std::vector<float> b;  ///< k x n
};

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
/// Two bounds: the Frobenius norm of the error relative to the result's, and each element's error against
/// 8 eps sum |a||b|, which catches the single wrong element that the norm dilutes.
[[nodiscard]] Record sgemm_check(const SgemmInputs& inputs, const SgemmOutputs& outputs, const char* backend);
[[nodiscard]] Record sgemm_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
