// What hardware would not tell: each fault has kernel, block, thread, line, instruction and reason.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using ptx::Dim3;

namespace {

/// The fault of one kernel, without what is before the line. The body begins in line 14; the parameter is the
/// address of 64 bytes, of which the first 32 are written.

std::string from_line(const std::string& error) {
    const std::size_t at = error.find("PTX line");
    return at == std::string::npos ? error : error.substr(at);
}

int last_code = 0;

std::string fault(const std::string& body, Dim3 block = {}, Dim3 grid = {}, const std::string& before = "",
                  unsigned schedules = 1) {
    PtxMachine machine(ptx_kernel(body, before));
    machine.options.threads = 1;
    machine.options.schedules = schedules;
    machine.options.step_limit = 100000;
    const std::uint64_t address = machine.memory.allocate(64, "");
    REQUIRE(machine.memory.fill(address, 0, 32));
    const std::string error = machine.launch("k", grid, block, address);
    last_code = machine.result.code;
    return from_line(error);
}

constexpr const char* kShared = ".shared .align 4 .b32 s[32];\n";
const std::string kOwnWord = "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.s32 %r2, %r2, %r3;\n";

}  // namespace

TEST_CASE("interpreter: accesses outside of memory") {
    CHECK(
        fault("st.global.u32 [%rd1+64], %r1;") ==
        "PTX line 14 \"st.global.u32 [%rd1+64], %r1;\": 4 bytes at address 0x10000000000040 lie 0 bytes behind the end of "
        "allocation 1 (64 bytes at 0x10000000000000)");
    CHECK(last_code == 700);
    CHECK(
        fault("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+64];") ==
        "PTX line 14 \"ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+64];\": 16 bytes at address 0x10000000000040 lie 0 bytes "
        "behind the end of allocation 1 (64 bytes at 0x10000000000000)");
    CHECK(
        fault("ld.global.u32 %r2, [%rd1+-4];") ==
        "PTX line 14 \"ld.global.u32 %r2, [%rd1+-4];\": 4 bytes at address 0xffffffffffffc are not in device memory: is it "
        "a pointer of the host?");
    CHECK(
        fault("mov.u64 %rd2, 4096; ld.global.u32 %r2, [%rd2];") ==
        "PTX line 14 \"mov.u64 %rd2, 4096; ld.global.u32 %r2, [%rd2];\": 4 bytes at address 0x1000 are not in device "
        "memory: is it a pointer of the host?");
    CHECK(fault("ld.global.u32 %r2, [%rd1+2];") ==
          "PTX line 14 \"ld.global.u32 %r2, [%rd1+2];\": address 0x10000000000002 is not aligned to 4 bytes");
    CHECK(last_code == 716);
    CHECK(
        fault("ld.global.u32 %r2, [%rd1+32];") ==
        "PTX line 14 \"ld.global.u32 %r2, [%rd1+32];\": reads 4 bytes at address 0x10000000000020 that nothing has written, "
        "at byte 32 of allocation 1");
    CHECK(fault("st.global.u8 [%rd1+32], %r1; ld.global.u16 %r2, [%rd1+32];")
              .find("that nothing has written") != std::string::npos);
    CHECK(fault("st.global.u16 [%rd1+32], %r1; ld.global.u16 %r2, [%rd1+32];") == "");
    CHECK(
        fault("ld.param.u32 %r2, [p+8];") ==
        "PTX line 14 \"ld.param.u32 %r2, [p+8];\": 4 bytes at address 0x8 of the parameters, which have 8 bytes");
}

TEST_CASE("interpreter: accesses outside of shared and local memory") {
    const std::string shared = kShared;
    CHECK(
        fault(shared + "st.shared.u32 [s+128], %r1;") ==
        "PTX line 15 \"st.shared.u32 [s+128], %r1;\": 4 bytes at address 0x80 of shared memory: the block has 128 bytes");
    CHECK(fault(shared + "ld.shared.u32 %r2, [s];") ==
          "PTX line 15 \"ld.shared.u32 %r2, [s];\": reads 4 bytes at address 0x0 that nothing has written");
    CHECK(
        fault(".local .align 4 .b8 d[8];\nst.local.u32 [d+8], %r1;") ==
        "PTX line 15 \"st.local.u32 [d+8], %r1;\": 4 bytes at address 0x8 of local memory: the thread has 8 bytes");
    CHECK(fault(".local .align 4 .b8 d[8];\nld.local.u32 %r2, [d+4];") ==
          "PTX line 15 \"ld.local.u32 %r2, [d+4];\": reads 4 bytes at address 0x4 that nothing has written");
    CHECK(
        fault("cvta.to.shared.u64 %rd2, %rd1;") ==
        "PTX line 14 \"cvta.to.shared.u64 %rd2, %rd1;\": address 0x10000000000000 is not in this state space");
    CHECK(fault(shared +
                "mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; st.u32 [%rd2], %r1; ld.u32 %r2, [%rd2];") ==
          "");
}

