#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// con.graph: a round of work on two streams, captured once and launched often, does what it does without a
/// graph.
namespace cudamatrix::suite {

inline constexpr const char* kGraphId = "con.graph";
inline constexpr int kGraphRounds = 100;
inline constexpr int kGraphThreads = 128;
inline constexpr int kGraphBlocks = 2;
inline constexpr std::size_t kGraphLength = std::size_t{kGraphThreads} * kGraphBlocks;
inline constexpr int kGraphKernels = 3;  ///< of a round
inline constexpr int kGraphNodes = 5;    ///< of a round: the kernels, a set and a copy of memory

// A round makes x of x: left = 0 (set), left += x * a + 1; right = x backwards * b, copied; x = left ^ copy.
CUDAMATRIX_BODY std::uint32_t graph_left(std::uint32_t left, std::uint32_t x) {
    return left + x * 1664525U + 1U;
}
CUDAMATRIX_BODY std::uint32_t graph_right(std::uint32_t opposite) {
    return opposite * 22695477U + 3U;
}
CUDAMATRIX_BODY std::uint32_t graph_merge(std::uint32_t left, std::uint32_t copy) {
    return left ^ (copy << 13U | copy >> 19U);
}

/// x, each time with a guard behind it.
struct GraphOutputs {
    std::vector<std::uint32_t> captured;  ///< after the capture, which does nothing yet
    std::vector<std::uint32_t> graph;     ///< after all launches of the graph
    std::vector<std::uint32_t> eager;     ///< after as many rounds without it
    std::size_t nodes = 0;                ///< of the captured graph
    RunFlag flag;                         ///< of all kernels of both
};

/// x before the first round, and its guard.
[[nodiscard]] std::vector<std::uint32_t> graph_input();
[[nodiscard]] GraphOutputs graph_blank();
/// All of it against the rounds on the host.
[[nodiscard]] Record graph_check(const GraphOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
