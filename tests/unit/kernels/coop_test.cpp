// con.coop must turn red with each way that its blocks can get out of step.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "kernels/concurrency/coop.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr int kBlocks = 4;
constexpr std::size_t kN = std::size_t{kBlocks} * kCoopThreads;

// What round `round` does, as the kernel has it, in the blocks from `first` on.
void run_round(CoopOutputs& outputs, unsigned round, std::size_t first = 0, std::size_t last = kN) {
    for (std::size_t i = first; i < last; ++i) {
        const unsigned from = coop_source(static_cast<unsigned>(i), round, static_cast<unsigned>(kN));
        outputs.rows[(round + 1) * kN + i] = coop_next(outputs.rows[round * kN + from], round);
    }
}

CoopOutputs started() {
    CoopOutputs outputs = coop_blank(kBlocks);
    outputs.flag.blocks = kBlocks;
    outputs.flag.arch = 900;
    outputs.one_too_many = kTooLarge;
    return outputs;
}

CoopOutputs in_step() {
    CoopOutputs outputs = started();
    for (unsigned round = 0; round < kCoopRounds; ++round)
        run_round(outputs, round);
    return outputs;
}

// Every block goes through all rounds at once, without waiting for any.
CoopOutputs one_by_one() {
    CoopOutputs outputs = started();
    for (std::size_t block = 0; block < kBlocks; ++block) {
        for (unsigned round = 0; round < kCoopRounds; ++round)
            run_round(outputs, round, block * kCoopThreads, (block + 1) * kCoopThreads);
    }
    return outputs;
}

std::string text_of(const CoopOutputs& outputs) {
    const Record record = coop_check(outputs, "GPU");
    return (record.status == Status::pass   ? "pass: "
            : record.status == Status::fail ? "fail: "
                                            : "other: ") +
           record.summary;
}

}  // namespace

TEST_CASE("con.coop: green when every block saw what the others made") {
    const CoopOutputs good = in_step();
    CHECK(text_of(good) == "pass: 4 blocks in step through 12 rounds (GPU)");
    // Only the row that nobody writes: no right value looks like one that was read too early.
    CHECK(std::count(good.rows.begin(), good.rows.end(), kCoopBlank) == long(kN));
}

TEST_CASE("con.coop: values come from other blocks in most rounds") {
    int own = 0;
    for (unsigned round = 0; round < kCoopRounds; ++round) {
        for (unsigned i = 0; i < kN; ++i) {
            const unsigned from = coop_source(i, round, kN);
            REQUIRE(from < kN);
            own += from / kCoopThreads == i / kCoopThreads ? 1 : 0;
        }
    }
    CHECK(own <= kCoopRounds * int(kN) / 2);
}

TEST_CASE("con.coop: red with each way that blocks get out of step") {
    struct Row {
        const char* what;
        CoopOutputs outputs;
        const char* text;
    };
    const auto planted = [](const std::function<void(CoopOutputs&)>& plant) {
        CoopOutputs outputs = in_step();
        plant(outputs);
        return outputs;
    };
    const Row rows[] = {
        {"nothing ran", planted([](auto& out) {
             out = coop_blank(kBlocks);
             out.one_too_many = kTooLarge;
         }),
         "fail: ran_flag: 0 of 4 blocks reported, code for 0"},
        {"reports, and writes nothing", started(),
         "fail: exchange: 6144 values are wrong, the first of round 0 in block 0"},
        {"blocks that do not wait", one_by_one(),
         "fail: exchange: 4224 values are wrong, the first of round 1 in block 1"},
        {"one block is late once",
         planted([](auto& out) { std::fill_n(out.rows.begin() + 6 * long(kN) + 130, 3, kCoopBlank); }),
         "fail: exchange: 3 values are wrong, the first of round 5 in block 1"},
        {"one bit of the last round", planted([](auto& out) { out.rows[kCoopRounds * kN + kN - 1] ^= 1U; }),
         "fail: exchange: 1 values are wrong, the first of round 11 in block 3"},
        {"one block left out", planted([](auto& out) { --out.flag.blocks; }),
         "fail: ran_flag: 3 of 4 blocks reported, code for 900"},
        {"the refused launch ran, too", planted([](auto& out) { out.flag.blocks += kBlocks + 1; }),
         "fail: ran_flag: 9 of 4 blocks reported, code for 900"},
        {"a block too many is taken", planted([](auto& out) { out.one_too_many = 0; }),
         "fail: one_too_many: the launch with one block too many gave 0 instead of 720"},
        {"refused for another reason", planted([](auto& out) { out.one_too_many = 9; }),
         "fail: one_too_many: the launch with one block too many gave 9 instead of 720"},
        {"the input is overwritten", planted([](auto& out) { out.rows[0] += 1; }),
         "fail: nothing_beyond: 1 values were written before the first row or behind the last"},
        {"written behind the last row", planted([](auto& out) { out.rows.back() = 0; }),
         "fail: nothing_beyond: 1 values were written before the first row or behind the last"},
        {"nothing came back", planted([](auto& out) { out.rows.clear(); }), "fail: size: 0 values came back"},
        {"one block alone", planted([](auto& out) {
             out.blocks = 1;
             out.flag.blocks = 1;
         }),
         "fail: several_blocks: the device runs 1 of these blocks at once"},
        {"no block fits", planted([](auto& out) { out.blocks = -1; }),
         "fail: several_blocks: the device runs -1 of these blocks at once"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(text_of(row.outputs) == row.text);
    }
}