TEST_CASE("interpreter: barriers") {
    CHECK(
        fault("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0;\nA: bar.sync 1;", {32, 1, 1}) ==
        "PTX line 16 \"bar.sync 0;\": barrier divergence: the lanes 0xffff of the warp do not come to this barrier");
    CHECK(fault("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0;\nret;\nA: ret;", {32, 1, 1}) == "");
    CHECK(
        fault("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 1, 64;\nB: ret;",
              {64, 1, 1}) ==
        "PTX line 16 \"bar.sync 0;\": barrier deadlock: barrier 0 has 1 of 2 warps, warp 1 waits at line 16; barrier 1 has 1 "
        "of 2 warps, warp 0 waits at line 18");
    CHECK(last_code == 719);
    CHECK(fault("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0, 64;\nA: bar.sync 0;", {64, 1, 1})
              .find("barrier 0 is for") != std::string::npos);
    CHECK(fault("bar.sync 16;") == "PTX line 14 \"bar.sync 16;\": barrier 16: there are 0 to 15");
    CHECK(fault("bar.sync 1, 40;") ==
          "PTX line 14 \"bar.sync 1, 40;\": 40 threads: expected a multiple of 32");
    CHECK(fault("bar.sync 1, 64;") ==
          "PTX line 14 \"bar.sync 1, 64;\": the barrier is for 64 threads, the block has 1");
    CHECK(
        fault("setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r2, 0, %p1; setp.ne.u32 %p2, %r2, 40; @%p2 trap;",
              {64, 1, 1}) == "");
    CHECK(
        fault(
            "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.arrive 1, 64;\nbra B;\nA: bar.sync 1, 64;\nB: ret;",
            {64, 1, 1}) == "");
}

TEST_CASE("interpreter: what the lanes of a warp do together") {
    CHECK(
        fault("shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff;", {16, 1, 1}) ==
        "PTX line 14 \"shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xffff;\": takes the value of lane 20, which does not take part");
    CHECK(
        fault("shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xff;", {16, 1, 1}) ==
        "PTX line 14 \"shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xff;\": the member mask 0xff lacks the lane 8 itself");
    CHECK(
        fault("setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nvote.sync.any.pred %p2, %p1, -1;\nA: bar.warp.sync -1;",
              {32, 1, 1}) ==
        "PTX line 16 \"vote.sync.any.pred %p2, %p1, -1;\": the lanes 0xff of the member mask 0xffffffff do not execute this "
        "instruction");
    CHECK(
        fault(
            "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\nbar.warp.sync -1;\nbra B;\nA: bar.warp.sync -1;\nB: ret;",
            {32, 1, 1}) == "");
    CHECK(
        fault("setp.lt.u32 %p1, %r1, 8;\n@%p1 redux.sync.add.s32 %r2, %r1, -1;", {32, 1, 1}) ==
        "PTX line 15 \"@%p1 redux.sync.add.s32 %r2, %r1, -1;\": the lanes 0xffffff00 of the member mask 0xffffffff do not "
        "execute this instruction");
    CHECK(
        fault("add.s32 %r2, %r1, 1; match.any.sync.b32 %r3, %r1, %r2;", {32, 1, 1}).find("lacks the lane") !=
        std::string::npos);
}

TEST_CASE("interpreter: ends of a program") {
    CHECK(fault("trap;") == "PTX line 14 \"trap;\": the program traps");
    CHECK(last_code == 719);
    CHECK(fault("div.u32 %r2, 5, %r1;") == "PTX line 14 \"div.u32 %r2, 5, %r1;\": integer division by zero");
    CHECK(fault("A: bra A;") ==
          "kernel k: more than 100000 warp instructions (CUDAMATRIX_INTERPRETER_STEPS)");
    CHECK(last_code == 702);
    CHECK(
        fault("tensormap.foo %r1;") ==
        "PTX line 14 \"tensormap.foo %r1;\": not supported by the interpreter: tensormap.foo: instruction not known");
    CHECK(last_code == 715);
    CHECK(fault("call f;", {}, {}, ".func f() { call f; }\n").find("stack overflow: 2049 calls deep") !=
          std::string::npos);
    CHECK(last_code == 714);
    CHECK(fault("call f;", {}, {}, ".extern .func f();\n") ==
          "PTX line 15 \"call f;\": not supported by the interpreter: the function f is not defined");
}

