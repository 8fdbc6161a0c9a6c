// mem.pcie must turn red with each way that a transfer can go wrong, and only warn of a slow link.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/exec/cpu_block.hpp"
#include "kernels/memory/pcie.hpp"
#include "kernels/memory/pcie_body.hpp"
#include "unit/kernels/defects.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;
using cudamatrix::suite::test::green;
using cudamatrix::suite::test::red;

namespace {

constexpr std::size_t kWords = 4099;
using Words = std::vector<std::uint32_t>;

// Host, device and what happens between them, in plain memory: each step can be spoilt.
struct Machine {
    Words inputs = pcie_inputs(kWords);
    Words from = Words(kWords, 0);
    Words to = blank_output<std::uint32_t>(kWords);
    RunFlag flag;

    void up(PcieRound round, std::size_t words = kWords) { pcie_fill(inputs, round, words, from.data()); }
    void kernel(std::size_t words = kWords) {
        const PcieArgs args{from.data(), to.data(), static_cast<long>(words), &flag};
        run_on_cpu(kPcieBlocks, kPcieThreads, [&](CpuBlock& block) { pcie_body(block, args); });
    }
    [[nodiscard]] Words down(std::size_t words = kWords) const {
        Words result(words + kGuard);
        pcie_blank(words, result.data());
        std::copy_n(to.begin(), words, result.begin());
        return result;
    }
};

struct Results {
    Words pageable, pinned, down, up;
};

Results transferred(Machine& machine) {
    Results results;
    const std::size_t n = kWords / kPciePageableShare;
    machine.up(PcieRound::pageable, n);
    machine.kernel(n);
    results.pageable = machine.down(n);
    machine.up(PcieRound::pinned);
    machine.kernel();
    results.pinned = machine.down();
    machine.up(PcieRound::both_ways);
    results.down = machine.down();
    machine.kernel();
    results.up = machine.down();
    return results;
}

PcieOutputs tallied(const Machine& machine, const Results& results) {
    const std::size_t n = kWords / kPciePageableShare;
    PcieOutputs outputs;
    outputs.pageable = pcie_tally(machine.inputs, PcieRound::pageable, n, results.pageable.data());
    outputs.pinned = pcie_tally(machine.inputs, PcieRound::pinned, kWords, results.pinned.data());
    outputs.down = pcie_tally(machine.inputs, PcieRound::pinned, kWords, results.down.data());
    outputs.up = pcie_tally(machine.inputs, PcieRound::both_ways, kWords, results.up.data());
    outputs.device_guard.assign(machine.to.begin() + kWords, machine.to.end());
    outputs.flag = machine.flag;
    return outputs;
}

struct Good {
    Machine machine;
    Results results = transferred(machine);
    PcieOutputs outputs = tallied(machine, results);
};

std::string evidence_of(const Record& record) {
    return record.evidence.empty() ? "" : record.evidence.front().second;
}

}  // namespace

TEST_CASE("mem.pcie: green when every transfer is whole") {
    const Good good;
    const Record record = pcie_check(kWords, good.outputs, "GPU");
    CHECK(green(record));
    CHECK(record.summary == "16396 bytes up, down and both at once, exact (GPU)");
    CHECK(record.fault == "");
}

