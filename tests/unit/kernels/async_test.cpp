// mem.async and mem.managed must turn red with each way that such memory can go wrong.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/memory/async.hpp"
#include "kernels/memory/managed.hpp"

using namespace cudamatrix::suite;

namespace {

std::string text_of(const Record& record) {
    return (record.status == Status::pass   ? "pass: "
            : record.status == Status::fail ? "fail: "
                                            : "other: ") +
           record.summary;
}

AsyncOutputs good_async() {
    AsyncOutputs outputs = async_blank();
    for (std::size_t i = 0; i < kAsyncWords; ++i)
        outputs.words[i] = async_word(static_cast<std::uint32_t>(i / kAsyncLength),
                                      static_cast<std::uint32_t>(i % kAsyncLength));
    outputs.flag = {kAsyncKernels * kAsyncBlocks, 900};
    outputs.pool = {true, true, 0, 1 << 20, 1 << 20, 0};
    return outputs;
}

// As the kernel and the host have it.
ManagedOutputs good_managed(bool concurrent = true) {
    ManagedOutputs outputs;
    outputs.managed = true;
    outputs.concurrent = concurrent;
    std::vector<std::uint32_t> values = managed_input();
    for (unsigned round = 0; round < unsigned(managed_rounds(outputs)); ++round) {
        for (std::size_t i = 0; i < kManagedLength; ++i)
            values[i] = values[i] * 1664525U + round + 1U;
        outputs.rounds.push_back(values);
        for (std::size_t i = 0; i < kManagedLength; ++i)
            values[i] = managed_on_host(values[i], round);
    }
    outputs.flag = {unsigned(managed_rounds(outputs) * kManagedBlocks), 900};
    return outputs;
}

template <typename Outputs>
struct Planted {
    const char* what;
    std::function<void(Outputs&)> plant;
    const char* text;
};

// Buffer `from` as it is in buffer `to`.
void mix(AsyncOutputs& out, int to, int from) {
    std::copy_n(out.words.begin() + from * long(kAsyncLength), kAsyncLength,
                out.words.begin() + to * long(kAsyncLength));
}

}  // namespace

TEST_CASE("mem.async: green when each buffer had its own words and the pool gave all back") {
    AsyncOutputs outputs = good_async();
    CHECK(text_of(async_check(outputs, "GPU")) == "pass: 32 allocations in stream order exact (GPU)");
    // Before 11.3 nobody can ask.
    outputs.pool = {true, false, 0, 0, 0, 0};
    const Record record = async_check(outputs, "GPU");
    CHECK(record.status == Status::pass);
    REQUIRE(record.evidence.size() == 1);
    CHECK(record.evidence[0] == std::pair<std::string, std::string>("pool_numbers", "false"));
}