TEST_CASE("interpreter: races") {
    const std::string shared = kShared + kOwnWord;
    CHECK(
        fault(shared + "st.shared.u32 [%r2], %r1;\nld.shared.u32 %r4, [s+4];", {32, 1, 1}) ==
        "PTX line 17 \"ld.shared.u32 %r4, [s+4];\": race: reads byte 4 of shared memory, which thread (1,0,0) wrote, and "
        "nothing orders the two");
    CHECK(fault(shared + "st.shared.u32 [%r2], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r4, [s+4];",
                {32, 1, 1}) == "");
    CHECK(fault(shared + "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nld.shared.u32 %r4, [s+4];", {32, 1, 1}) ==
          "");
    CHECK(
        fault(
            shared +
                "st.shared.u32 [%r2], %r1;\nbar.sync 0;\nld.shared.u32 %r4, [s+4];\nsetp.eq.u32 %p1, %r1, 1;\n"
                "@%p1 st.shared.u32 [s+4], 99;",
            {32, 1, 1}) ==
        "PTX line 20 \"@%p1 st.shared.u32 [s+4], 99;\": race: writes byte 4 of shared memory, which thread (0,0,0) read, and "
        "nothing orders the two");
    CHECK(
        fault("mov.u32 %r2, %ctaid.x;\nst.global.u32 [%rd1], %r2;", {}, {2, 1, 1}) ==
        "PTX line 15 \"st.global.u32 [%rd1], %r2;\": race: writes byte 0 of allocation 1, which thread (0,0,0) of block 0 "
        "wrote, and nothing orders the two");
    CHECK(fault("mov.u32 %r2, 7;\nst.global.u32 [%rd1], %r2;", {}, {2, 1, 1}) == "");  // the same value
    CHECK(fault("atom.global.add.u32 %r2, [%rd1], 1;\nst.global.u32 [%rd1], %r2;", {}, {2, 1, 1})
              .find("race: ") != std::string::npos);
    CHECK(fault("atom.global.add.u32 %r2, [%rd1], 1;", {64, 1, 1}, {8, 1, 1}) == "");
    // The last block adds up what the others left, ordered by a fence and an atomic counter.
    const std::string last =
        "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2;\n"
        "st.global.u32 [%rd2+8], %r2;\nFENCE\natom.global.add.u32 %r3, [%rd1], 1;\n"
        "setp.ne.u32 %p1, %r3, 1;\n@%p1 bra A;\nFENCE\nld.global.u32 %r4, [%rd1+8];\nA: ret;";
    std::string with = last;
    std::string without = last;
    for (std::size_t at; (at = with.find("FENCE")) != std::string::npos;)
        with.replace(at, 5, "membar.gl;");
    for (std::size_t at; (at = without.find("FENCE")) != std::string::npos;)
        without.replace(at, 5, "");
    CHECK(fault(with, {}, {2, 1, 1}) == "");
    CHECK(fault(without, {}, {2, 1, 1}).find("race: ") != std::string::npos);
}

TEST_CASE("interpreter: blocks that run at once may write one value") {
    // Each writes 7 to all of 4,096 words; whoever comes second finds it there.
    const std::string same =
        "mov.u32 %r2, 0; mov.u32 %r3, VALUE; mov.u64 %rd2, %rd1;\n"
        "A: st.global.u32 [%rd2], %r3;\nadd.s64 %rd2, %rd2, 4; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p1, %r2, 4096; @%p1 bra A;";
    const auto races = [&](const std::string& value) {
        std::string body = same;
        body.replace(body.find("VALUE"), 5, value);
        for (int round = 0; round < 20; ++round) {
            PtxMachine machine(ptx_kernel(body));
            machine.options.threads = 4;
            const std::uint64_t address = machine.memory.allocate(4 * 4096, "");
            const std::string error = machine.launch("k", {8, 1, 1}, {1, 1, 1}, address);
            if (!error.empty()) return from_line(error);
        }
        return std::string();
    };
    CHECK(races("7") == "");
    CHECK(races("%ctaid.x").find("race: writes byte ") != std::string::npos);
}