TEST_CASE("mem.pcie: red with each defect of a transfer") {
    const Good good;
    struct Defect {
        const char* what;
        std::function<void(Results&)> plant;
        const char* check;
    };
    const Words& in = good.machine.inputs;
    const Defect defects[] = {
        {"nothing came down", [](Results& r) { pcie_blank(kWords, r.pinned.data()); },
         "pinned: 4099 of 4099"},
        {"what went up comes straight back",
         [&](Results& r) { pcie_fill(in, PcieRound::pinned, kWords, r.pinned.data()); },
         "pinned: 4099 of 4099"},
        {"what was sent before comes back", [](Results& r) { r.pinned.swap(r.up); }, "pinned: 4099 of 4099"},
        {"the way up overtakes the way down", [](Results& r) { r.down = r.up; },
         "down_at_once: 4099 of 4099"},
        {"the way up was lost", [](Results& r) { r.up = r.down; }, "up_at_once: 4099 of 4099"},
        {"the second half is an older one",
         [](Results& r) { std::copy(r.down.begin() + 2050, r.down.begin() + kWords, r.up.begin() + 2050); },
         "up_at_once: 2049 of 4099 words differ, the first at 2050"},
        {"the last word is missing", [](Results& r) { r.up[kWords - 1] = kBlankBits; },
         "up_at_once: 1 of 4099 words differ, the first at 4098"},
        {"the last word of the pageable ones",
         [](Results& r) { r.pageable[kWords / kPciePageableShare - 1] = 0; }, "pageable: 1 of 512"},
        {"two words exchanged", [](Results& r) { std::swap(r.pinned[7], r.pinned[8]); },
         "pinned: 2 of 4099 words differ, the first at 7"},
        {"every word one further",
         [](Results& r) { std::rotate(r.down.begin(), r.down.begin() + 1, r.down.begin() + kWords); },
         "down_at_once: 4099 of 4099"},
        {"bytes of a word in the other order",
         [](Results& r) { r.pinned[9] = __builtin_bswap32(r.pinned[9]); }, "pinned: 1 of 4099"},
        {"a word beyond the end", [](Results& r) { r.pinned[kWords] = 0; }, "pinned_nothing_beyond: 1 words"},
        {"beyond the pageable end", [](Results& r) { r.pageable.back() = 1; },
         "pageable_nothing_beyond: 1 words"},
    };
    for (const Defect& defect : defects) {
        CAPTURE(defect.what);
        Results results = good.results;
        defect.plant(results);
        const Record record = pcie_check(kWords, tallied(good.machine, results), "GPU");
        CHECK(red(record));
        CHECK_MESSAGE(record.summary.find(defect.check) == 0, record.summary);
    }
    for (Words Results::*words : {&Results::pageable, &Results::pinned, &Results::down, &Results::up}) {
        for (int bit = 0; bit < 32; ++bit) {
            Results results = good.results;
            (results.*words)[100] ^= 1U << bit;
            CHECK_MESSAGE(red(pcie_check(kWords, tallied(good.machine, results), "GPU")), bit);
        }
    }
}

TEST_CASE("mem.pcie: red when a transfer was left out, or the kernel was") {
    const Good good;
    const std::function<void(PcieOutputs&)> defects[] = {
        [](PcieOutputs& o) { o.pageable = {}; },
        [](PcieOutputs& o) { o.pinned = {}; },
        [](PcieOutputs& o) { o.down = {}; },
        [](PcieOutputs& o) { o.up = {}; },
        [](PcieOutputs& o) { o.up.words -= 1; },
        [](PcieOutputs& o) { o.pageable = o.pinned; },
        [](PcieOutputs& o) { o.flag = {}; },
        [](PcieOutputs& o) { o.flag.blocks -= kPcieBlocks; },
        [](PcieOutputs& o) { o.flag.arch = 0; },
        [](PcieOutputs& o) { o.device_guard.clear(); },
        [](PcieOutputs& o) { o.device_guard.front() = 0; },
        [](PcieOutputs& o) { o.device_guard.back() = 0; },
    };
    for (const auto& plant : defects) {
        PcieOutputs outputs = good.outputs;
        plant(outputs);
        CHECK(red(pcie_check(kWords, outputs, "GPU")));
    }
}

TEST_CASE("mem.pcie: rounds and words do not look like each other") {
    const Words in = pcie_inputs(kWords);
    Words sent[3] = {Words(kWords), Words(kWords), Words(kWords)};
    for (const PcieRound round : {PcieRound::pageable, PcieRound::pinned, PcieRound::both_ways})
        pcie_fill(in, round, kWords, sent[static_cast<std::size_t>(round)].data());
    for (std::size_t i = 0; i < kWords; ++i) {
        CHECK((sent[0][i] != sent[1][i] && sent[1][i] != sent[2][i] && sent[0][i] != sent[2][i]));
        CHECK(pcie_mask(static_cast<long>(i)) != pcie_mask(static_cast<long>(i) + 1));
    }
    CHECK(pcie_inputs(5).size() == 5);
    CHECK(std::equal(in.begin(), in.begin() + 5, pcie_inputs(5).begin()));
}

