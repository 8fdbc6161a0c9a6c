#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/host/host_tests.hpp"
#include "kernels/host/node_probe.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// A capability of MIG is for those who manage instances, or for one of them: denied is what others get.
bool is_capability(const DeviceNode& node) {
    return node.path.find("/nvidia-caps/") != std::string::npos;
}

bool is_gpu(const DeviceNode& node) {
    constexpr const char* kGpu = "/dev/nvidia";
    const std::size_t digit = std::strlen(kGpu);
    return node.path.rfind(kGpu, 0) == 0 && node.path.size() > digit && node.path[digit] >= '0' &&
           node.path[digit] <= '9';
}

const char* name_of_error(int error) {
    switch (error) {
        case 0:
            return "";
        case EPERM:
            return "EPERM";
        case EACCES:
            return "EACCES";
        case ENOENT:
            return "ENOENT";
        case ENXIO:
            return "ENXIO";
        case ENODEV:
            return "ENODEV";
        case EIO:
            return "EIO";
        case EBUSY:
            return "EBUSY";
        case EROFS:
            return "EROFS";
        default:
            return "errno";
    }
}

std::string error_text(int error) {
    return std::string(name_of_error(error)) + " (" + std::to_string(error) + ", " + std::strerror(error) +
           ")";
}

/// Where to look, by what open() said.
std::string hint_for(const std::string& path, int error) {
    switch (error) {
        case EPERM:
            return "the device cgroup or seccomp denies " + path +
                   ": give the container the GPU (--gpus all, a CDI "
                   "device, or --device " +
                   path + ")";
        case EACCES:
            return "the mode or the owner of " + path +
                   " keeps this user out: look at NVreg_DeviceFileMode and at "
                   "the user of the container";
        case ENOENT:
            return "the container was not given " + path + ": --device " + path +
                   ", or let nvidia-modprobe make it on the host (nvidia-modprobe -u -c=0)";
        case ENXIO:
        case ENODEV:
            return "no driver stands behind " + path +
                   ": load the kernel module on the host (modprobe nvidia-uvm), and look whether its major changed";
        default:
            return "look at the host's kernel log for " + path;
    }
}

json::Value to_json(const NodeFacts& facts) {
    json::Value nodes = json::Value::object();
    for (const DeviceNode& node : facts.nodes)
        nodes.set(node.path, node.error == 0 ? std::string("opens") : error_text(node.error));
    return nodes;
}

Record no_nodes(const NodeFacts& facts, const Context& context) {
    const std::string summary = facts.driver_loaded ? "no /dev/nvidia* here, although the host has the driver"
                                                    : "no /dev/nvidia* here";
    // A container that was given a GPU has nodes. Without one the host's driver does not matter.
    if (!context.gpu_is_promised()) return Record::skip("no_device", summary);
    Record record = Record::fail("no_device_nodes", "F25", summary);
    record.hint = "start the container with a GPU (--gpus all, or a CDI device)";
    return record;
}

/// Every program needs those that are no GPU's; of the GPUs' nodes others may be another container's.
Record some_nodes(const NodeFacts& facts, const Context& context) {
    Record record;
    std::string hint;
    int opened = 0;
    const DeviceNode* denied = nullptr;  // the first GPU's
    for (const DeviceNode& node : facts.nodes) {
        if (is_capability(node)) continue;
        if (is_gpu(node)) {
            opened += node.error == 0 ? 1 : 0;
            if (node.error != 0 && denied == nullptr) denied = &node;
            continue;
        }
        record.check(node.path, node.error == 0, "open() gives " + error_text(node.error));
        if (node.error != 0 && hint.empty()) hint = hint_for(node.path, node.error);
    }
    const bool has_gpu_nodes = facts.nodes.size() > 1;  // neither WSL nor Tegra has them
    const int wanted = std::max(1, context.gpus);
    const DeviceNode absent{"/dev/nvidia0", ENOENT};
    const DeviceNode& first = denied != nullptr ? *denied : absent;
    if (has_gpu_nodes) {
        record.check("GPU nodes", opened >= wanted,
                     std::to_string(opened) + " of " + std::to_string(wanted) + " open; " + first.path +
                         ": open() gives " + error_text(first.error));
        if (opened < wanted && hint.empty()) hint = hint_for(first.path, first.error);
    }
    record = judge(record, "device_nodes",
                   has_gpu_nodes ? "the nodes of " + std::to_string(opened) + " GPU(s) open"
                                 : facts.nodes.front().path + " opens");
    if (record.status == Status::fail) {
        record.fault = "F25";
        record.hint = hint;
    }
    return record;
}

}  // namespace

Record judge_nodes(const NodeFacts& facts, const Context& context) {
    const bool none = std::all_of(facts.nodes.begin(), facts.nodes.end(),
                                  [](const DeviceNode& node) { return node.error == ENOENT; });
    Record record = none ? no_nodes(facts, context) : some_nodes(facts, context);
    add_evidence(record, "nodes", to_json(facts));
    return record;
}

/// Whether the driver's device nodes open: what cuInit does first, and says 999 or 304 about when it cannot.
Record dev_nodes(const Context& context) {
    if (context.mode == Mode::nogpu) return Record::skip("no_device", "the run was told not to use a GPU");
    return judge_nodes(probe_nodes(context.root), context);
}

}  // namespace cudamatrix::suite