TEST_CASE("interpreter: lanes that part meet again") {
    // Each lane counts its own loop; then all vote, which they can only do together.
    const std::string loop =
        "mov.u32 %r2, 0;\nA: add.s32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra A;\n"
        "vote.sync.all.pred %p2, !%p1, -1; @!%p2 trap;\n"
        "sub.s32 %r3, %r2, %r1; setp.ne.s32 %p1, %r3, 1; @%p1 trap;";
    CHECK(fault(loop, {32, 1, 1}) == "");
    // A lock that one lane holds while the others of its warp spin; then all meet.
    const std::string lock =
        "A: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra A;\n"
        "atom.global.add.u32 %r3, [%rd1+4], 1; atom.global.exch.b32 %r3, [%rd1], 0;\n"
        "redux.sync.add.u32 %r4, %r1, 15; setp.ne.u32 %p1, %r4, 6; @%p1 trap;";
    CHECK(fault(lock, {4, 1, 1}) == "");
    // One lane that takes long.
    const std::string slow =
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra B;\nmov.u32 %r2, 0;\n"
        "A: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 15000; @%p2 bra A;\n"
        "B: shfl.sync.idx.b32 %r3, %r1, 5, 31, -1; setp.ne.u32 %p1, %r3, 5; @%p1 trap; bar.sync 0;";
    CHECK(fault(slow, {32, 1, 1}) == "");
    const std::string table =
        "and.b32 %r2, %r1, 3;\nT: .branchtargets A, B, C, A;\nbrx.idx %r2, T;\nA: mov.u32 %r3, 1; bra D;\n"
        "B: mov.u32 %r3, 2; bra D;\nC: mov.u32 %r3, 3;\nD: redux.sync.add.u32 %r4, %r3, -1;\n"
        "setp.ne.u32 %p1, %r4, 56; @%p1 trap;";
    CHECK(fault(table, {32, 1, 1}) == "");
    const std::string fibonacci =
        ".func (.param .b32 r) f(.param .b32 n)\n{\n.reg .b32 %a<6>; .reg .pred %q<2>;\nld.param.u32 %a1, [n];\n"
        "setp.lt.u32 %q1, %a1, 2; @%q1 bra E;\nsub.u32 %a2, %a1, 1;\n{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a2; call "
        "(y), f, (x); ld.param.b32 %a3, [y]; }\nsub.u32 %a2, %a1, 2;\n{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a2; "
        "call (y), f, (x); ld.param.b32 %a4, [y]; }\nadd.u32 %a1, %a3, %a4;\nE: st.param.b32 [r], %a1; ret;\n}\n";
    CHECK(
        fault(
            "and.b32 %r2, %r1, 7;\n{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), f, (x); ld.param.b32 "
            "%r3, [y]; }\nredux.sync.add.u32 %r4, %r3, -1; setp.ne.u32 %p1, %r4, 132; @%p1 trap;",
            {32, 1, 1}, {}, fibonacci) == "");
}

TEST_CASE("interpreter: seeded schedules start from the same memory") {
    const std::string body = "atom.global.add.u32 %r2, [%rd1], 1;";
    PtxMachine machine(ptx_kernel(body));
    machine.options.schedules = 5;
    const auto address = machine.upload(std::vector<std::uint32_t>(16));
    CHECK(machine.launch("k", {4, 1, 1}, {64, 1, 1}, address) == "");
    CHECK(machine.download<std::uint32_t>(address, 1)[0] == 256);
    CHECK(fault("mov.u32 %r2, 0;", {64, 1, 1}, {2, 1, 1}, "", 5) == "");
}

TEST_CASE("interpreter: printf and assert") {
    const std::string before =
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
        ".global .align 1 .b8 text[12] = {37, 100, 32, 37, 53, 46, 49, 102, 37, 37, 10};\n"
        ".global .align 1 .b8 word[2] = {120, 0};\n";
    const std::string print =
        ".local .align 8 .b8 d[16];\nmov.u64 %rd2, d; cvta.local.u64 %rd2, %rd2; st.u32 [%rd2], %r1; mov.f64 %fd1, 1.25;\n"
        "st.f64 [%rd2+8], %fd1; mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3;\n{ .param .b64 x; .param .b64 y; .param .b32 z;\n"
        "st.param.b64 [x], %rd3; st.param.b64 [y], %rd2; call.uni (z), vprintf, (x, y); }";
    PtxMachine machine(ptx_kernel(print, before));
    machine.options.schedules = 3;
    CHECK(machine.launch("k", {}, {2, 1, 1}, std::uint64_t{0}) == "");
    CHECK(machine.printed == "0   1.2%\n1   1.2%\n");
    const std::string fails =
        "mov.u64 %rd3, word; cvta.global.u64 %rd3, %rd3;\n{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param "
        ".b64 e; st.param.b64 [a], %rd3; st.param.b64 [b], %rd3; st.param.b32 [c], 7; st.param.b64 [d], %rd3; st.param.b64 [e], "
        "1;\ncall.uni __assertfail, (a, b, c, d, e); }";
    CHECK(fault(fails, {}, {}, before) ==
          "PTX line 20 \"call.uni __assertfail, (a, b, c, d, e); }\": x:7: x: Assertion `x` failed");
    CHECK(last_code == 710);
}
