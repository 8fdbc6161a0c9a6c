// mem.pattern: red on every planted defect of kernels and memory, and the wrong word is told with its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "kernels/memory/pattern.hpp"
#include "kernels/support/philox.hpp"
#include "unit/kernels/defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

// Memory or kernels with a defect. What is empty does nothing.
struct Planted : PatternCpu {
    explicit Planted(const PatternSize& of_size = {}) : PatternCpu(of_size) {}

    std::function<bool(int pass)> skips_write = [](int) { return false; };
    std::function<bool(int pass)> skips_verify = [](int) { return false; };
    std::function<void(int pass)> after_write = [](int) {};
    std::function<void(int pass)> after_verify = [](int) {};
    std::function<void(std::vector<std::uint32_t>&)> after_read = [](std::vector<std::uint32_t>&) {};

    bool write(int pass) override {
        if (!skips_write(pass)) static_cast<void>(PatternCpu::write(pass));
        after_write(pass);
        return true;
    }
    bool verify(int pass) override {
        if (!skips_verify(pass)) static_cast<void>(PatternCpu::verify(pass));
        after_verify(pass);
        return true;
    }
    bool read_end(std::vector<std::uint32_t>& into) override {
        static_cast<void>(PatternCpu::read_end(into));
        after_read(into);
        return true;
    }
};

constexpr PatternSize kSmall{4096 + 300, 2};
constexpr auto kWords = static_cast<std::size_t>(kSmall.words);

PatternOutputs outputs_of(Planted& memory) {
    PatternOutputs outputs = pattern_run(memory);
    outputs.flag = memory.flag;
    return outputs;
}

Record checked(Planted& memory, const char* backend = "CPU") {
    return pattern_check(kSmall, outputs_of(memory), backend);
}

const std::vector<Defect<Planted>>& memory_defects() {
    static const std::vector<Defect<Planted>> kDefects = {
        {"one bit flips in one pass",
         [](Planted& m) { m.after_write = [&m](int pass) { m.words[7] ^= pass == 40 ? 0x100U : 0U; }; }},
        {"one bit of the last word flips in the last pass",
         [](Planted& m) {
             m.after_write = [&m](int pass) { m.words[kWords - 1] ^= pass == kPatternPasses - 1 ? 1U : 0U; };
         }},
        {"a bit is stuck at 0",
         [](Planted& m) { m.after_write = [&m](int) { m.words[100] &= ~0x80000000U; }; }},
        {"a bit is stuck at 1", [](Planted& m) { m.after_write = [&m](int) { m.words[100] |= 2U; }; }},
        {"two data lines are tied together",
         [](Planted& m) {
             m.after_write = [&m](int) {
                 for (std::uint32_t& word : m.words) {
                     if ((word & 3U) != 3U) word &= ~3U;
                 }
             };
         }},
        {"an address line is stuck: two halves are one",
         [](Planted& m) {
             m.after_write = [&m](int) {
                 for (std::size_t i = 0; i < kWords; ++i)
                     m.words[i] = m.words[i & ~std::size_t{1024}];
             };
         }},
        {"a write disturbs its neighbour",
         [](Planted& m) {
             m.after_write = [&m](int pass) { m.words[501] = pass == 65 ? m.words[500] : m.words[501]; };
         }},
        {"memory is lost: it is zero in one pass",
         [](Planted& m) {
             m.after_write = [&m](int pass) {
                 if (pass == 3) std::fill(m.words.begin(), m.words.begin() + long(kWords), 0U);
             };
         }},
    };
    return kDefects;
}

const std::vector<Defect<Planted>>& kernel_defects() {
    static const std::vector<Defect<Planted>> kDefects = {
        {"no-op kernels", [](Planted& m) { m.skips_write = m.skips_verify = [](int) { return true; }; }},
        {"nothing is written", [](Planted& m) { m.skips_write = [](int) { return true; }; }},
        {"nothing is compared", [](Planted& m) { m.skips_verify = [](int) { return true; }; }},
        {"stale buffer: one pass is not written",
         [](Planted& m) { m.skips_write = [](int pass) { return pass == 31; }; }},
        {"one pass is not compared",
         [](Planted& m) { m.skips_verify = [](int pass) { return pass == 31; }; }},
        {"a comparison that sees no difference",
         [](Planted& m) {
             m.after_verify = [&m](int) {
                 for (PatternTally& tally : m.tallies)
                     tally.wrong = 0;
             };
         }},
        {"a comparison that always says the same place",
         [](Planted& m) {
             m.after_verify = [&m](int) {
                 for (PatternTally& tally : m.tallies)
                     tally.first = 0;
             };
         }},
        {"the tail is not written",
         [](Planted& m) { m.after_write = [&m](int) { m.words[kWords - 1] = kPatternBlank; }; }},
        // Both kernels end too early: only the host can see it.
        {"the tail is neither written nor compared", [](Planted& m) { m.size.words -= 1; }},
        {"off-by-one stride: each word is its neighbour's",
         [](Planted& m) {
             m.after_write = [&m](int) {
                 std::rotate(m.words.begin(), m.words.begin() + 1, m.words.begin() + long(kWords));
             };
         }},
        {"writes beyond the end",
         [](Planted& m) {
             m.after_write = [&m](int pass) { m.words[kWords] = pass == 0 ? 1U : m.words[kWords]; };
         }},
        {"writes at the end of the guard",
         [](Planted& m) { m.after_write = [&m](int) { m.words.back() = 0; }; }},
        {"the same words in every pass, and compared with them",
         [](Planted& m) {
             m.skips_write = m.skips_verify = [](int pass) { return pass > 0; };
             m.after_verify = [&m](int pass) {
                 for (PatternTally& tally : m.tallies)
                     tally.checked += pass > 0 ? 2 : 0;
             };
         }},
        {"one thread's tally is lost", [](Planted& m) { m.after_verify = [&m](int) { m.tallies[5] = {}; }; }},
        {"a block did not come to its end",
         [](Planted& m) { m.after_verify = [&m](int pass) { m.flag.blocks -= pass == 9 ? 1 : 0; }; }},
        {"nothing reports", [](Planted& m) { m.after_verify = [&m](int) { m.flag = {}; }; }},
        {"the host reads too little", [](Planted& m) {
             m.after_read = [](std::vector<std::uint32_t>& into) { into.resize(kPatternEnd / 2); };
         }}};
    return kDefects;
}

}  // namespace

