#include "kernels/compute/vadd.hpp"

#include "kernels/compute/check.hpp"
#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {

VaddInputs vadd_inputs() {
    constexpr std::size_t kLength = 1000003;
    const Philox philox(seed_of(kVaddId));
    VaddInputs inputs;
    inputs.a.resize(kLength);
    inputs.b.resize(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
        // Different magnitudes, so that sums have to be rounded; exact sums would hide a wrong rounding.
        inputs.a[i] = philox.uniform(i, 0) * 1024.0F;
        inputs.b[i] = philox.uniform(i, 1);
    }
    return inputs;
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
    check_ran(record, outputs.flag, kVaddBlocks);
    check_written(record, outputs.c, n);
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < n && i < outputs.c.size(); ++i) {
        // Rounding a float64 sum of two floats to float gives the correctly rounded sum: 53 >= 2 * 24 + 2.
        const auto expected =
            static_cast<float>(static_cast<double>(inputs.a[i]) + static_cast<double>(inputs.b[i]));
        if (bits_of(outputs.c[i]) == bits_of(expected)) continue;
        if (wrong++ == 0) first = i;
    }
    record.check("exact", wrong == 0,
                 std::to_string(wrong) + " of " + std::to_string(n) + " sums differ, the first at " +
                     std::to_string(first));
    return judge(record, "mismatch", std::to_string(n) + " sums exact (" + backend + ")");
}

Record vadd_cpu_part(const Context&) {
    const VaddInputs inputs = vadd_inputs();
    return vadd_check(inputs, vadd_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
