#include "kernels/concurrency/streams.hpp"

#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kRows = kStreamsSteps + 2;

/// What step `step` makes of a value: from no other step's result, and from no other value, does the same
/// come.
std::uint32_t passed_on(std::uint32_t value, int step) {
    return static_cast<std::uint32_t>((std::uint64_t{value} * 1664525 + static_cast<unsigned>(step) + 1) %
                                      0x100000000);
}

}  // namespace

StreamsOutputs streams_blank() {
    StreamsOutputs outputs;
    outputs.rows.assign(kRows * kStreamsLength, kStreamsBlank);
    draw_bits(outputs.rows, kStreamsLength, kStreamsId);
    return outputs;
}

Record streams_check(const StreamsOutputs& outputs, const char* backend) {
    Record record;
    check_ran(record, outputs.flag, kStreamsBlocks * kStreamsSteps);
    const StreamsOutputs input = streams_blank();
    record.check("size", outputs.rows.size() == input.rows.size(),
                 std::to_string(outputs.rows.size()) + " values came back");
    if (outputs.rows.size() != input.rows.size()) return judge(record, "order", "");
    std::size_t wrong = 0;
    std::string first;
    std::size_t touched = 0;
    for (std::size_t i = 0; i < kStreamsLength; ++i) {
        std::uint32_t expected = input.rows[i];
        for (int step = 0; step < kStreamsSteps; ++step) {
            expected = passed_on(expected, step);
            const std::size_t at = (static_cast<std::size_t>(step) + 1) * kStreamsLength + i;
            if (outputs.rows[at] == expected) continue;
            // The first step is where the order was lost; what follows has it from there.
            if (wrong++ == 0)
                first = "step " + std::to_string(step) + " on stream " + std::to_string(step % kStreams);
        }
        touched += outputs.rows[i] != input.rows[i] ? 1 : 0;
        touched += outputs.rows[(kRows - 1) * kStreamsLength + i] != kStreamsBlank ? 1 : 0;
    }
    record.check("order", wrong == 0, std::to_string(wrong) + " values are wrong, the first after " + first);
    record.check("nothing_beyond", touched == 0,
                 std::to_string(touched) + " values were written before the first row or behind the last");
    return judge(record, "order",
                 std::to_string(kStreamsSteps) + " kernels on " + std::to_string(kStreams) +
                     " streams in order (" + backend + ")");
}

}  // namespace cudamatrix::suite
