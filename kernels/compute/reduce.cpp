#include "kernels/compute/reduce.hpp"

#include <cmath>
#include <cstdint>

#include "kernels/compute/check.hpp"
#include "kernels/compute/reduce_body.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {
namespace {

/// Sum with Kahan's compensation.
class KahanSum {
  public:
    void add(double value) {
        const double y = value - compensation_;
        const double t = sum_ + y;
        compensation_ = (t - sum_) - y;
        sum_ = t;
    }
    [[nodiscard]] double get() const { return sum_; }

  private:
    double sum_ = 0;
    double compensation_ = 0;
};

/// |value - expected| / |expected|, and NaN stays NaN.
double relative(double value, double expected) {
    return std::fabs(value - expected) / std::fabs(expected);
}

}  // namespace

ReduceInputs reduce_inputs() {
    constexpr std::size_t kLength = 1048583;
    const Philox philox(seed_of(kReduceId));
    ReduceInputs inputs;
    inputs.values.resize(kLength);
    inputs.integers.resize(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
        inputs.values[i] = 1.0F + 2.0F * philox.uniform(i, 0);
        inputs.integers[i] = static_cast<int>(philox.bits(i, 1));
    }
    return inputs;
}

ReduceOutputs reduce_blank() {
    ReduceOutputs outputs;
    outputs.block_sums = blank_output(kReduceBlocks);
    return outputs;
}

ReduceOutputs reduce_on_cpu(const ReduceInputs& inputs) {
    ReduceOutputs outputs = reduce_blank();
    const ReduceArgs args{inputs.values.data(),
                          inputs.integers.data(),
                          static_cast<long>(inputs.values.size()),
                          outputs.block_sums.data(),
                          &outputs.total,
                          &outputs.integer_total,
                          &outputs.flag};
    run_on_cpu(kReduceBlocks, kReduceThreads, [&](CpuBlock& block) {
        ReduceShared shared{};
        reduce_body(block, shared, args);
    });
    return outputs;
}

Record reduce_check(const ReduceInputs& inputs, const ReduceOutputs& outputs, const char* backend) {
    constexpr double kLimit = 1e-6;
    Record record;
    check_ran(record, outputs.flag, kReduceBlocks);
    check_written(record, outputs.block_sums, kReduceBlocks);

    KahanSum total;
    std::vector<KahanSum> block_sums(kReduceBlocks);
    std::int64_t integer_total = 0;
    for (std::size_t i = 0; i < inputs.values.size(); ++i) {
        const auto value = static_cast<double>(inputs.values[i]);
        total.add(value);
        block_sums[i / kReduceThreads % kReduceBlocks].add(value);
        integer_total += inputs.integers[i];
    }
    double worst = 0;
    for (std::size_t b = 0; b < block_sums.size() && b < outputs.block_sums.size(); ++b) {
        const double error = relative(static_cast<double>(outputs.block_sums[b]), block_sums[b].get());
        if (!(error <= worst)) worst = error;  // a NaN becomes the worst
        if (std::isnan(error)) break;
    }
    record.check("int64_exact", static_cast<std::int64_t>(outputs.integer_total) == integer_total,
                 std::to_string(static_cast<std::int64_t>(outputs.integer_total)) + ", expected " +
                     std::to_string(integer_total));
    record.check_limit("fp32_rel", relative(outputs.total, total.get()), kLimit);
    record.check_limit("fp32_block_rel", worst, kLimit);
    return judge(record, "tolerance",
                 std::to_string(inputs.values.size()) + " numbers summed (" + backend + ")");
}

Record reduce_cpu_part(const Context&) {
    const ReduceInputs inputs = reduce_inputs();
    return reduce_check(inputs, reduce_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
