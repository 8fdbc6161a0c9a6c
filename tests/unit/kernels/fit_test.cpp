// What mem.fit makes of what its calls gave.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/memory/fit.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::vector<std::uint32_t> guarded(const std::vector<std::uint32_t>& values) {
    auto with = blank_output<std::uint32_t>(values.size());
    std::copy(values.begin(), values.end(), with.begin());
    return with;
}

// A GPU with 1000 MiB free: blocks of 14 MiB, of which 71 fit.
FitFacts good_facts() {
    FitFacts facts;
    facts.free = 1000 * kMiB;
    facts.block = fit_block(facts.free);
    facts.blocks = facts.free / facts.block;
    facts.refused = kFitRefused;
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < facts.blocks; ++i)
        all.insert(all.end(), 2, static_cast<std::uint32_t>(i));
    facts.marks = guarded(all);
    facts.joined = facts.blocks / 2 * facts.block;
    facts.kept = guarded(fit_kept_marks(facts.blocks));
    facts.given_back = facts.free - 2 * kMiB;
    facts.flag = {6, 900};
    return facts;
}

// "status fault: summary".
std::string text_of(const FitFacts& facts) {
    const Record record = fit_check(facts, "GPU");
    return (record.status == Status::pass ? "pass" : "fail") +
           (record.fault.empty() ? "" : " " + record.fault) + ": " + record.summary;
}

}  // namespace

TEST_CASE("mem.fit: the free memory is cut into pieces that drivers map") {
    CHECK(fit_block(1000 * kMiB) == 14 * kMiB);
    CHECK(fit_block(64 * kFitGrain) == kFitGrain);
    CHECK(fit_block(kFitGrain) == kFitGrain);
    CHECK(fit_block(0) == kFitGrain);
    CHECK(fit_block(std::size_t{80} << 30) == 1280 * kMiB);
    CHECK(fit_kept_marks(5) == std::vector<std::uint32_t>{0, 0, 2, 2, 4, 4, 5, 5});
    CHECK(fit_kept_marks(0) == std::vector<std::uint32_t>{0, 0});
    for (std::size_t free = kFitGrain; free < 512 * kFitGrain; free += kFitGrain / 2)
        CHECK(free / fit_block(free) < kFitMost);  // the last block is refused, not left out
}

TEST_CASE("mem.fit: green when nearly all can be had, and had again") {
    CHECK(
        text_of(good_facts()) ==
        "pass: 994 MiB of 1000 MiB in 71 blocks, 490 MiB in one piece after every second block was freed (GPU)");
    FitFacts facts = good_facts();
    facts.joined = facts.block;  // fragments are evidence
    CHECK(fit_check(facts, "GPU").status == Status::pass);
    CHECK(fit_check(facts, "GPU").evidence.front().second ==
          R"({"free_mib":1000,"had_mib":994,"joined_mib":14,"given_back_mib":998})");
    facts.given_back = facts.free - kFitSlack;
    CHECK(fit_check(facts, "GPU").status == Status::pass);
}

TEST_CASE("mem.fit: red with each thing that can be wrong with the memory") {
    struct Row {
        const char* what;
        std::function<void(FitFacts&)> plant;
        const char* text;
    };
    const Row rows[] = {
        {"less than is called free",
         [](FitFacts& f) {
             f.blocks = 64;
             f.marks.erase(f.marks.begin() + 128, f.marks.begin() + 142);
             f.kept = guarded(fit_kept_marks(64));
         },
         "fail: fits: 896 MiB of 1000 MiB that are free could be allocated"},
        {"nothing is free", [](FitFacts& f) { f.free = 0; },
         "fail: fits: 994 MiB of 0 MiB that are free could be allocated"},
        {"no end to it", [](FitFacts& f) { f.refused = 0; },
         "fail: refused: cudaMalloc of one block more gave 0"},
        {"another error", [](FitFacts& f) { f.refused = 700; },
         "fail: refused: cudaMalloc of one block more gave 700"},
        {"not asked for more", [](FitFacts& f) { f.refused = -1; },
         "fail: refused: cudaMalloc of one block more gave -1"},
        {"two blocks are one", [](FitFacts& f) { f.marks[6] = 9; },
         "fail F19: own_words: 1 values are wrong, the first at the begin of block 3: 9"},
        {"a block has no end", [](FitFacts& f) { f.marks[7] = kBlankBits; },
         "fail F19: own_words: 1 values are wrong, the first at the end of block 3: 2141562277"},
        {"nothing came back", [](FitFacts& f) { f.marks.clear(); },
         "fail F19: own_words_size: 0 values came back"},
        {"written beyond", [](FitFacts& f) { f.marks.back() = 1; },
         "fail F19: own_words_nothing_beyond: 1 values beyond the end were written"},
        {"what was freed is gone", [](FitFacts& f) { f.joined = 0; },
         "fail F19: joined: no block of 14 MiB could be had where 35 had been freed"},
        {"less than a block is there", [](FitFacts& f) { f.joined = f.block - 1; },
         "fail F19: joined: no block of 14 MiB could be had where 35 had been freed"},
        {"the new block lies on a kept one", [](FitFacts& f) { f.kept[2] = 71; },
         "fail F19: kept_words: 1 values are wrong, the first at the begin of block 2: 71"},
        {"the new block is not there",
         [](FitFacts& f) { f.kept.erase(f.kept.begin() + 72, f.kept.begin() + 74); },
         "fail F19: kept_words_size: 1096 values came back"},
        {"memory stays away", [](FitFacts& f) { f.given_back = f.free - kFitSlack - 1; },
         "fail F19: given_back: 935 MiB are free afterwards, 1000 MiB were before"},
        {"a launch too few", [](FitFacts& f) { f.flag.blocks = 5; },
         "fail F19: ran_flag: 5 of 6 blocks reported, code for 900"},
        {"no launch", [](FitFacts& f) { f.flag = {}; },
         "fail F19: ran_flag: 0 of 6 blocks reported, code for 0"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        FitFacts facts = good_facts();
        row.plant(facts);
        CHECK(text_of(facts) == row.text);
    }
}
