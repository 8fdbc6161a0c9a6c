#include "kernels/compute/fma.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/compute/floats.hpp"
#include "kernels/compute/fma_body.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {
namespace {

/// The second factor is nearly the first's inverse or its negative: chains neither grow nor shrink, so that
/// an error of any step is still there at the end.
template <typename T>
void fill(FmaNumbers<T>& numbers, std::size_t n, const Philox& philox, std::uint32_t stream) {
    numbers.start.resize(n * kFmaChains);
    numbers.factor.resize(n * 2);
    numbers.addend.resize(n * 2);
    for (std::size_t i = 0; i < numbers.start.size(); ++i)
        numbers.start[i] = uniform<T>(philox, i, stream);
    for (std::size_t i = 0; i < numbers.addend.size(); ++i)
        numbers.addend[i] = uniform<T>(philox, i, stream + 1);
    for (std::size_t i = 0; i < n; ++i) {
        const T factor = 1 + uniform<T>(philox, i, stream + 2) / 2;
        numbers.factor[2 * i] = factor;
        numbers.factor[2 * i + 1] = (i % 2 == 0 ? T{1} : T{-1}) / factor;
    }
}

template <typename T>
FmaArrays<T> arrays_of(const FmaNumbers<T>& numbers, std::vector<T>& end) {
    return {numbers.start.data(), numbers.factor.data(), numbers.addend.data(), end.data()};
}

template <typename T>
void check_ends(Record& record, const FmaNumbers<T>& numbers, const std::vector<T>& end) {
    const Mismatches wrong = mismatches(std::min(numbers.start.size(), end.size()), [&](std::size_t i) {
        const std::size_t of_item = i / kFmaChains * 2;
        T expected = numbers.start[i];
        for (int round = 0; round < kFmaRounds; ++round) {
            for (std::size_t step = of_item; step < of_item + 2; ++step)
                expected = std::fma(expected, numbers.factor[step], numbers.addend[step]);
        }
        return float_bits(end[i]) == float_bits(expected);
    });
    record.check(std::string(FloatOf<T>::kName) + "_exact", wrong.count == 0,
                 std::to_string(wrong.count) + " of " + std::to_string(numbers.start.size()) +
                     " chains differ, the first is " + std::to_string(wrong.first));
}

}  // namespace

FmaInputs fma_inputs() {
    constexpr std::size_t kItems = 32771;
    return fma_inputs(kItems);
}

FmaInputs fma_inputs(std::size_t n) {
    constexpr std::uint32_t kStreams = 3;
    const Philox philox(seed_of(kFmaId));
    FmaInputs inputs;
    inputs.n = n;
    fill(inputs.f32, n, philox, 0);
    fill(inputs.f64, n, philox, kStreams);
    return inputs;
}

FmaOutputs fma_blank(const FmaInputs& inputs) {
    return {blank_output<float>(inputs.n * kFmaChains), blank_output<double>(inputs.n * kFmaChains), {}};
}

FmaOutputs fma_on_cpu(const FmaInputs& inputs) {
    FmaOutputs outputs = fma_blank(inputs);
    const FmaArgs args{arrays_of(inputs.f32, outputs.f32), arrays_of(inputs.f64, outputs.f64),
                       static_cast<long>(inputs.n), &outputs.flag};
    run_on_cpu(kFmaBlocks, kFmaThreads, [&](CpuBlock& block) { fma_body(block, args); });
    return outputs;
}

Record fma_check(const FmaInputs& inputs, const FmaOutputs& outputs, const char* backend) {
    Record record;
    const std::size_t chains = inputs.n * kFmaChains;
    check_ran(record, outputs.flag, kFmaBlocks);
    check_written(record, outputs.f32, chains, "f32_");
    check_written(record, outputs.f64, chains, "f64_");
    check_ends(record, inputs.f32, outputs.f32);
    check_ends(record, inputs.f64, outputs.f64);
    return judge(record, "mismatch", std::to_string(chains) + " chains of each type exact (" + backend + ")");
}

Record fma_cpu_part(const Context&) {
    const FmaInputs inputs = fma_inputs();
    return fma_check(inputs, fma_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
