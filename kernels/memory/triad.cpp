#include "kernels/memory/triad.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/memory/triad_body.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {

TriadInputs triad_inputs(std::size_t n) {
    const Philox philox(seed_of(kTriadId));
    TriadInputs inputs;
    inputs.s = 0x1.5bf0a8b145769p+1;  // e: no bit of its significand is idle
    inputs.b.resize(n);
    inputs.c.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<std::uint32_t, 4> word = philox.block({static_cast<std::uint32_t>(i), 0, 0, 0});
        inputs.b[i] = Philox::full_precision(word[0], word[1]);
        inputs.c[i] = Philox::full_precision(word[2], word[3]);
    }
    return inputs;
}

TriadOutputs triad_blank(const TriadInputs& inputs) {
    return {blank_output<double>(inputs.b.size()), {}};
}

TriadOutputs triad_on_cpu(const TriadInputs& inputs) {
    TriadOutputs outputs = triad_blank(inputs);
    const TriadArgs args{
        outputs.a.data(), inputs.b.data(), inputs.c.data(), inputs.s, static_cast<long>(inputs.b.size()),
        &outputs.flag};
    run_on_cpu(kTriadBlocks, kTriadThreads, [&](CpuBlock& block) { triad_body(block, args); });
    return outputs;
}

Record triad_check(const TriadInputs& inputs, const TriadOutputs& outputs, const char* backend) {
    Record record;
    const std::size_t n = inputs.b.size();
    check_ran(record, outputs.flag, kTriadBlocks);
    check_written(record, outputs.a, n);
    const Mismatches wrong = mismatches(std::min(n, outputs.a.size()), [&](std::size_t i) {
        const double expected = std::fma(inputs.s, inputs.c[i], inputs.b[i]);
        return std::memcmp(&outputs.a[i], &expected, sizeof expected) == 0;  // bits: -0 is not 0
    });
    record.check("exact", wrong.count == 0,
                 std::to_string(wrong.count) + " of " + std::to_string(n) +
                     " elements differ, the first at " + std::to_string(wrong.first));
    return judge(record, "mismatch", std::to_string(n) + " elements exact (" + backend + ")");
}

Record triad_cpu_part(const Context&) {
    const TriadInputs inputs = triad_inputs(kTriadSmall);
    return triad_check(inputs, triad_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
