#include "kernels/concurrency/coop.hpp"

#include <algorithm>
#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kCoopRows = kCoopRounds + 2;

std::size_t length_of(int blocks) {
    return static_cast<std::size_t>(std::max(blocks, 0)) * kCoopThreads;
}

void check_rows(Record& record, const CoopOutputs& outputs) {
    const std::vector<std::uint32_t> input = coop_blank(outputs.blocks).rows;
    const std::size_t length = length_of(outputs.blocks);
    record.check("size", outputs.rows.size() == input.size(),
                 std::to_string(outputs.rows.size()) + " values came back");
    if (outputs.rows.size() != input.size()) return;
    std::vector<std::uint32_t> row(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(length));
    std::vector<std::uint32_t> next(length);
    std::size_t wrong = 0;
    std::string first;
    for (unsigned round = 0; round < kCoopRounds; ++round) {
        for (unsigned i = 0; i < length; ++i) {
            next[i] = coop_next(row[coop_source(i, round, static_cast<unsigned>(length))], round);
            if (outputs.rows[(round + 1) * length + i] == next[i]) continue;
            // The first round is where the order was lost; what follows has it from there.
            if (wrong++ == 0)
                first = "round " + std::to_string(round) + " in block " + std::to_string(i / kCoopThreads);
        }
        row.swap(next);
    }
    record.check("exchange", wrong == 0, std::to_string(wrong) + " values are wrong, the first of " + first);
    const Mismatches touched = mismatches(2 * length, [&](std::size_t i) {
        const std::size_t at = i < length ? i : (kCoopRows - 2) * length + i;
        return outputs.rows[at] == input[at];
    });
    record.check(
        "nothing_beyond", touched.count == 0,
        std::to_string(touched.count) + " values were written before the first row or behind the last");
}

}  // namespace

CoopOutputs coop_blank(int blocks) {
    CoopOutputs outputs;
    outputs.blocks = blocks;
    const std::size_t length = length_of(blocks);
    outputs.rows.assign(kCoopRows * length, kCoopBlank);
    draw_bits(outputs.rows, length, kCoopId);
    return outputs;
}

Record coop_check(const CoopOutputs& outputs, const char* backend) {
    Record record;
    record.check("several_blocks", outputs.blocks >= kCoopFewest,
                 "the device runs " + std::to_string(outputs.blocks) + " of these blocks at once");
    record.check("one_too_many", outputs.one_too_many == kTooLarge,
                 "the launch with one block too many gave " + std::to_string(outputs.one_too_many) +
                     " instead of " + std::to_string(kTooLarge));
    check_ran(record, outputs.flag, outputs.blocks);
    check_rows(record, outputs);
    return judge(record, "grid_sync",
                 std::to_string(outputs.blocks) + " blocks in step through " + std::to_string(kCoopRounds) +
                     " rounds (" + backend + ")");
}

}  // namespace cudamatrix::suite
