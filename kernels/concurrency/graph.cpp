#include "kernels/concurrency/graph.hpp"

#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

std::vector<std::uint32_t> after_rounds() {
    std::vector<std::uint32_t> x = graph_input();
    std::vector<std::uint32_t> next = x;
    for (int round = 0; round < kGraphRounds; ++round) {
        for (std::size_t i = 0; i < kGraphLength; ++i)
            next[i] = graph_merge(graph_left(0, x[i]), graph_right(x[kGraphLength - 1 - i]));
        x.swap(next);
    }
    return x;
}

void check_x(Record& record, const std::string& name, const std::vector<std::uint32_t>& x,
             const std::vector<std::uint32_t>& expected) {
    check_values(
        record, name, x, kGraphLength, [&](std::size_t i) { return x[i] == expected[i]; },
        [](std::size_t first) { return "is " + std::to_string(first); });
}

}  // namespace

std::vector<std::uint32_t> graph_input() {
    std::vector<std::uint32_t> x = blank_output<std::uint32_t>(kGraphLength);
    draw_bits(x, kGraphLength, kGraphId);
    return x;
}

GraphOutputs graph_blank() {
    GraphOutputs outputs;
    outputs.captured = outputs.graph = outputs.eager = blank_output<std::uint32_t>(kGraphLength);
    return outputs;
}

Record graph_check(const GraphOutputs& outputs, const char* backend) {
    Record record;
    const std::vector<std::uint32_t> expected = after_rounds();
    record.check("nodes", outputs.nodes == static_cast<std::size_t>(kGraphNodes),
                 "the graph has " + std::to_string(outputs.nodes) + " nodes instead of " +
                     std::to_string(kGraphNodes));
    check_ran(record, outputs.flag, 2 * kGraphRounds * kGraphKernels * kGraphBlocks);
    check_x(record, "capture_does_nothing", outputs.captured, graph_input());
    check_x(record, "eager", outputs.eager, expected);
    check_x(record, "graph", outputs.graph, expected);
    return judge(
        record, "graph",
        std::to_string(kGraphRounds) + " launches of a graph exact, as without it (" + backend + ")");
}

}  // namespace cudamatrix::suite
