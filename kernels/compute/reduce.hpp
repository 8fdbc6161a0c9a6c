#pragma once

#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.reduce: sums over a grid; integers exact, floats against a compensated float64 sum.
namespace cudamatrix::suite {

inline constexpr const char* kReduceId = "cmp.reduce";
inline constexpr int kReduceBlocks = 256;

struct ReduceInputs {
    std::vector<float> values;
    std::vector<int> integers;
};

struct ReduceOutputs {
    std::vector<float> block_sums;  ///< with a guard behind
    double total = 0;
    unsigned long long integer_total = 0;
    RunFlag flag;
};

/// Floats with mean 1 (so that their sum is well conditioned), integers over the whole range of int.
[[nodiscard]] ReduceInputs reduce_inputs();
[[nodiscard]] ReduceOutputs reduce_blank();
[[nodiscard]] ReduceOutputs reduce_on_cpu(const ReduceInputs& inputs);
[[nodiscard]] Record reduce_check(const ReduceInputs& inputs, const ReduceOutputs& outputs,
                                  const char* backend);
[[nodiscard]] Record reduce_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
