// Cooperative launches: blocks wait for each other by what nvcc 13.0.88 makes of grid.sync (coop.ptx: -ptx
// -O2 -arch=compute_75 of kernels/concurrency/coop.cu), and what orders nothing is found.
#include <doctest/doctest.h>

#include "kernels/concurrency/coop.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

struct Arguments {
    std::uint64_t rows;
    std::uint64_t length;
    std::uint64_t flag;
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    REQUIRE_MESSAGE(at != std::string::npos, what);
    return text.replace(at, what.size(), with);
}

const std::string kSync = "$L__BB0_3:\n";
const std::string kBehindSync = "setp.lt.u32 \t%p5, %r42, 12;";
const std::string kBarrier = "barrier.sync \t0;";

/// Leaves grid.sync out where `%r42`, the round's number plus one, is `number`.
std::string without_sync_where(const std::string& number) {
    return replaced(replaced(ptx_file("coop.ptx"), kSync,
                             kSync + "setp.eq.s32 %p3, %r42, " + number + "; @%p3 bra OUT;\n"),
                    kBehindSync, "OUT: " + kBehindSync);
}

struct Run {
    std::string error;
    Record record;
};

Run run(const std::string& ptx, bool cooperative = true, unsigned schedules = 1, int blocks = 4) {
    PtxMachine machine(ptx);
    machine.options.schedules = schedules;
    machine.options.step_limit = 10'000'000;
    CoopOutputs outputs = coop_blank(blocks);
    outputs.one_too_many = kTooLarge;
    const Arguments arguments{machine.upload(outputs.rows), static_cast<std::uint64_t>(blocks * kCoopThreads),
                              machine.upload(std::vector<RunFlag>(1))};
    machine.cooperative = cooperative;
    Run ended;
    ended.error = machine.launch("cudamatrix_coop", {static_cast<std::uint32_t>(blocks), 1, 1},
                                 {kCoopThreads, 1, 1}, arguments);
    outputs.rows = machine.download<std::uint32_t>(arguments.rows, outputs.rows.size());
    outputs.flag = machine.download<RunFlag>(arguments.flag, 1)[0];
    ended.record = coop_check(outputs, "PTX");
    return ended;
}

