// con.cluster must turn red with each way that blocks can miss each other's shared memory.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/concurrency/cluster.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr std::size_t kT = kClusterThreads;

/// As the kernel has it: each block reads of the one `behind` ranks on, and writes to the one `to` ranks on.
ClusterOutputs outputs_of(std::size_t behind, std::size_t to, bool backwards = true) {
    ClusterOutputs outputs = cluster_blank();
    const std::vector<std::uint32_t> input = cluster_input();
    for (std::size_t cluster = 0; cluster < kClusters; ++cluster) {
        for (std::size_t rank = 0; rank < kClusterBlocks; ++rank) {
            const auto block = [&](std::size_t ranks) {
                return (cluster * kClusterBlocks + (rank + ranks) % kClusterBlocks) * kT;
            };
            for (std::size_t t = 0; t < kT; ++t) {
                const std::uint32_t value = input[block(behind) + (backwards ? kT - 1 - t : t)];
                outputs.read[block(0) + t] = value * 1664525U + unsigned(rank) + 1U;
                outputs.received[block(to) + t] = outputs.read[block(0) + t];
            }
        }
    }
    outputs.flag = {kClusterBlocks * kClusters, 900};
    outputs.supported = true;
    return outputs;
}

std::string text_of(const ClusterOutputs& outputs) {
    const Record record = cluster_check(outputs, "GPU");
    return (record.status == Status::pass   ? "pass: "
            : record.status == Status::fail ? "fail: "
                                            : "other: ") +
           record.summary;
}

}  // namespace

TEST_CASE("con.cluster: green when each block saw the right ones") {
    CHECK(text_of(outputs_of(1, 2)) == "pass: 3 clusters of 4 blocks exact (GPU)");
}

TEST_CASE("con.cluster: red with each defect") {
    struct Row {
        const char* what;
        std::function<void(ClusterOutputs&)> plant;
        const char* text;
    };
    const Row rows[] = {
        {"no clusters", [](auto& out) { out.supported = false; },
         "fail: cluster_launch: the device launches no clusters"},
        {"code without clusters: nothing is done",
         [](auto& out) {
             out = cluster_blank();
             out.supported = true;
         },
         "fail: ran_flag: 0 of 12 blocks reported, code for 0"},
        {"one block left out", [](auto& out) { --out.flag.blocks; },
         "fail: ran_flag: 11 of 12 blocks reported, code for 900"},
        {"reads its own", [](auto& out) { out = outputs_of(0, 2); },
         "fail: read: 1536 values are wrong, the first in block 0"},
        {"reads of the one before", [](auto& out) { out = outputs_of(3, 2); },
         "fail: read: 1536 values are wrong, the first in block 0"},
        {"reads the own thread's", [](auto& out) { out = outputs_of(1, 2, false); },
         "fail: read: 1536 values are wrong, the first in block 0"},
        {"writes into its own", [](auto& out) { out = outputs_of(1, 0); },
         "fail: received: 1536 values are wrong, the first in block 0"},
        {"writes to the next", [](auto& out) { out = outputs_of(1, 1); },
         "fail: received: 1536 values are wrong, the first in block 0"},
        {"looks too early", [](auto& out) { out.received[5 * kT + 7] = kBlankBits; },
         "fail: received: 1 values are wrong, the first in block 5"},
        {"one bit", [](auto& out) { out.read[11 * kT] ^= 4U; },
         "fail: read: 1 values are wrong, the first in block 11"},
        {"beyond the end", [](auto& out) { out.received.back() = 0; },
         "fail: received_nothing_beyond: 1 values beyond the end were written"},
        {"nothing came back", [](auto& out) { out.read.clear(); }, "fail: read_size: 0 values came back"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        ClusterOutputs outputs = outputs_of(1, 2);
        row.plant(outputs);
        CHECK(text_of(outputs) == row.text);
    }
}
