// What stress.leak makes of the memory before, in the middle and after.
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/stress/leak.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

LeakFacts good_facts() {
    LeakFacts facts;
    facts.samples = {{{8000 * kMiB, 120 * kMiB}, {8000 * kMiB, 121 * kMiB}, {8000 * kMiB, 121 * kMiB}}};
    facts.cycles = kLeakCycles;
    facts.flag = {(kLeakWarmUp + kLeakCycles) * kLeakBlocks, 900};
    return facts;
}

LeakFacts with(std::size_t half, std::size_t end) {
    LeakFacts facts = good_facts();
    facts.samples[1].free = half;
    facts.samples[2].free = end;
    return facts;
}

// "status fault: summary".
std::string text_of(const LeakFacts& facts) {
    const Record record = leak_check(facts, "GPU");
    return (record.status == Status::pass   ? "pass"
            : record.status == Status::fail ? "fail"
                                            : "other") +
           (record.fault.empty() ? "" : " " + record.fault) + ": " + record.summary;
}

}  // namespace

TEST_CASE("stress.leak: green when memory comes back, or goes only once") {
    const std::string pass = "pass: 200 cycles, nothing lost (GPU)";
    CHECK(text_of(good_facts()) == pass);
    CHECK(text_of(with(7999 * kMiB, 7998 * kMiB)) == pass);  // as much as is allowed
    CHECK(text_of(with(8001 * kMiB, 8010 * kMiB)) == pass);  // another program went
    CHECK(text_of(with(7000 * kMiB, 7000 * kMiB)) == pass);  // or came, once
    CHECK(text_of(with(8000 * kMiB, 7000 * kMiB)) == pass);
    CHECK(text_of(with(7000 * kMiB, 8000 * kMiB)) == pass);
    LeakFacts facts = good_facts();
    facts.samples[2].host = 128 * kMiB;
    CHECK(text_of(facts) == pass);
    facts.samples[2].host = 90 * kMiB;
    CHECK(text_of(facts) == pass);
    CHECK(leak_check(facts, "GPU").evidence.front().second.find("{\"device_free_bytes\":8388608000,") !=
          std::string::npos);
}

TEST_CASE("stress.leak: memory that drifts is F20") {
    CHECK(text_of(with(7998 * kMiB, 7996 * kMiB)) == "fail F20: device_mib_lost 4 > 2");
    CHECK(text_of(with(7999 * kMiB, 7998 * kMiB - 1)).find("fail F20: device_mib_lost ") ==
          0);  // one byte more
    CHECK(text_of(with(7900 * kMiB, 7800 * kMiB)) ==
          "fail F20: device_mib_lost 200 > 2");  // each cycle's MiB
    CHECK(text_of(with(4000 * kMiB, 0)) == "fail F20: device_mib_lost 8e+03 > 2");
    CHECK(text_of(with(7990 * kMiB, 7990 * kMiB - 4096)).find("fail F20: device_mib_lost 10 > 2") == 0);
    LeakFacts facts = good_facts();
    facts.samples[2].host = 129 * kMiB;
    CHECK(text_of(facts) == "fail F20: host_mib_grown 9 > 8");
    facts.samples[2].host = 128 * kMiB + 4096;
    CHECK(text_of(facts).find("fail F20: host_mib_grown 8") == 0);
    facts.samples[1].free = 7000 * kMiB;
    facts.samples[2].free = 6000 * kMiB;
    CHECK(text_of(facts) == "fail F20: device_mib_lost 2e+03 > 2");
}

TEST_CASE("stress.leak: what was not run proves nothing, and is no leak") {
    const std::function<void(LeakFacts&)> defects[] = {
        [](LeakFacts& f) { f.cycles = 0; },
        [](LeakFacts& f) { f.cycles -= 1; },
        [](LeakFacts& f) { f.flag = {}; },
        [](LeakFacts& f) { f.flag.blocks -= 1; },
        [](LeakFacts& f) { f.flag.blocks = kLeakCycles * kLeakBlocks; },
        [](LeakFacts& f) { f.flag.arch = 0; },
        [](LeakFacts& f) { f.wrong = 1; },
        [](LeakFacts& f) { f.wrong = kLeakWords * (kLeakWarmUp + kLeakCycles); },
        [](LeakFacts& f) { f.samples[0].host = 0; },
        [](LeakFacts& f) { f.samples[2].host = 0; },
    };
    for (const auto& plant : defects) {
        LeakFacts facts = good_facts();
        plant(facts);
        CHECK(leak_check(facts, "GPU").status == Status::fail);
    }
    LeakFacts wrong = good_facts();
    wrong.wrong = 3;
    CHECK(text_of(wrong) == "fail: exact: 3 words are wrong");
    LeakFacts unknown = good_facts();
    unknown.samples[2].host = 0;
    CHECK(text_of(unknown) == "fail: host_memory_known: VmRSS cannot be read");
}

TEST_CASE("stress.leak: no cycle's words are another's") {
    std::set<std::uint32_t> seen;
    for (int cycle = 0; cycle < kLeakWarmUp + kLeakCycles; ++cycle) {
        CHECK_MESSAGE(seen.insert(leak_word(0, cycle)).second, cycle);
        CHECK(leak_word(5, cycle) != leak_word(6, cycle));
        CHECK(leak_word(0, cycle) != 0);
    }
}

TEST_CASE("stress.leak: the host's memory out of /proc") {
    CHECK(resident_bytes("Name:\tx\nVmHWM:\t   9999 kB\nVmRSS:\t    1234 kB\nRssAnon:\t 1 kB\n") ==
          1234 * 1024);
    CHECK(resident_bytes("VmRSS: 7 kB") == 7 * 1024);
    for (const char* text :
         {"", "VmRSS", "Name: VmRSS: 7 kB\n", "VmSize: 5 kB\n", "VmRSS:\n", "VmRSS: x kB\n"})
        CHECK_MESSAGE(resident_bytes(std::string(text)) == 0, text);
    const std::size_t before = resident_bytes();
    CHECK(before > 0);
    const std::vector<char> grown(64 * kMiB, 'x');
    CHECK(resident_bytes() > before + 32 * kMiB);
    CHECK(grown.back() == 'x');
}
