#include "kernels/memory/fit.hpp"

#include <algorithm>

#include "kernels/compute/check.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

constexpr int kFitLaunches = 6;  // two of them only load the code

std::string mib_text(std::size_t bytes) {
    return std::to_string(bytes >> 20U) + " MiB";
}

/// Both marks of every `step`th block.
std::vector<std::uint32_t> marks_of(std::size_t blocks, std::size_t step) {
    std::vector<std::uint32_t> marks;
    for (std::size_t block = 0; block < blocks; block += step)
        marks.insert(marks.end(), 2, static_cast<std::uint32_t>(block));
    return marks;
}

void check_fit_marks(Record& record, const std::string& name, const std::vector<std::uint32_t>& found,
                     const std::vector<std::uint32_t>& wanted) {
    check_values(
        record, name, found, wanted.size(), [&](std::size_t i) { return found[i] == wanted[i]; },
        [&](std::size_t i) {
            return std::string(i % 2 == 0 ? "at the begin" : "at the end") + " of block " +
                   std::to_string(wanted[i]) + ": " + std::to_string(found[i]);
        });
}

}  // namespace

std::size_t fit_block(std::size_t free) {
    return std::max(free / kFitPieces / kFitGrain, std::size_t{1}) * kFitGrain;
}

std::vector<std::uint32_t> fit_kept_marks(std::size_t blocks) {
    std::vector<std::uint32_t> marks = marks_of(blocks, 2);
    marks.insert(marks.end(), 2, static_cast<std::uint32_t>(blocks));
    return marks;
}

Record fit_check(const FitFacts& facts, const char* backend) {
    Record record;
    const std::size_t had = facts.blocks * facts.block;
    record.check("fits",
                 facts.free > 0 && static_cast<double>(had) >= kFitShare * static_cast<double>(facts.free),
                 mib_text(had) + " of " + mib_text(facts.free) + " that are free could be allocated");
    const bool refused = facts.refused == kFitRefused;
    record.check("refused", refused, "cudaMalloc of one block more gave " + std::to_string(facts.refused));
    check_fit_marks(record, "own_words", facts.marks, marks_of(facts.blocks, 1));
    record.check("joined", facts.joined >= facts.block,
                 "no block of " + mib_text(facts.block) + " could be had where " +
                     std::to_string(facts.blocks / 2) + " had been freed");
    check_fit_marks(record, "kept_words", facts.kept, fit_kept_marks(facts.blocks));
    record.check(
        "given_back", facts.given_back + kFitSlack >= facts.free,
        mib_text(facts.given_back) + " are free afterwards, " + mib_text(facts.free) + " were before");
    check_ran(record, facts.flag, kFitLaunches);
    const std::string joined = mib_text(facts.joined) + " in one piece after every second block was freed";
    record = judge(record, "memory",
                   mib_text(had) + " of " + mib_text(facts.free) + " in " + std::to_string(facts.blocks) +
                       " blocks, " + joined + " (" + backend + ")");
    // What was to be had before the refusal is no question of recovery.
    if (record.status == Status::fail && refused && record.checks.front().ok) record.fault = "F19";
    json::Value memory = json::Value::object();
    memory.set("free_mib", facts.free >> 20U);
    memory.set("had_mib", had >> 20U);
    memory.set("joined_mib", facts.joined >> 20U);
    memory.set("given_back_mib", facts.given_back >> 20U);
    add_evidence(record, "memory", memory);
    return record;
}

}  // namespace cudamatrix::suite
