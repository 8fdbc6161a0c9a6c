#include "kernels/memory/pcie.hpp"

#include <algorithm>
#include <array>

#include "kernels/compute/check.hpp"
#include "kernels/memory/pcie_body.hpp"
#include "kernels/support/philox.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

std::uint32_t sent(std::uint32_t input, PcieRound round) {
    return input + static_cast<std::uint32_t>(round) * 0x6d2b79f5U;
}

void check_tally(Record& record, const std::string& name, const PcieTally& tally, std::size_t words) {
    record.check(name, tally.words == words && tally.wrong == 0,
                 std::to_string(tally.wrong) + " of " + std::to_string(tally.words) +
                     " words differ, the first at " + std::to_string(tally.first) + "; " +
                     std::to_string(words) + " were to be compared");
    record.check(name + "_nothing_beyond", tally.beyond == 0,
                 std::to_string(tally.beyond) + " words beyond the end were written");
}

/// 10^9 bytes a second, to a hundredth.
json::Value rate(std::size_t bytes, double seconds) {
    const double rate = static_cast<double>(bytes) / seconds / 1e9;
    return static_cast<double>(static_cast<long>(rate * 100 + 0.5)) / 100;
}

}  // namespace

std::vector<std::uint32_t> pcie_inputs(std::size_t words) {
    const Philox philox(seed_of(kPcieId));
    std::vector<std::uint32_t> inputs(words);
    for (std::size_t i = 0; i < words; i += 4) {
        const std::array<std::uint32_t, 4> block = philox.block({static_cast<std::uint32_t>(i / 4), 0, 0, 0});
        std::copy_n(block.begin(), std::min<std::size_t>(4, words - i),
                    inputs.begin() + static_cast<long>(i));
    }
    return inputs;
}

void pcie_fill(const std::vector<std::uint32_t>& inputs, PcieRound round, std::size_t words,
               std::uint32_t* to) {
    for (std::size_t i = 0; i < words; ++i)
        to[i] = sent(inputs[i], round);
}

void pcie_blank(std::size_t words, std::uint32_t* out) {
    std::fill_n(out, words + kGuard, kBlankBits);
}

PcieTally pcie_tally(const std::vector<std::uint32_t>& inputs, PcieRound round, std::size_t words,
                     const std::uint32_t* out) {
    const Mismatches wrong = mismatches(words, [&](std::size_t i) {
        return out[i] == (sent(inputs[i], round) ^ pcie_mask(static_cast<long>(i)));
    });
    const Mismatches beyond = mismatches(kGuard, [&](std::size_t i) { return out[words + i] == kBlankBits; });
    return {words, wrong.count, wrong.first, beyond.count};
}

Record pcie_check(std::size_t words, const PcieOutputs& outputs, const std::string& backend) {
    Record record;
    check_ran(record, outputs.flag, kPcieLaunches * kPcieBlocks);
    check_tally(record, "pageable", outputs.pageable, words / kPciePageableShare);
    check_tally(record, "pinned", outputs.pinned, words);
    check_tally(record, "down_at_once", outputs.down, words);
    check_tally(record, "up_at_once", outputs.up, words);
    const Mismatches touched = mismatches(
        outputs.device_guard.size(), [&](std::size_t i) { return outputs.device_guard[i] == kBlankBits; });
    record.check("device_nothing_beyond", outputs.device_guard.size() == kGuard && touched.count == 0,
                 std::to_string(touched.count) + " of " + std::to_string(outputs.device_guard.size()) +
                     " words behind the end were written");
    return judge(record, "mismatch",
                 std::to_string(words * sizeof(std::uint32_t)) + " bytes up, down and both at once, exact (" +
                     backend + ")");
}

void pcie_tell(Record& record, std::size_t words, const PcieTimes& times, const PcieLink& link) {
    const std::size_t bytes = words * sizeof(std::uint32_t);
    json::Value facts = json::Value::object();
    if (times.up > 0) facts.set("up_gb_s", rate(bytes, times.up));
    if (times.down > 0) facts.set("down_gb_s", rate(bytes, times.down));
    if (times.both > 0) facts.set("both_ways_gb_s", rate(2 * bytes, times.both));
    facts.set("link", link.now.text());
    facts.set("link_of_device", link.device.text());
    facts.set("link_of_slot", link.slot.text());
    const std::string warning = link_warning(link);
    if (!warning.empty()) {
        json::Value warnings = json::Value::array();
        warnings.push_back(std::string("F17") + ": " + warning);
        facts.set("warnings", warnings);
    }
    add_evidence(record, "pcie", facts);
}

}  // namespace cudamatrix::suite
