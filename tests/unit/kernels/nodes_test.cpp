// dev.nodes: device nodes that are missing, denied or dead.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "kernels/host/host_tests.hpp"
#include "kernels/host/node_probe.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

NodeFacts facts_of(int ctl, int uvm, std::vector<int> gpus = {0}) {
    NodeFacts facts;
    facts.nodes = {{"/dev/nvidiactl", ctl}, {"/dev/nvidia-uvm", uvm}};
    for (std::size_t i = 0; i < gpus.size(); ++i)
        facts.nodes.push_back({"/dev/nvidia" + std::to_string(i), gpus[i]});
    return facts;
}

std::string evidence_of(const Record& record) {
    return record.evidence.empty() ? "" : record.evidence.front().second;
}

}  // namespace

TEST_CASE("dev.nodes: nodes that open pass, and what may be denied is evidence only") {
    NodeFacts facts = facts_of(0, 0);
    CHECK(judge_nodes(facts, {}).status == Status::pass);
    CHECK(judge_nodes(facts, {}).summary == "the nodes of 1 GPU(s) open");
    CHECK(judge_nodes(facts, {}).hint == "");
    facts.nodes.push_back({"/dev/nvidia-caps/nvidia-cap1", EACCES});
    CHECK(judge_nodes(facts, {}).status == Status::pass);
    CHECK(evidence_of(judge_nodes(facts, {})).find("\"/dev/nvidia-caps/nvidia-cap1\":\"EACCES (13") !=
          std::string::npos);
    // Another container's GPU.
    CHECK(judge_nodes(facts_of(0, 0, {EPERM, 0}), {}).status == Status::pass);
    NodeFacts wsl;
    wsl.nodes = {{"/dev/dxg", 0}};
    CHECK(judge_nodes(wsl, {}).summary == "/dev/dxg opens");
}

TEST_CASE("dev.nodes: each errno is F25, with a hint where to look") {
    struct Row {
        NodeFacts facts;
        const char* summary;
        const char* hint;
    };
    NodeFacts wsl;
    wsl.nodes = {{"/dev/dxg", EACCES}};
    for (const Row& row : {
             Row{facts_of(0, EPERM), "/dev/nvidia-uvm: open() gives EPERM (1", "device cgroup or seccomp"},
             Row{facts_of(EPERM, EPERM), "/dev/nvidiactl: open() gives EPERM", "--device /dev/nvidiactl"},
             Row{facts_of(0, EACCES), "/dev/nvidia-uvm: open() gives EACCES (13", "NVreg_DeviceFileMode"},
             Row{facts_of(0, ENOENT), "/dev/nvidia-uvm: open() gives ENOENT (2", "nvidia-modprobe"},
             Row{facts_of(0, ENXIO), "/dev/nvidia-uvm: open() gives ENXIO (6", "modprobe nvidia-uvm"},
             Row{facts_of(0, ENODEV), "/dev/nvidia-uvm: open() gives ENODEV (19", "no driver stands behind"},
             Row{facts_of(0, EIO), "/dev/nvidia-uvm: open() gives EIO (5", "kernel log"},
             Row{facts_of(0, EMFILE), "/dev/nvidia-uvm: open() gives errno (24", "kernel log"},
             Row{facts_of(0, 0, {EPERM}), "GPU nodes: 0 of 1 open; /dev/nvidia0: open() gives EPERM",
                 "device cgroup or seccomp denies /dev/nvidia0"},
             Row{facts_of(0, 0, {EIO, EPERM}), "GPU nodes: 0 of 1 open; /dev/nvidia0: open() gives EIO",
                 "kernel log"},
             Row{facts_of(0, 0, {}), "GPU nodes: 0 of 1 open; /dev/nvidia0: open() gives ENOENT",
                 "was not given /dev/nvidia0"},
             Row{facts_of(ENOENT, ENOENT), "/dev/nvidiactl: open() gives ENOENT", "was not given"},
             Row{wsl, "/dev/dxg: open() gives EACCES", "keeps this user out"},
         }) {
        const Record record = judge_nodes(row.facts, {});
        CHECK(record.status == Status::fail);
        CHECK(record.reason == "device_nodes");
        CHECK(record.fault == "F25");
        CHECK_MESSAGE(record.summary.find(row.summary) == 0, record.summary);
        CHECK_MESSAGE(record.hint.find(row.hint) != std::string::npos, record.hint);
    }
    Context two;
    two.gpus = 2;
    CHECK(judge_nodes(facts_of(0, 0, {0, 0}), two).status == Status::pass);
    CHECK(judge_nodes(facts_of(0, 0, {0, EPERM}), two).summary.find("GPU nodes: 1 of 2 open; /dev/nvidia1") ==
          0);
    CHECK(judge_nodes(facts_of(0, 0, {0}), two).fault == "F25");
}

