// stress.sustained: rounds that differ, and runs that prove nothing, must turn red.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/exec/cpu_block.hpp"
#include "kernels/stress/sustained.hpp"

using namespace cudamatrix::suite;

namespace {

SustainedPlan small_plan() {
    Context context;
    context.part = "interpreted";
    return sustained_plan(context);
}

// The rounds of the program, in plain memory. `spoil` changes the results of a round before they are
// compared.
struct Host {
    using Spoil = std::function<void(long round, std::vector<float>& results)>;

    SustainedPlan plan = small_plan();
    SgemmInputs inputs = sustained_inputs(plan);
    SustainedOutputs outputs;
    std::size_t all = inputs.results() * static_cast<std::size_t>(plan.copies);
    std::vector<float> c = blank_output(all);
    std::vector<float> first = std::vector<float>(inputs.results(), 0.0F);

    SustainedTally compare() {
        std::vector<unsigned> results(all);
        std::vector<unsigned> wanted(first.size());
        std::memcpy(results.data(), c.data(), all * sizeof(float));
        std::memcpy(wanted.data(), first.data(), first.size() * sizeof(float));
        SustainedTally tally;
        const SustainedArgs args{results.data(),         wanted.data(), static_cast<long>(first.size()),
                                 static_cast<long>(all), &tally,        &outputs.comparisons};
        run_on_cpu(kSustainedCompareBlocks, kSustainedCompareThreads,
                   [&](CpuBlock& block) { sustained_compare_body(block, args); });
        return tally;
    }
    void product() {
        const SgemmArgs args{inputs.a.data(), inputs.b.data(), c.data(),         inputs.m,
                             inputs.n,        inputs.k,        &outputs.products};
        SgemmShared shared{};
        run_on_cpu(plan.copies * inputs.blocks(), kSgemmThreads,
                   [&](CpuBlock& block) { sustained_product_body(block, shared, args, inputs.blocks()); });
    }
    void run(const Spoil& spoil = nullptr) {
        outputs.blank = compare();
        for (long round = 1; round <= plan.rounds; ++round) {
            std::copy_n(blank_output(0).begin(), 1, c.begin());
            std::fill_n(c.begin(), all, c.front());
            product();
            if (spoil) spoil(round, c);
            if (round == 1) {
                std::copy_n(c.begin(), first.size(), first.begin());
                outputs.first = first;
            }
            sustained_note(outputs, compare());
        }
        outputs.guard.assign(c.begin() + static_cast<long>(all), c.end());
    }
    [[nodiscard]] Record judged(const char* backend = "GPU") const {
        return sustained_check(plan, inputs, outputs, backend);
    }
};

void flip(std::vector<float>& values, std::size_t at, int bit) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &values[at], sizeof bits);
    bits ^= 1U << bit;
    std::memcpy(&values[at], &bits, sizeof bits);
}

const Host& good_host() {
    static const Host host = [] {
        Host made;
        made.run();
        return made;
    }();
    return host;
}

}  // namespace

TEST_CASE("stress.sustained: green when all rounds are the same and the first is right") {
    const Record record = good_host().judged();
    CHECK(record.status == Status::pass);
    CHECK(record.summary == "3 rounds of 2 products 131x130x67 the same to the bit (GPU)");
    CHECK(record.fault + record.hint == "");
    CHECK(record.evidence.front().second == "{\"rounds\":3}");
    CHECK(good_host().outputs.blank.wrong == 2 * 131 * 130);
}

TEST_CASE("stress.sustained: one bit in one round is F15 on a GPU, and told with its round") {
    struct Row {
        long round;
        std::size_t at;
        int bit;
        const char* summary;
    };
    const std::size_t n = good_host().inputs.results();
    for (const Row& row : {
             Row{2, 0, 0,
                 "every_round_the_same: 1 words in 1 rounds differ from the first round's, first in round 2"},
             Row{3, n - 1, 31,
                 "every_round_the_same: 1 words in 1 rounds differ from the first round's, first in round 3"},
             Row{2, 2 * n - 1, 22,
                 "every_round_the_same: 1 words in 1 rounds differ from the first round's, first in round 2"},
             Row{1, n, 0,
                 "every_round_the_same: 1 words in 1 rounds differ from the first round's, first in round 1"},
         }) {
        Host host;
        host.run([&](long round, std::vector<float>& c) {
            if (round == row.round) flip(c, row.at, row.bit);
        });
        const Record record = host.judged();
        CHECK(record.status == Status::fail);
        CHECK(record.reason == "not_reproducible");
        CHECK(record.fault == "F15");
        CHECK(record.hint.find("memory errors") != std::string::npos);
        CHECK_MESSAGE(record.summary == row.summary, record.summary);
        CHECK(host.judged("PTX interpreter").fault == "");
        CHECK(host.judged("PTX interpreter").status == Status::fail);
    }
}

