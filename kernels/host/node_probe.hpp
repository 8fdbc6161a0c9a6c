#pragma once

#include <string>
#include <vector>

#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// The driver's device nodes, as open() finds them.
namespace cudamatrix::suite {

struct DeviceNode {
    std::string path;  ///< below the root: "/dev/nvidia0"
    int error = 0;     ///< errno of open() for reading and writing; 0 = it opens
};

struct NodeFacts {
    std::vector<DeviceNode>
        nodes;                   ///< those that every program needs first, then what else is there, in order
    bool driver_loaded = false;  ///< the kernel module shows itself in /proc
};

/// Opens nvidiactl, nvidia-uvm, each nvidiaN and each MIG capability; where there are none of them, what WSL
/// (/dev/dxg) or Tegra (/dev/nvmap) has instead. `root` is a prefix of /dev and /proc.
[[nodiscard]] NodeFacts probe_nodes(const std::string& root);

/// What that means: the verdict of dev.nodes. Pure.
[[nodiscard]] Record judge_nodes(const NodeFacts& facts, const Context& context);

}  // namespace cudamatrix::suite