TEST_CASE("mem.pattern: green as it is, red with each planted defect") {
    Planted good(kSmall);
    CHECK(checked(good).summary == "17 KiB held 68 patterns (CPU)");
    for (const auto* defects : {&memory_defects(), &kernel_defects()}) {
        for (const auto& defect : *defects) {
            CAPTURE(defect.name);
            Planted memory(kSmall);
            defect.plant(memory);
            CHECK(red(checked(memory)));
        }
    }
}

TEST_CASE("mem.pattern: a defect of the memory is the GPU's fault, one of the kernels is not") {
    for (const auto& defect : memory_defects()) {
        CAPTURE(defect.name);
        Planted memory(kSmall);
        defect.plant(memory);
        const PatternOutputs outputs = outputs_of(memory);
        CHECK(pattern_check(kSmall, outputs, "GPU").fault == "F15");
        CHECK(pattern_check(kSmall, outputs, "CPU").fault.empty());
        CHECK(pattern_check(kSmall, outputs, "PTX interpreter").fault.empty());
    }
    for (const char* name : {"no-op kernels", "nothing is compared", "a comparison that sees no difference",
                             "writes beyond the end", "nothing reports"}) {
        const auto& defects = kernel_defects();
        const auto defect = std::find_if(defects.begin(), defects.end(), [&](const auto& candidate) {
            return candidate.name == std::string(name);
        });
        REQUIRE_MESSAGE(defect != defects.end(), name);
        Planted memory(kSmall);
        defect->plant(memory);
        CHECK_MESSAGE(checked(memory, "GPU").fault.empty(), name);
    }
}

TEST_CASE("mem.pattern: every bit of some words, and the first wrong one is named") {
    for (const std::size_t i : {std::size_t{0}, std::size_t{299}, kWords - 1}) {
        for (unsigned bit = 0; bit < 32; ++bit) {
            Planted memory(kSmall);
            memory.after_write = [&](int pass) { memory.words[i] ^= pass == 5 ? 1U << bit : 0U; };
            CHECK_MESSAGE(red(checked(memory)), i << " " << bit);
        }
    }
    Planted memory(kSmall);
    memory.after_write = [&](int pass) {
        if (pass != 66 && pass != 64 && pass != 4) return;
        for (const std::size_t i : {std::size_t{4000}, std::size_t{255}})
            memory.words[i] ^= 0x10U;
    };
    // Word 255 of the third pattern: bit (255 + 2) % 32.
    CHECK(checked(memory).summary ==
          "exact: 6 words are wrong, the first at byte 0x3fc (walking bit 2): expected 0x2, found 0x12");
    Planted inverted(kSmall);
    inverted.after_write = [&](int pass) { inverted.words[4099] ^= pass == 65 ? 1U : 0U; };
    CHECK(checked(inverted).summary ==
          "exact: 1 words are wrong, the first at byte 0x400c (addresses, inverted): "
          "expected 0xffffeffc, found 0xffffeffd");
}

TEST_CASE("mem.pattern: the kernel's random words are Philox's") {
    const std::uint64_t key = seed_of(kPatternId);
    const Philox philox(key);
    for (const std::uint64_t from :
         {std::uint64_t{0}, (std::uint64_t{1} << 34) - 8, std::uint64_t{1} << 40}) {
        for (std::uint64_t i = from; i < from + 64; ++i) {
            CHECK(pattern_word(kRandomPass, key, i) == philox.bits(i, 0));
            CHECK(pattern_word(kRandomPass + 1, key, i) == ~philox.bits(i, 0));
        }
    }
}

TEST_CASE("mem.pattern: each address bit changes the word") {
    for (unsigned bit = 0; bit < 32; ++bit) {
        const std::uint64_t other = std::uint64_t{1} << bit;
        CHECK_MESSAGE(pattern_word(kAddressPass, 0, 0) != pattern_word(kAddressPass, 0, other), bit);
    }
}

TEST_CASE("mem.pattern: how much memory is tested") {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
    CHECK(pattern_size("quick", 80 * kGiB).words == kGiB / 4);
    CHECK(pattern_size("quick", 3 * kGiB).words == kGiB / 4);
    CHECK(pattern_size("quick", 3 * kGiB - 12).words == kGiB / 4 - 1);
    CHECK(pattern_size("quick", kGiB).words == kGiB / 12);
    CHECK(pattern_size("standard", 24 * kGiB).words == 2 * kGiB);
    CHECK(pattern_size("full", 24 * kGiB).words == 2 * kGiB);
    CHECK(pattern_size("full", 140 * kGiB).words == 4 * kGiB);
    CHECK(pattern_size("soak", 140 * kGiB).words - 1 <= 0xffffffff);  // each address fits into its word
    CHECK(pattern_size("quick", 0).words == kPatternSmall);
    CHECK(pattern_size("full", 1000).words == kPatternSmall);
}

TEST_CASE("mem.pattern: the part that images run passes") {
    CHECK(green(pattern_cpu_part({})));
}