TEST_CASE("mem.pcie: the link is read from the host's tree, the slot from the port above") {
    const scratch::Folder root;
    const std::string device = "sys/devices/pci0000:00/0000:00:01.0/0000:0a:00.0/";
    root.write("sys/devices/pci0000:00/0000:00:01.0/max_link_speed", "8.0 GT/s PCIe\n");
    root.write("sys/devices/pci0000:00/0000:00:01.0/max_link_width", "16\n");
    root.write(device + "current_link_speed", "8.0 GT/s PCIe\n");
    root.write(device + "current_link_width", "8\n");
    root.write(device + "max_link_speed", "16.0 GT/s PCIe\n");
    root.write(device + "max_link_width", "16\n");
    std::filesystem::create_directories(root.path() + "/sys/bus/pci/devices");
    std::filesystem::create_directory_symlink(root.path() + "/" + device,
                                              root.path() + "/sys/bus/pci/devices/0000:0a:00.0");
    const PcieLink link = read_link(root.path(), 0, 10, 0);
    CHECK(link.now.text() == "8 GT/s x8");
    CHECK(link.device.text() == "16 GT/s x16");
    CHECK(link.slot.text() == "8 GT/s x16");
    CHECK(link_warning(link) == "the link runs at 8 GT/s x8, device and slot can 8 GT/s x16");
    CHECK(!read_link(root.path(), 0, 11, 0).now.known());
    CHECK(!read_link(root.path(), 1, 10, 0).device.known());
    CHECK(read_link("/no/such/root", 0, 10, 0).slot.text() == "unknown");
    root.write(device + "current_link_speed", "Unknown\n");
    CHECK(link_warning(read_link(root.path(), 0, 10, 0)) == "");
}

TEST_CASE("mem.pcie: a link is warned of only when it is known to run below what both can") {
    const LinkRate g3x16{8, 16}, g4x16{16, 16}, g4x8{16, 8}, g1x16{2.5, 16}, unknown{};
    struct Row {
        PcieLink link;
        bool warned;
    };
    for (const Row& row : {
             Row{{g4x16, g4x16, g4x16}, false},
             Row{{g3x16, g4x16, g3x16}, false},  // an older slot
             Row{{g4x8, g4x16, g4x8}, false},    // a narrower one
             Row{{g4x16, g3x16, g3x16}, false},
             Row{{unknown, g4x16, g4x16}, false},
             Row{{g1x16, unknown, unknown}, false},
             Row{{g1x16, g4x16, unknown}, true},
             Row{{g1x16, unknown, g4x16}, true},
             Row{{g1x16, g4x16, g4x16}, true},
             Row{{g3x16, g4x16, g4x16}, true},
             Row{{g4x8, g4x16, g4x16}, true},
         }) {
        CHECK_MESSAGE((link_warning(row.link) != "") == row.warned, row.link.now.text());
        Record record = Record::pass("p");
        pcie_tell(record, 250'000'000, {0.05, 0.04, 0.08}, row.link);
        CHECK(green(record));
        CHECK((evidence_of(record).find("\"warnings\":[\"F17: the link runs at ") != std::string::npos) ==
              row.warned);
    }
    Record record = Record::pass("p");
    pcie_tell(record, 250'000'000, {0.05, 0.04, 0.08}, {g4x16, g4x16, g4x16});
    CHECK(
        evidence_of(record) ==
        R"({"up_gb_s":20,"down_gb_s":25,"both_ways_gb_s":25,"link":"16 GT/s x16","link_of_device":"16 GT/s x16",)"
        R"("link_of_slot":"16 GT/s x16"})");
    Record silent = Record::pass("p");
    pcie_tell(silent, 1, {}, {});
    CHECK(evidence_of(silent) == R"({"link":"unknown","link_of_device":"unknown","link_of_slot":"unknown"})");
}
