#include "kernels/concurrency/cluster.hpp"

#include <string>

#include "kernels/compute/check.hpp"

namespace cudamatrix::suite {
namespace {

/// Where thread `t` of the block that comes `ranks` behind that of value `i`, in its cluster, has its value.
std::size_t in_cluster(std::size_t i, std::size_t ranks, std::size_t t) {
    const std::size_t block = i / kClusterThreads;
    const std::size_t rank = (block + ranks) % kClusterBlocks;
    return (block / kClusterBlocks * kClusterBlocks + rank) * kClusterThreads + t;
}

void check_blocks(Record& record, const std::string& name, const std::vector<std::uint32_t>& found,
                  const std::vector<std::uint32_t>& expected) {
    check_values(
        record, name, found, kClusterLength, [&](std::size_t i) { return found[i] == expected[i]; },
        [](std::size_t first) { return "in block " + std::to_string(first / kClusterThreads); });
}

}  // namespace

std::vector<std::uint32_t> cluster_input() {
    std::vector<std::uint32_t> input(kClusterLength);
    draw_bits(input, kClusterLength, kClusterId);
    return input;
}

ClusterOutputs cluster_blank() {
    ClusterOutputs outputs;
    outputs.read = outputs.received = blank_output<std::uint32_t>(kClusterLength);
    return outputs;
}

Record cluster_check(const ClusterOutputs& outputs, const char* backend) {
    Record record;
    record.check("cluster_launch", outputs.supported, "the device launches no clusters");
    if (!outputs.supported) return judge(record, "no_cluster_launch", "");
    check_ran(record, outputs.flag, kClusterBlocks * kClusters);
    const std::vector<std::uint32_t> input = cluster_input();
    std::vector<std::uint32_t> read(kClusterLength);
    std::vector<std::uint32_t> received(kClusterLength);
    for (std::size_t i = 0; i < kClusterLength; ++i) {
        const std::size_t t = i % kClusterThreads;
        const auto rank = static_cast<std::uint32_t>(i / kClusterThreads % kClusterBlocks);
        read[i] = cluster_next(input[in_cluster(i, 1, kClusterThreads - 1 - t)], rank);
    }
    for (std::size_t i = 0; i < kClusterLength; ++i)
        received[in_cluster(i, 2, i % kClusterThreads)] = read[i];
    check_blocks(record, "read", outputs.read, read);
    check_blocks(record, "received", outputs.received, received);
    return judge(record, "cluster",
                 std::to_string(kClusters) + " clusters of " + std::to_string(kClusterBlocks) +
                     " blocks exact (" + backend + ")");
}

}  // namespace cudamatrix::suite
