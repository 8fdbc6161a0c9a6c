// con.graph must turn red with each way that a graph can do other work than was captured.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/concurrency/graph.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kN = kGraphLength;

/// What a round may do wrong; each is what the loss of one node or edge does.
struct Loss {
    bool set = false;    // left is not set to 0
    bool copy = false;   // the copy is from the round before
    bool right = false;  // right sees x after the merge
    bool merge = false;  // never done
};

std::vector<std::uint32_t> rounds(int count, const Loss& loss = {}, int lossy_round = -1) {
    std::vector<std::uint32_t> x = graph_input();
    std::vector<std::uint32_t> left(kN, 0);
    std::vector<std::uint32_t> copy(kN, 0);
    for (int round = 0; round < count; ++round) {
        const Loss now = lossy_round < 0 || lossy_round == round ? loss : Loss{};
        for (std::size_t i = 0; i < kN; ++i)
            left[i] = graph_left(now.set ? left[i] : 0, x[i]);
        const std::vector<std::uint32_t> before(x.begin(), x.begin() + kN);
        for (std::size_t i = 0; i < kN; ++i) {
            if (!now.copy)
                copy[i] = graph_right(now.right && i < kN / 2 ? x[kN - 1 - i] + 1 : before[kN - 1 - i]);
            if (!now.merge) x[i] = graph_merge(left[i], copy[i]);
        }
    }
    return x;
}

GraphOutputs good_outputs() {
    GraphOutputs outputs;
    outputs.captured = graph_input();
    outputs.eager = outputs.graph = rounds(kGraphRounds);
    outputs.nodes = kGraphNodes;
    outputs.flag = {2 * kGraphRounds * kGraphKernels * kGraphBlocks, 900};
    return outputs;
}

std::string text_of(const GraphOutputs& outputs) {
    const Record record = graph_check(outputs, "GPU");
    return (record.status == Status::pass   ? "pass: "
            : record.status == Status::fail ? "fail: "
                                            : "other: ") +
           record.summary;
}

}  // namespace

TEST_CASE("con.graph: green when the graph does what is done without it") {
    CHECK(text_of(good_outputs()) == "pass: 100 launches of a graph exact, as without it (GPU)");
}

TEST_CASE("con.graph: red with each node or edge that is lost") {
    const Loss losses[] = {{true, false, false, false},
                           {false, true, false, false},
                           {false, false, true, false},
                           {false, false, false, true}};
    for (const Loss& loss : losses) {
        for (const int round : {-1, 7, kGraphRounds - 1}) {
            GraphOutputs outputs = good_outputs();
            outputs.graph = rounds(kGraphRounds, loss, round);
            CHECK(text_of(outputs).find("fail: graph: ") == 0);
            outputs.eager.swap(outputs.graph);
            CHECK(text_of(outputs).find("fail: eager: ") == 0);
        }
    }
}

TEST_CASE("con.graph: red with each other defect") {
    struct Row {
        const char* what;
        std::function<void(GraphOutputs&)> plant;
        const char* text;
    };
    const Row rows[] = {
        {"nothing ran", [](auto& out) { out = graph_blank(); },
         "fail: nodes: the graph has 0 nodes instead of 5"},
        {"a node too few", [](auto& out) { out.nodes = 4; },
         "fail: nodes: the graph has 4 nodes instead of 5"},
        {"no launch", [](auto& out) { out.graph = graph_input(); },
         "fail: graph: 256 values are wrong, the first is 0"},
        {"one launch too few", [](auto& out) { out.graph = rounds(kGraphRounds - 1); },
         "fail: graph: 256 values are wrong, the first is 0"},
        {"one launch too many", [](auto& out) { out.graph = rounds(kGraphRounds + 1); },
         "fail: graph: 256 values are wrong, the first is 0"},
        {"both wrong in the same way", [](auto& out) { out.graph = out.eager = rounds(kGraphRounds - 1); },
         "fail: eager: 256 values are wrong, the first is 0"},
        {"one bit", [](auto& out) { out.graph[77] ^= 1U; },
         "fail: graph: 1 values are wrong, the first is 77"},
        {"the capture runs it", [](auto& out) { out.captured = rounds(1); },
         "fail: capture_does_nothing: 256 values are wrong, the first is 0"},
        {"written beyond the end", [](auto& out) { out.graph[kN] = 0; },
         "fail: graph_nothing_beyond: 1 values beyond the end were written"},
        {"nothing came back", [](auto& out) { out.eager.clear(); }, "fail: eager_size: 0 values came back"},
        {"a kernel left out", [](auto& out) { out.flag.blocks -= kGraphBlocks; },
         "fail: ran_flag: 1198 of 1200 blocks reported, code for 900"},
        {"a kernel ran twice", [](auto& out) { out.flag.blocks += kGraphBlocks; },
         "fail: ran_flag: 1202 of 1200 blocks reported, code for 900"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        GraphOutputs outputs = good_outputs();
        row.plant(outputs);
        CHECK(text_of(outputs) == row.text);
    }
}