TEST_CASE("dev.nodes: no node at all is a skip, unless a GPU was promised") {
    const scratch::Folder root;
    Context context;
    context.root = root.path();
    CHECK(dev_nodes(context).status == Status::skip);
    CHECK(dev_nodes(context).reason == "no_device");
    CHECK(dev_nodes(context).summary == "no /dev/nvidia* here");
    root.write("proc/driver/nvidia/version", "NVRM version: 550.54.15");
    CHECK(dev_nodes(context).summary == "no /dev/nvidia* here, although the host has the driver");
    CHECK(dev_nodes(context).status == Status::skip);
    context.require_gpu = true;
    CHECK(dev_nodes(context).status == Status::fail);
    CHECK(dev_nodes(context).reason == "no_device_nodes");
    CHECK(dev_nodes(context).fault == "F25");
    CHECK(dev_nodes(context).hint.find("--gpus all") != std::string::npos);
    context.require_gpu = false;
    context.mode = Mode::gpu;
    CHECK(dev_nodes(context).fault == "F25");
}

TEST_CASE("dev.nodes: what is below a root is found, by number, and really opened") {
    const scratch::Folder root;
    for (const char* name :
         {"dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia10", "dev/nvidia2", "dev/nvidia-uvm-tools",
          "dev/nvidia-modeset", "dev/nvidiax", "dev/nvidia-caps/nvidia-cap2"})
        root.write(name, "");
    const auto paths = [&] {
        std::string text;
        for (const DeviceNode& node : probe_nodes(root.path()).nodes)
            text += node.path + "=" + std::to_string(node.error) + " ";
        return text;
    };
    CHECK(
        paths() ==
        "/dev/nvidiactl=0 /dev/nvidia-uvm=0 /dev/nvidia2=0 /dev/nvidia10=0 /dev/nvidia-caps/nvidia-cap2=0 ");
    Context context;
    context.root = root.path();
    CHECK(dev_nodes(context).summary == "the nodes of 2 GPU(s) open");
    context.mode = Mode::nogpu;
    CHECK(dev_nodes(context).reason == "no_device");
    context.mode = Mode::automatic;
    const std::string uvm = root.path() + "/dev/nvidia-uvm";
    // A link to itself stands for a node that is there and does not open.
    REQUIRE(::unlink(uvm.c_str()) == 0);
    REQUIRE(::symlink("nvidia-uvm", uvm.c_str()) == 0);
    CHECK(dev_nodes(context).summary.find("/dev/nvidia-uvm: open() gives errno (40") == 0);
    CHECK(dev_nodes(context).fault == "F25");
    REQUIRE(::unlink(uvm.c_str()) == 0);
    CHECK(dev_nodes(context).summary.find("/dev/nvidia-uvm: open() gives ENOENT") == 0);
    const scratch::Folder other;
    other.write("dev/nvmap", "");
    context.root = other.path();
    CHECK(dev_nodes(context).summary == "/dev/nvmap opens");
    other.write("dev/nvidiactl", "");
    CHECK(dev_nodes(context).status == Status::fail);
}
