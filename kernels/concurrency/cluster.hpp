#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// con.cluster: the blocks of a cluster read and write each other's shared memory.
namespace cudamatrix::suite {

inline constexpr const char* kClusterId = "con.cluster";
inline constexpr int kClusterBlocks = 4;  ///< of one cluster
inline constexpr int kClusters = 3;
inline constexpr int kClusterThreads = 128;
inline constexpr std::size_t kClusterLength = std::size_t{kClusterBlocks} * kClusters * kClusterThreads;

/// What a thread of the block with this rank makes of a value that it read.
CUDAMATRIX_BODY std::uint32_t cluster_next(std::uint32_t value, std::uint32_t rank) {
    return value * 1664525U + rank + 1U;
}

/// Each with a guard.
struct ClusterOutputs {
    std::vector<std::uint32_t> read;      ///< what was made of the next block's values, backwards
    std::vector<std::uint32_t> received;  ///< and what the block two ranks before wrote into this one
    RunFlag flag;
    bool supported = false;
};

[[nodiscard]] std::vector<std::uint32_t> cluster_input();
[[nodiscard]] ClusterOutputs cluster_blank();
[[nodiscard]] Record cluster_check(const ClusterOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