TEST_CASE("mem.async: red with each defect") {
    const Planted<AsyncOutputs> rows[] = {
        {"no pools", [](auto& out) { out.pool.supported = false; },
         "fail: memory_pools: the device has no memory pools"},
        {"nothing ran", [](auto& out) { out.flag = {}; },
         "fail: ran_flag: 0 of 512 blocks reported, code for 0"},
        {"one kernel left out", [](auto& out) { out.flag.blocks -= kAsyncBlocks; },
         "fail: ran_flag: 504 of 512 blocks reported, code for 900"},
        {"reports, and writes nothing", [](auto& out) { out.words = async_blank().words; },
         "fail: words: 525152 words are wrong, the first of buffer 0 in round 0"},
        {"two buffers are one", [](auto& out) { mix(out, 5, 6); },
         "fail: words: 16411 words are wrong, the first of buffer 1 in round 1"},
        {"freed too early: the next round's words", [](auto& out) { mix(out, 14, 18); },
         "fail: words: 16411 words are wrong, the first of buffer 2 in round 3"},
        {"not filled again: the last round's words", [](auto& out) { mix(out, 31, 27); },
         "fail: words: 16411 words are wrong, the first of buffer 3 in round 7"},
        {"one bit", [](auto& out) { out.words[3] ^= 1U << 31; },
         "fail: words: 1 words are wrong, the first of buffer 0 in round 0"},
        {"beyond the end", [](auto& out) { out.words.back() = 0; },
         "fail: nothing_beyond: 1 elements beyond the end were written"},
        {"nothing came back", [](auto& out) { out.words.clear(); }, "fail: size: 0 values came back"},
        {"a pool without memory", [](auto& out) { out.pool.first = 0; },
         "fail: holds_a_round: the pool had 0 bytes for a round of 262576 bytes"},
        {"nothing is used again", [](auto& out) { out.pool.last += 1; },
         "fail: used_again: the pool grew from 1048576 bytes to 1048577 bytes"},
        {"a leak", [](auto& out) { out.pool.used = 512; }, "fail: all_freed: 512 bytes are still in use"},
        {"nothing is given back", [](auto& out) { out.pool.trimmed = out.pool.last; },
         "fail: given_back: the pool had 1048576 bytes, and kept 1048576 bytes"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        AsyncOutputs outputs = good_async();
        row.plant(outputs);
        CHECK(text_of(async_check(outputs, "GPU")) == row.text);
    }
}

TEST_CASE("mem.managed: green when host and GPU saw each other's values, and says what was left out") {
    CHECK(text_of(managed_check(good_managed(), "GPU")) == "pass: 4 rounds of host and GPU exact (GPU)");
    const Record record = managed_check(good_managed(false), "GPU");
    CHECK(
        text_of(record) ==
        "pass: 2 rounds of host and GPU exact, none by prefetch: the device has no concurrent managed access "
        "(GPU)");
    REQUIRE(record.evidence.size() == 1);
    CHECK(record.evidence[0] == std::pair<std::string, std::string>("concurrent_managed_access", "false"));
}

TEST_CASE("mem.managed: red with each defect") {
    const Planted<ManagedOutputs> rows[] = {
        {"no managed memory", [](auto& out) { out = ManagedOutputs(); },
         "fail: managed_memory: the device has no managed memory"},
        {"nothing ran", [](auto& out) { out.flag = {}; },
         "fail: ran_flag: 0 of 128 blocks reported, code for 0"},
        {"one kernel left out", [](auto& out) { out.flag.blocks -= kManagedBlocks; },
         "fail: ran_flag: 96 of 128 blocks reported, code for 900"},
        {"no round", [](auto& out) { out.rounds.clear(); }, "fail: rounds: 0 of 4 rounds came back"},
        {"the prefetch rounds left out", [](auto& out) { out.rounds.resize(2); },
         "fail: rounds: 2 of 4 rounds came back"},
        {"the GPU's values never came", [](auto& out) { out.rounds[0] = managed_input(); },
         "fail: round_0: 262147 values are wrong, the first is 0"},
        {"the host's values never came",
         [](auto& out) {
             for (std::size_t i = 0; i < kManagedLength; ++i)
                 out.rounds[1][i] = managed_on_gpu(out.rounds[0][i], 1);
         },
         "fail: round_1: 262147 values are wrong, the first is 0"},
        {"one page is stale",
         [](auto& out) { std::copy_n(out.rounds[1].begin() + 1024, 1024, out.rounds[2].begin() + 1024); },
         "fail: round_2: 1024 values are wrong, the first is 1024"},
        {"one bit", [](auto& out) { out.rounds[3][9] ^= 1U; },
         "fail: round_3: 1 values are wrong, the first is 9"},
        {"beyond the end", [](auto& out) { out.rounds[3].back() = 0; },
         "fail: round_3_nothing_beyond: 1 values beyond the end were written"},
        {"a round came back in part", [](auto& out) { out.rounds[2].pop_back(); },
         "fail: round_2_size: 263170 values came back"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        ManagedOutputs outputs = good_managed();
        row.plant(outputs);
        CHECK(text_of(managed_check(outputs, "GPU")) == row.text);
    }
}
