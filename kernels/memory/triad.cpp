#include "kernels/memory/triad.hpp"

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
namespace {

/// Uniform in (-1, 1), never 0, its last bit always set: an odd multiple of 2^-52.
double full_precision(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t odd = ((std::uint64_t{high} << 32 | low) >> 11) | 1U;  // below 2^53
    constexpr std::int64_t kHalf = std::int64_t{1} << 52;
    return static_cast<double>(static_cast<std::int64_t>(odd) - kHalf) / static_cast<double>(kHalf);
}

}  // namespace

TriadInputs triad_inputs(std::size_t n) {
    const Philox philox(seed_of(kTriadId));
    TriadInputs inputs;
    inputs.s = 0x1.5bf0a8b145769p+1;  // e: no bit of its significand is idle
    inputs.b.resize(n);
    inputs.c.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<std::uint32_t, 4> word = philox.block({static_cast<std::uint32_t>(i), 0, 0, 0});
        inputs.b[i] = full_precision(word[0], word[1]);
        inputs.c[i] = full_precision(word[2], word[3]);
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
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < n && i < outputs.a.size(); ++i) {
        const double expected = std::fma(inputs.s, inputs.c[i], inputs.b[i]);
        if (std::memcmp(&outputs.a[i], &expected, sizeof expected) == 0) continue;  // bits: -0 is not 0
        if (wrong++ == 0) first = i;
    }
    record.check("exact", wrong == 0,
                 std::to_string(wrong) + " of " + std::to_string(n) + " elements differ, the first at " +
                     std::to_string(first));
    return judge(record, "mismatch", std::to_string(n) + " elements exact (" + backend + ")");
}

Record triad_cpu_part(const Context&) {
    const TriadInputs inputs = triad_inputs(kTriadSmall);
    return triad_check(inputs, triad_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
