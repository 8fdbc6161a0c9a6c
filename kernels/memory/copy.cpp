#include "kernels/memory/copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {

CopyInputs copy_inputs(std::size_t bytes) {
    const Philox philox(seed_of(kCopyId));
    CopyInputs inputs;
    inputs.bytes = bytes;
    inputs.from.resize((bytes + sizeof(Word128) - 1) / sizeof(Word128));
    for (std::size_t i = 0; i < inputs.from.size(); ++i) {
        const auto word = philox.block({static_cast<std::uint32_t>(i), 0, 0, 0});
        inputs.from[i] = {word[0], word[1], word[2], word[3]};
    }
    return inputs;
}

CopyOutputs copy_blank(const CopyInputs& inputs) {
    return {blank_output<Word128>(inputs.from.size()), {}};
}

CopyOutputs copy_on_cpu(const CopyInputs& inputs) {
    CopyOutputs outputs = copy_blank(inputs);
    const CopyArgs args{inputs.from.data(), outputs.to.data(), static_cast<long>(inputs.bytes),
                        &outputs.flag};
    run_on_cpu(kCopyBlocks, kCopyThreads, [&](CpuBlock& block) { copy_body(block, args); });
    return outputs;
}

Record copy_check(const CopyInputs& inputs, const CopyOutputs& outputs, const char* backend) {
    Record record;
    const std::size_t words = inputs.from.size();
    check_ran(record, outputs.flag, kCopyBlocks);
    check_written(record, outputs.to, words);
    const Word128 blank = blank_output<Word128>(0).front();
    const Mismatches wrong = mismatches(std::min(words, outputs.to.size()), [&](std::size_t i) {
        const std::size_t rest = inputs.bytes - i * sizeof(Word128);
        Word128 expected = blank;  // as the last word's bytes beyond the end must have stayed
        std::memcpy(&expected, &inputs.from[i], rest < sizeof(Word128) ? rest : sizeof(Word128));
        return std::memcmp(&outputs.to[i], &expected, sizeof expected) == 0;
    });
    record.check("exact", wrong.count == 0,
                 std::to_string(wrong.count) + " of " + std::to_string(words) +
                     " words of 16 bytes differ, the first at byte " +
                     std::to_string(wrong.first * sizeof(Word128)));
    return judge(record, "mismatch", std::to_string(inputs.bytes) + " bytes copied (" + backend + ")");
}

Record copy_cpu_part(const Context&) {
    const CopyInputs inputs = copy_inputs(kCopySmall);
    return copy_check(inputs, copy_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
