#include "kernels/compute/vadd.hpp"

#include <utility>

#include "kernels/compute/sums.hpp"
#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/cpu_block.hpp"

namespace cudamatrix::suite {

VaddInputs vadd_inputs() {
    constexpr std::size_t kLength = 1000003;
    SumInputs inputs = sum_inputs(kVaddId, kLength);
    return {std::move(inputs.a), std::move(inputs.b)};
}

VaddOutputs vadd_blank(const VaddInputs& inputs) {
    return {blank_output(inputs.a.size()), {}};
}

VaddOutputs vadd_on_cpu(const VaddInputs& inputs) {
    VaddOutputs outputs = vadd_blank(inputs);
    const VaddArgs args{inputs.a.data(), inputs.b.data(), outputs.c.data(),
                        static_cast<long>(inputs.a.size()), &outputs.flag};
    run_on_cpu(kVaddBlocks, kVaddThreads, [&](CpuBlock& block) { vadd_body(block, args); });
    return outputs;
}

Record vadd_check(const VaddInputs& inputs, const VaddOutputs& outputs, const char* backend) {
    Record record;
    const std::size_t n = inputs.a.size();
    check_sums(record, inputs.a, inputs.b, outputs.c, outputs.flag, kVaddBlocks);
    return judge(record, "mismatch", std::to_string(n) + " sums exact (" + backend + ")");
}

Record vadd_cpu_part(const Context&) {
    const VaddInputs inputs = vadd_inputs();
    return vadd_check(inputs, vadd_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
