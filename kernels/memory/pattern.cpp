#include "kernels/memory/pattern.hpp"

#include <algorithm>
#include <cstdio>

#include "kernels/compute/check.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {
namespace {

constexpr int kLaunches = 2 * kPatternPasses + 1;

/// Word i of a pass, by other means than the kernel's.
std::uint32_t expected_word(int pass, std::uint64_t i) {
    static const Philox kPhilox(seed_of(kPatternId));
    std::uint32_t word = 0;
    if (pass >= kRandomPass) {
        word = kPhilox.bits(i, 0);
    } else if (pass >= kAddressPass) {
        word = static_cast<std::uint32_t>(i);
    } else {
        const std::uint64_t bit = (i + static_cast<std::uint64_t>(pass / 2)) % 32;
        word = static_cast<std::uint32_t>(std::uint64_t{1} << bit);
    }
    return (pass & 1) != 0 ? word ^ 0xffffffffU : word;
}

std::string pass_name(int pass) {
    const std::string name = pass >= kRandomPass    ? "random words"
                             : pass >= kAddressPass ? "addresses"
                                                    : "walking bit " + std::to_string(pass / 2);
    return name + (pass % 2 != 0 ? ", inverted" : "");
}

std::string hex(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

/// A word that is not what was written.
struct WrongWord {
    int pass = kPatternPasses;
    std::uint64_t index = 0;
    std::uint32_t found = 0;

    [[nodiscard]] bool is_before(const WrongWord& other) const {
        return pass != other.pass ? pass < other.pass : index < other.index;
    }
    [[nodiscard]] std::string text() const {
        return "the first at byte " + hex(index * sizeof(std::uint32_t)) + " (" + pass_name(pass) +
               "): expected " + hex(expected_word(pass, index)) + ", found " + hex(found);
    }
};

/// How many words thread t of the grid has to compare in one pass.
std::uint64_t share_of(const PatternSize& size, std::size_t t) {
    const std::uint64_t first = size.threads() - 1 - t;
    return first < size.words ? (size.words - 1 - first) / size.threads() + 1 : 0;
}

/// Blank memory must be found wrong, word by word: a comparison that sees no difference proves nothing.
void check_blank_found(Record& record, const PatternSize& size, const PatternOutputs& outputs) {
    std::size_t blind = 0;
    for (std::size_t t = 0; t < outputs.blank.size(); ++t) {
        const PatternTally& tally = outputs.blank[t];
        const std::uint64_t share = share_of(size, t);
        const bool counted = tally.checked == share && tally.wrong == share;
        const bool placed = share == 0 || (tally.first == size.threads() - 1 - t &&
                                           tally.found == kPatternBlank && tally.pass == 0);
        blind += counted && placed ? 0 : 1;
    }
    record.check("blank_found", blind == 0 && outputs.blank.size() == size.threads(),
                 std::to_string(blind) + " threads did not see that nothing was written yet");
}

void check_compared(Record& record, const PatternSize& size, const PatternOutputs& outputs) {
    std::size_t idle = 0;
    for (std::size_t t = 0; t < outputs.tallies.size(); ++t)
        idle += outputs.tallies[t].checked == share_of(size, t) * kPatternPasses ? 0 : 1;
    record.check("all_compared", idle == 0 && outputs.tallies.size() == size.threads(),
                 std::to_string(idle) + " threads did not compare their share of the words");
}

void check_exact(Record& record, const PatternOutputs& outputs) {
    std::uint64_t wrong = 0;
    WrongWord first;
    for (const PatternTally& tally : outputs.tallies) {
        const WrongWord word{tally.pass, tally.first, tally.found};
        if (tally.wrong != 0 && (wrong == 0 || word.is_before(first))) first = word;
        wrong += tally.wrong;
    }
    record.check("exact", wrong == 0, std::to_string(wrong) + " words are wrong, " + first.text());
}

/// The host reads the last words itself: it need not believe the kernel that compared them.
void check_read_back(Record& record, const PatternSize& size, const PatternOutputs& outputs) {
    std::uint64_t wrong = 0;
    std::uint64_t touched = 0;
    bool whole = outputs.ends.size() == static_cast<std::size_t>(kPatternPasses);
    WrongWord first;
    for (std::size_t pass = 0; pass < outputs.ends.size(); ++pass) {
        const std::vector<std::uint32_t>& end = outputs.ends[pass];
        whole = whole && end.size() == kPatternEnd + kGuard;
        for (std::size_t i = 0; i < end.size(); ++i) {
            const WrongWord word{static_cast<int>(pass), size.words - kPatternEnd + i, end[i]};
            if (i >= kPatternEnd) {
                touched += end[i] == kPatternBlank ? 0 : 1;
            } else if (end[i] != expected_word(word.pass, word.index)) {
                if (wrong++ == 0) first = word;
            }
        }
    }
    record.check("read_back", wrong == 0 && whole,
                 wrong == 0 ? "not every pass was read back"
                            : std::to_string(wrong) + " words are wrong, " + first.text());
    record.check("nothing_beyond", touched == 0,
                 std::to_string(touched) + " words beyond the end were written");
}

}  // namespace

PatternSize pattern_size(const std::string& level, std::uint64_t free_bytes) {
    constexpr std::uint64_t kQuickBytes = std::uint64_t{1} << 30;
    constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;
    const std::uint64_t third = free_bytes / 3;
    const std::uint64_t bytes = std::min(third, level == "quick" ? kQuickBytes : kMostBytes);
    return {std::max(bytes / sizeof(std::uint32_t), kPatternSmall), 1024};
}

PatternOutputs pattern_run(PatternMemory& memory) {
    PatternOutputs outputs;
    if (!memory.verify(0) || !memory.take_tallies(outputs.blank)) return outputs;
    for (int pass = 0; pass < kPatternPasses; ++pass) {
        std::vector<std::uint32_t> end(kPatternEnd + kGuard);
        if (!memory.write(pass) || !memory.verify(pass) || !memory.read_end(end)) return outputs;
        outputs.ends.push_back(std::move(end));
    }
    memory.take_tallies(outputs.tallies);
    return outputs;
}

PatternCpu::PatternCpu(const PatternSize& of_size)
    : size(of_size), words(of_size.words + kGuard, kPatternBlank), tallies(of_size.threads()) {}

PatternArgs PatternCpu::args() {
    return {words.data(), size.words, seed_of(kPatternId), tallies.data(), &flag};
}

bool PatternCpu::write(int pass) {
    const PatternArgs of_pass = args();
    run_on_cpu(size.blocks, kPatternThreads,
               [&](CpuBlock& block) { pattern_write_body(block, of_pass, pass); });
    return true;
}

bool PatternCpu::verify(int pass) {
    const PatternArgs of_pass = args();
    run_on_cpu(size.blocks, kPatternThreads,
               [&](CpuBlock& block) { pattern_verify_body(block, of_pass, pass); });
    return true;
}

bool PatternCpu::take_tallies(std::vector<PatternTally>& into) {
    into = tallies;
    std::fill(tallies.begin(), tallies.end(), PatternTally{});
    return true;
}

bool PatternCpu::read_end(std::vector<std::uint32_t>& into) {
    std::copy(words.end() - static_cast<std::ptrdiff_t>(into.size()), words.end(), into.begin());
    return true;
}

Record pattern_check(const PatternSize& size, const PatternOutputs& outputs, const std::string& backend) {
    Record record;
    check_ran(record, outputs.flag, size.blocks * kLaunches);
    check_blank_found(record, size, outputs);
    check_compared(record, size, outputs);
    check_exact(record, outputs);
    check_read_back(record, size, outputs);
    record = judge(record, "mismatch",
                   std::to_string(size.words / 256) + " KiB held " + std::to_string(kPatternPasses) +
                       " patterns (" + backend + ")");
    // The threads saw the blank memory and compared all: it is the memory that changed a word.
    const Check* failed = record.first_failed();
    if (failed != nullptr && failed->name == "exact" && backend == "GPU") {
        record.fault = "F15";
        record.hint = "memory of the GPU did not keep what was written: look at its ECC counters";
    }
    return record;
}

Record pattern_cpu_part(const Context&) {
    PatternCpu memory{PatternSize{}};
    PatternOutputs outputs = pattern_run(memory);
    outputs.flag = memory.flag;
    return pattern_check(memory.size, outputs, "CPU");
}

}  // namespace cudamatrix::suite
