// Clusters: their barrier, and each other's shared memory. cluster.ptx: nvcc 13.0.88, -ptx -O2
// -arch=compute_90 of kernels/concurrency/cluster.cu.
#include <doctest/doctest.h>

#include "kernels/concurrency/cluster.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using ptx::Dim3;

namespace {

struct Arguments {
    std::uint64_t input;
    std::uint64_t read;
    std::uint64_t received;
    std::uint64_t flag;
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    REQUIRE_MESSAGE(at != std::string::npos, what);
    return text.replace(at, what.size(), with);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string kArrive = "barrier.cluster.arrive;";
const std::string kSync = "barrier.cluster.arrive;\n\tbarrier.cluster.wait;";

struct Run {
    std::string error;
    Record record;
};

Run run(const std::string& text, unsigned schedules = 1, std::uint32_t size = kClusterBlocks) {
    PtxMachine machine(text);
    machine.options.schedules = schedules;
    machine.cluster = {size, 1, 1};
    ClusterOutputs outputs = cluster_blank();
    const Arguments arguments{machine.upload(cluster_input()), machine.upload(outputs.read),
                              machine.upload(outputs.received), machine.upload(std::vector<RunFlag>(1))};
    Run ended;
    ended.error = machine.launch("cudamatrix_cluster", {kClusterBlocks * kClusters, 1, 1},
                                 {kClusterThreads, 1, 1}, arguments);
    outputs.read = machine.download<std::uint32_t>(arguments.read, outputs.read.size());
    outputs.received = machine.download<std::uint32_t>(arguments.received, outputs.received.size());
    outputs.flag = machine.download<RunFlag>(arguments.flag, 1)[0];
    outputs.supported = true;
    ended.record = cluster_check(outputs, "PTX");
    return ended;
}

/// What one kernel of sm_90 ends with, in clusters of two blocks of 64 threads; behind the reason.
std::string fault(const std::string& body, Dim3 cluster = {2, 1, 1}) {
    PtxMachine machine(replaced(ptx_kernel(".shared .align 8 .b32 s[64];\n" + body), "sm_80", "sm_90"));
    machine.cluster = cluster;
    machine.options.threads = 1;
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(256, 7));
    return machine.launch("k", {2, 1, 1}, {64, 1, 1}, address);
}

}  // namespace

TEST_CASE("interpreter: blocks of a cluster read and write each other's shared memory") {
    for (const unsigned schedules : {1U, 4U}) {
        const Run ended = run(ptx_file("cluster.ptx"), schedules);
        CHECK(ended.error == "");
        CHECK(ended.record.status == Status::pass);
    }
    // Other clusters give other values.
    CHECK(run(ptx_file("cluster.ptx"), 1, 2).error == "");
    CHECK(run(ptx_file("cluster.ptx"), 1, 2).record.status == Status::fail);
    CHECK(run(ptx_file("cluster.ptx"), 1, 1).error == "");
}

TEST_CASE("interpreter: a barrier of the cluster that is missing is found") {
    const std::string whole = ptx_file("cluster.ptx");
    const std::size_t second = whole.rfind(kSync);
    std::string no_second = whole;
    no_second.replace(second, kSync.size(), "");
    std::string relaxed = whole;
    relaxed.replace(whole.rfind(kArrive), kArrive.size(), "barrier.cluster.arrive.relaxed;");
    for (const unsigned schedules : {1U, 4U}) {
        CAPTURE(schedules);
        // The values are not there yet, or nothing orders the two.
        const std::string first = run(replaced(whole, kSync, ""), schedules).error;
        CHECK((has(first, "that nothing has written") || has(first, "race: ")));
        const std::string last = run(no_second, schedules).error;
        CHECK((has(last, "that nothing has written") || has(last, "race: ") || has(last, "which has ended")));
        CHECK(has(run(relaxed, schedules).error, "race: "));
    }
    // For its own block only.
    const std::string block_only = run(replaced(whole, kSync, "bar.sync 0;")).error;
    CHECK((has(block_only, "that nothing has written") || has(block_only, "race: ")));
}

