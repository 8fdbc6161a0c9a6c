// What stress.oom makes of what its calls gave.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>

#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/stress/oom.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

OomFacts good_facts(const SumInputs& inputs) {
    OomFacts facts;
    facts.total = 4096 * kMiB;
    facts.asked = kOutOfMemory;
    facts.last_error = kOutOfMemory;
    facts.forgotten = 0;
    facts.synchronised = 0;
    facts.half = 1024 * kMiB;
    facts.half_asked = 0;
    facts.c = blank_output(inputs.a.size());
    const VaddArgs args{inputs.a.data(), inputs.b.data(), facts.c.data(), static_cast<long>(inputs.a.size()),
                        &facts.flag};
    run_on_cpu(kOomBlocks, kOomThreads, [&](CpuBlock& block) { vadd_body(block, args); });
    return facts;
}

// "status fault: summary".
std::string text_of(const Record& record) {
    return (record.status == Status::pass   ? "pass"
            : record.status == Status::fail ? "fail"
                                            : "other") +
           (record.fault.empty() ? "" : " " + record.fault) + ": " + record.summary;
}

}  // namespace

TEST_CASE("stress.oom: green when the refusal is forgotten and the memory works") {
    const SumInputs inputs = sum_inputs(kOomId, kOomLength);
    CHECK(text_of(oom_check(inputs, good_facts(inputs), "GPU")) ==
          "pass: refused with 2, then 1024 MiB allocated and 65537 sums exact (GPU)");
}

TEST_CASE("stress.oom: red with each way that a program cannot go on") {
    struct Row {
        const char* what;
        std::function<void(OomFacts&)> plant;
        const char* text;
    };
    const SumInputs inputs = sum_inputs(kOomId, kOomLength);
    const OomFacts good = good_facts(inputs);
    const Row rows[] = {
        {"gives twice its memory",
         [](OomFacts& f) {
             f.asked = 0;
             f.pointer = true;
         },
         "fail: refused: cudaMalloc of twice the memory gave 0 and a pointer"},
        {"says so and gives nothing", [](OomFacts& f) { f.asked = 0; },
         "fail: refused: cudaMalloc of twice the memory gave 0"},
        {"refuses with a pointer", [](OomFacts& f) { f.pointer = true; },
         "fail: refused: cudaMalloc of twice the memory gave 2 and a pointer"},
        {"an invalid value", [](OomFacts& f) { f.asked = 1; },
         "fail: refused: cudaMalloc of twice the memory gave 1"},
        {"not asked at all", [](OomFacts& f) { f.asked = -1; },
         "fail: refused: cudaMalloc of twice the memory gave -1"},
        {"no last error", [](OomFacts& f) { f.last_error = 0; },
         "fail F19: reported: cudaGetLastError gave 0"},
        {"another last error", [](OomFacts& f) { f.last_error = 719; },
         "fail F19: reported: cudaGetLastError gave 719"},
        {"never forgotten", [](OomFacts& f) { f.forgotten = 2; },
         "fail F19: forgotten: cudaPeekAtLastError gave 2"},
        {"sticky", [](OomFacts& f) { f.synchronised = 2; },
         "fail F19: not_sticky: cudaDeviceSynchronize gave 2"},
        {"the context is lost", [](OomFacts& f) { f.synchronised = 709; },
         "fail F19: not_sticky: cudaDeviceSynchronize gave 709"},
        {"half of it is refused, too", [](OomFacts& f) { f.half_asked = 2; },
         "fail F19: allocates: cudaMalloc of 1073741824 bytes gave 2"},
        {"half of it was not asked for", [](OomFacts& f) { f.half_asked = -1; },
         "fail F19: allocates: cudaMalloc of 1073741824 bytes gave -1"},
        {"half of it is nothing", [](OomFacts& f) { f.half = 0; },
         "fail F19: allocates: cudaMalloc of 0 bytes gave 0"},
        {"too little for the vectors", [](OomFacts& f) { f.half = kMiB / 2; },
         "fail F19: allocates: cudaMalloc of 524288 bytes gave 0"},
        {"a copy fails",
         [](OomFacts& f) {
             f.call = "cudaMemcpy";
             f.call_code = 1;
         },
         "fail F19: computes: cudaMemcpy gave 1"},
        {"the kernel faults",
         [](OomFacts& f) {
             f.call = "cudaDeviceSynchronize";
             f.call_code = 700;
         },
         "fail F19: computes: cudaDeviceSynchronize gave 700"},
        {"the kernel never ran", [](OomFacts& f) { f.flag = {}; },
         "fail F19: ran_flag: 0 of 16 blocks reported, code for 0"},
        {"the end of the memory is not there",
         [](OomFacts& f) { std::memcpy(&f.c[kOomLength - 1], &kBlankBits, sizeof kBlankBits); },
         "fail F19: all_written: 1 elements were never written"},
        {"it is written beyond", [](OomFacts& f) { f.c[kOomLength] = 0; },
         "fail F19: nothing_beyond: 1 elements beyond the end were written"},
        {"the last bit of one sum", [](OomFacts& f) { f.c[7] = float_of(bits_of(f.c[7]) ^ 1U); },
         "fail F19: exact: 1 of 65537 sums differ, the first at 7"},
        {"nothing was downloaded", [](OomFacts& f) { f.c.clear(); },
         "fail F19: nothing_beyond: 0 elements beyond the end were written"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        OomFacts facts = good;
        row.plant(facts);
        CHECK(text_of(oom_check(inputs, facts, "GPU")) == row.text);
    }
}

TEST_CASE("stress.oom: half of the free memory, at most 1 GiB of the host's") {
    CHECK(oom_half(4096 * kMiB, true) == 1024 * kMiB);
    CHECK(oom_half(4096 * kMiB, false) == 2048 * kMiB);
    CHECK(oom_half(64 * kMiB, true) == 32 * kMiB);
    CHECK(oom_half(1023, false) == 0);
    CHECK(oom_half(2047, false) == 512);
    CHECK(oom_half(0, true) == 0);
}

TEST_CASE("stress.oom: the vectors lie apart, the last one at the very end") {
    constexpr std::size_t kInput = kOomLength * sizeof(float);
    constexpr std::size_t kOutput = (kOomLength + kGuard) * sizeof(float);
    for (const std::size_t half : {1024 * kMiB, 4 * kMiB, 2 * kMiB, kMiB + kMiB / 8}) {
        const OomPlaces places = oom_places(half);
        REQUIRE_MESSAGE(places.fit, half);
        CHECK(places.b >= places.a + kInput);
        CHECK(places.c >= places.b + kInput);
        CHECK(places.c + kOutput == half);
        CHECK(places.b % sizeof(float) + places.c % sizeof(float) == 0);
    }
    for (const std::size_t half :
         {std::size_t{0}, std::size_t{512}, kMiB, kInput, kOutput, 2 * kInput, kInput + kOutput})
        CHECK_MESSAGE(!oom_places(half).fit, half);
}