TEST_CASE("stress.sustained: larger faults of a round") {
    const std::size_t n = good_host().inputs.results();
    const Host::Spoil spoils[] = {
        [&](long round, std::vector<float>& c) {  // nothing was written: blank memory is no product
            if (round == 2) std::fill_n(c.begin(), 2 * n, blank_output(0).front());
        },
        [&](long round, std::vector<float>& c) {  // the second copy was left out
            if (round == 3) std::fill_n(c.begin() + static_cast<long>(n), n, blank_output(0).front());
        },
        [&](long round, std::vector<float>& c) {  // every round has another result
            c[5] += static_cast<float>(round);
        },
        [&](long round, std::vector<float>& c) {  // two elements exchanged
            if (round == 2) std::swap(c[7], c[8]);
        },
        [&](long, std::vector<float>& c) { c[2 * n] = 0; },  // beyond the end
        [&](long, std::vector<float>& c) { c[3] += 1; },     // wrong in all rounds alike: float64 sees it
        [&](long, std::vector<float>& c) {                   // the transposed tile
            for (std::size_t copy = 0; copy < 2; ++copy)
                std::swap(c[copy * n + 1], c[copy * n + 130]);
        },
        [&](long, std::vector<float>& c) { std::fill_n(c.begin(), 2 * n, 0.0F); },
        [&](long, std::vector<float>& c) { c[n / 2] = std::nanf(""); },
    };
    for (const auto& spoil : spoils) {
        Host host;
        host.run(spoil);
        CHECK(host.judged().status == Status::fail);
    }
    // A product that is wrong from the beginning is not the GPU's health.
    Host wrong;
    wrong.run([&](long, std::vector<float>& c) { c[3] += 1; });
    CHECK(wrong.judged().reason == "mismatch");
    CHECK(wrong.judged().fault == "");
}

TEST_CASE("stress.sustained: a run that compared nothing, or not all, proves nothing") {
    const std::function<void(SustainedOutputs&)> defects[] = {
        [](SustainedOutputs& o) { o = {}; },
        [](SustainedOutputs& o) { o.rounds = 0; },
        [](SustainedOutputs& o) { o.rounds -= 1; },
        [](SustainedOutputs& o) { o.tally.compared -= 1; },
        [](SustainedOutputs& o) { o.tally.compared = 0; },
        [](SustainedOutputs& o) { o.blank.wrong = 0; },  // the comparison finds nothing
        [](SustainedOutputs& o) { o.blank.wrong -= 1; },
        [](SustainedOutputs& o) { o.blank.compared = 0; },
        [](SustainedOutputs& o) { o.products = {}; },
        [](SustainedOutputs& o) { o.products.blocks -= 1; },
        [](SustainedOutputs& o) { o.comparisons = {}; },
        [](SustainedOutputs& o) { o.comparisons.blocks -= kSustainedCompareBlocks; },
        [](SustainedOutputs& o) { o.first.clear(); },
        [](SustainedOutputs& o) { o.first.pop_back(); },
        [](SustainedOutputs& o) { o.guard.clear(); },
        [](SustainedOutputs& o) { o.tally.wrong = 1; },
    };
    for (const auto& plant : defects) {
        Host host = good_host();
        plant(host.outputs);
        CHECK(host.judged().status == Status::fail);
    }
}

TEST_CASE("stress.sustained: counters of blocks may pass their end, and time is never judged") {
    Host host = good_host();
    host.plan.seconds = 30;
    const long rounds = 1L << 30;  // two blocks of the products in each copy, four in a round
    host.outputs.rounds = rounds;
    host.outputs.tally.compared = static_cast<unsigned long long>(host.all) << 30;
    host.outputs.products.blocks = static_cast<unsigned>(rounds * host.plan.copies * host.inputs.blocks());
    host.outputs.comparisons.blocks = static_cast<unsigned>((rounds + 1) * kSustainedCompareBlocks);
    host.outputs.quarters = {1000, 1, 900, 0};
    CHECK(host.judged().status == Status::pass);
    CHECK(host.judged().evidence.front().second ==
          "{\"rounds\":1073741824,\"rounds_in_quarters\":[1000,1,900,0]}");
    host.outputs.products.blocks += 1;
    CHECK(host.judged().status == Status::fail);
}

TEST_CASE("stress.sustained: how long it runs") {
    const auto seconds_of = [](const char* level, const char* part) {
        Context context;
        context.level = level;
        context.part = part;
        context.soak_seconds = 7200;
        return sustained_plan(context).seconds;
    };
    CHECK(seconds_of("standard", "gpu") == 30);
    CHECK(seconds_of("full", "gpu") == 60);
    CHECK(seconds_of("soak", "gpu") == 7200);
    for (const char* level : {"standard", "full", "soak"})
        CHECK(seconds_of(level, "interpreted") == 0);
}
