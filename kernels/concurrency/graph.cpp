#include "kernels/concurrency/graph.hpp"

#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/support/philox.hpp"

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

/// Three checks of x: its size, its values and its guard.
void check_x(Record& record, const std::string& name, const std::vector<std::uint32_t>& x,
             const std::vector<std::uint32_t>& expected) {
    record.check(name + "_size", x.size() == expected.size(), std::to_string(x.size()) + " values came back");
    if (x.size() != expected.size()) return;
    const Mismatches wrong = mismatches(kGraphLength, [&](std::size_t i) { return x[i] == expected[i]; });
    record.check(
        name, wrong.count == 0,
        std::to_string(wrong.count) + " values are wrong, the first is " + std::to_string(wrong.first));
    const Mismatches touched =
        mismatches(kGuard, [&](std::size_t i) { return is_blank(x[kGraphLength + i]); });
    record.check(name + "_nothing_beyond", touched.count == 0,
                 std::to_string(touched.count) + " values beyond the end were written");
}

}  // namespace

std::vector<std::uint32_t> graph_input() {
    std::vector<std::uint32_t> x = blank_output<std::uint32_t>(kGraphLength);
    const Philox philox(seed_of(kGraphId));
    for (std::size_t i = 0; i < kGraphLength; ++i)
        x[i] = bits_of(philox.uniform(i, 0));
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