TEST_CASE("interpreter: special registers of clusters") {
    PtxMachine machine(replaced(
        ptx_kernel(
            "mov.u32 %r2, %cluster_ctaid.x; mov.u32 %r3, %cluster_ctaid.y; mov.u32 %r4, %cluster_ctaid.z;\n"
            "mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; mov.u32 %r7, %cluster_nctaid.y;\n"
            "mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ctaid.y; mad.lo.u32 %r8, %r9, 4, %r8;\n"
            "mul.wide.u32 %rd2, %r8, 32; add.s64 %rd2, %rd2, %rd1;\n"
            "st.global.v4.u32 [%rd2], {%r2,%r3,%r4,%r5}; st.global.v2.u32 [%rd2+16], {%r6,%r7};"),
        "sm_80", "sm_90"));
    machine.cluster = {2, 3, 1};
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(4 * 6 * 8, 99));
    REQUIRE(machine.launch("k", {4, 6, 1}, {}, address) == "");
    const std::vector<std::uint32_t> found = machine.download<std::uint32_t>(address, 4 * 6 * 8);
    for (std::uint32_t y = 0; y < 6; ++y) {
        for (std::uint32_t x = 0; x < 4; ++x) {
            const std::uint32_t* at = &found[(y * 4 + x) * 8];
            REQUIRE(std::vector<std::uint32_t>(at, at + 6) ==
                    std::vector<std::uint32_t>{x % 2, y % 3, 0, y % 3 * 2 + x % 2, 6, 3});
        }
    }
}

TEST_CASE("interpreter: faults of clusters") {
    const std::string map =
        "mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u32 %r2, %cluster_ctarank;\n"
        "xor.b32 %r2, %r2, 1; mapa.u64 %rd3, %rd2, %r2;\n";
    const std::string sync = "barrier.cluster.arrive; barrier.cluster.wait;\n";
    const std::string first_ends = "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 0; @%p1 ret;\n";
    CHECK(fault(map + sync + "st.u32 [%rd3], %r1;\n" + sync).find("race: ") != std::string::npos);
    struct Row {
        std::string body;
        const char* text;
    };
    const Row rows[] = {
        {kArrive + kArrive, "comes to the cluster's barrier twice, without a wait in between"},
        {"barrier.cluster.wait;", "waits at the cluster's barrier without having come to it"},
        {sync + "barrier.cluster.wait;", "waits at the cluster's barrier without having come to it"},
        {"setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbarrier.cluster.arrive;\nA: bar.sync 1;",
         "barrier divergence"},
        {"mov.u32 %r5, %ctaid.x; setp.eq.u32 %p1, %r5, 0; setp.lt.and.u32 %p1, %r1, 32, %p1;\n@!%p1 bra A;\n"
         "bar.sync 1, 64;\nA: " +
             sync,
         "cluster barrier deadlock: 3 of 4 warps of its cluster have come"},
        {map + "ld.u32 %r3, [%rd3];", "that nothing has written"},
        {map + sync + "ld.u32 %r3, [%rd3+256];", "of shared memory: the block has 256 bytes"},
        {map + "st.u32 [%rd3+2], %r1;", "is not aligned to 4 bytes"},
        {map + "mov.u32 %r2, 2; mapa.u64 %rd3, %rd2, %r2;", "block 2 of a cluster of 2"},
        {map + "mapa.u64 %rd3, %rd1, %r2;", "is not in shared memory"},
        {map + "add.s64 %rd3, %rd3, 0x1000000; ld.u32 %r3, [%rd3];", "the cluster has no such block"},
        {map + "cvta.to.shared.u64 %rd3, %rd3;", "is not in this state space"},
        {map + "mbarrier.init.b64 [%rd3], 1;",
         "not supported by the interpreter: shared memory of another block"},
        {map + "isspacep.shared %p1, %rd3; @%p1 trap; mapa.shared::cta.u32 %r3, %r1, %r2;",
         "not supported by the interpreter: mapa.shared::cta.u32"},
        {"barrier.cluster.sync;", "not supported by the interpreter: barrier.cluster.sync"},
        {"barrier.cluster.wait.release;", "not supported by the interpreter: barrier.cluster.wait.release"},
        {"mov.u32 %r2, s; ld.shared::cluster.u32 %r3, [%r2];",
         "not supported by the interpreter: ld.shared::cluster.u32"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.body);
        const std::string error = fault(row.body);
        CHECK_MESSAGE(has(error, row.text), error);
    }
    const std::string late = map + first_ends +
                             "mov.u32 %r6, 0;\nW: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 20000;\n"
                             "@%p2 bra W;\nst.u32 [%rd3], %r1;";
    CHECK(has(fault(late), "the shared memory of block (0,0,0), which has ended"));
    // The first block reads in the second one, which may end before.
    const std::string reads = map + "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1;\n" + sync +
                              "mov.u32 %r4, %cluster_ctarank; setp.eq.and.u32 %p2, %r4, 0, %p1;\n"
                              "@%p2 ld.u32 %r3, [%rd3];\n";
    CHECK(
        fault(reads) ==
        "kernel k, block (1,0,0): race: ends, and nothing orders that behind what block (0,0,0) does in its "
        "shared memory");
    CHECK(fault(reads + sync) == "");
    // Warps that have ended are not waited for, and a launch without clusters has clusters of one block.
    CHECK(fault(first_ends + sync) == "");
    CHECK(fault(sync + "mov.u32 %r2, %cluster_nctarank; setp.ne.u32 %p1, %r2, 1; @%p1 trap;", {}) == "");
}