std::string error_of(const std::string& ptx, unsigned schedules = 1) {
    return run(ptx, true, schedules).error;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("interpreter: blocks of a cooperative launch wait for each other") {
    for (const int blocks : {2, 3, 16, 33}) {
        CAPTURE(blocks);
        const Run ended = run(ptx_file("coop.ptx"), true, 3, blocks);
        CHECK(ended.error == "");
        CHECK(ended.record.status == Status::pass);
    }
}

TEST_CASE("interpreter: grid.sync that is missing is a race") {
    // By turns and by seeded interleavings: whoever comes first, nothing orders the two.
    for (const unsigned schedules : {1U, 4U}) {
        CAPTURE(schedules);
        for (const std::string number : {"1", "6", "11"}) {
            CAPTURE(number);
            const std::string error = error_of(without_sync_where(number), schedules);
            CHECK(has(error, "race: "));
            // In round 1 the values of block 0 come from its own warps.
            CHECK(has(error, " of block ") == (number != "1"));
        }
        // Behind the last round nobody reads.
        CHECK(error_of(without_sync_where("12"), schedules) == "");
    }
}

TEST_CASE("interpreter: half of a grid.sync is a race, too") {
    const std::string whole = ptx_file("coop.ptx");
    const std::size_t second = whole.rfind("barrier.sync");
    std::string no_second = whole;
    no_second.replace(second, kBarrier.size(), "");
    const std::string loop = "@%p4 bra \t$L__BB0_5;";
    const struct {
        const char* what;
        std::string ptx;
    } rows[] = {
        {"warps that have not come yet", replaced(whole, kBarrier, "")},
        {"warps that do not wait", no_second},
        {"nobody waits", replaced(whole, loop, "")},
        {"an arrival that publishes nothing", replaced(whole, ".release", ".relaxed")},
        {"a block that waits for itself only",
         replaced(whole, "sub.s32 \t%r30, %r29, %r24;", "mov.u32 %r30, -2147483648;")},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        CHECK(has(error_of(row.ptx), "race: "));
    }
}

TEST_CASE("interpreter: a block that never comes to grid.sync is a deadlock") {
    const std::string whole = ptx_file("coop.ptx");
    const std::string early = replaced(
        whole, kSync, kSync + "setp.eq.s32 %p3, %r14, 2; setp.eq.and.s32 %p3, %r42, 5, %p3; @%p3 ret;\n");
    const std::string name = "kernel cudamatrix_coop: ";
    for (const unsigned schedules : {1U, 3U}) {
        CAPTURE(schedules);
        CHECK(error_of(early, schedules) ==
              name + "grid barrier deadlock: 3 of 4 blocks wait in grid.sync, block (2,0,0) has ended");
    }
    CHECK(has(error_of(replaced(whole, kSync, kSync + "@%p1 ret;\n")),
              "grid barrier deadlock: 3 of 4 blocks wait in grid.sync, block (0,0,0) has ended"));
    const std::string half = replaced(whole, kSync, kSync + "setp.gt.u32 %p3, %r14, 1; @%p3 ret;\n");
    CHECK(has(error_of(half), "2 of 4 blocks wait in grid.sync, block (2,0,0), (3,0,0) have ended"));
    // Of a block that waits for its own warps that is said.
    const std::string stuck = replaced(
        whole, kSync,
        kSync +
            "setp.eq.s32 %p3, %r14, 1; setp.eq.and.s32 %p3, %r1, 0, %p3; @!%p3 bra GO; bar.sync 3, 64; GO:\n");
    CHECK(has(error_of(stuck), "barrier divergence"));
    const std::string other =
        replaced(whole, kSync,
                 kSync +
                     "setp.eq.s32 %p3, %r14, 1; setp.lt.and.u32 %p3, %r1, 32, %p3; @!%p3 bra GO; "
                     "bar.sync 3, 64; GO:\n");
    CHECK(has(error_of(other), "barrier deadlock: barrier 0 has 3 of 4 warps"));
    // One that has come once too often.
    const std::string twice = replaced(whole, "ret;",
                                       "setp.eq.s32 %p3, %r1, 0; @!%p3 ret;\n"
                                       "atom.add.release.gpu.u32 %r36,[%rd6],1;\n"
                                       "AGAIN: ld.acquire.gpu.u32 %r38,[%rd6];\n"
                                       "setp.ne.u32 %p4, %r38, 7; @%p4 bra AGAIN;\nret;");
    CHECK(has(error_of(twice), "4 of 4 blocks wait in grid.sync"));
}

TEST_CASE("interpreter: grid.sync is for cooperative launches") {
    CHECK(has(run(ptx_file("coop.ptx"), false).error, "\"trap;\""));
    // The workspace is there for the launch only, and each has a fresh one.
    PtxMachine machine(
        ptx_kernel("mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %rd2, {%r3, %r2};\n"
                   "st.global.u64 [%rd1], %rd2; setp.eq.u64 %p1, %rd2, 0; @%p1 ret;\n"
                   "ld.volatile.global.u64 %rd3, [%rd2]; st.global.u64 [%rd1+8], %rd3;\n"
                   "mov.u32 %r4, 9; st.global.u32 [%rd2+4], %r4;"));
    const std::uint64_t address = machine.upload(std::vector<std::uint64_t>{1, 1});
    const auto found = [&] { return machine.download<std::uint64_t>(address, 2); };
    CHECK(machine.launch("k", {}, {}, address) == "");
    CHECK(found()[0] == 0);
    machine.cooperative = true;
    machine.options.schedules = 2;
    const std::uint64_t used = machine.memory.used();
    for (int i = 0; i < 2; ++i) {
        CHECK(machine.launch("k", {}, {}, address) == "");
        CHECK(found()[0] != 0);
        CHECK(found()[1] == 0);
        CHECK(machine.memory.used() == used);
        CHECK(machine.memory.find(found()[0]) == nullptr);
    }
    CHECK(machine.memory.allocate(machine.memory.capacity() - used, "") != 0);
    CHECK(machine.launch("k", {}, {}, address) == "no device memory for grid.sync");
}
