// cp.async: the bytes are there once their thread has waited for them, and whoever looks before is told so.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

// 1 KiB of shared memory at s; %r2: 16 bytes for each thread in it, %rd2: 16 bytes for each thread of the
// input.
const std::string kBegin =
    ".shared .align 16 .b8 s[1024];\nmov.u32 %r2, s;\nmad.lo.u32 %r2, %r1, 16, %r2;\n"
    "mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd2, %rd1;\n";
const std::string kCopy = "cp.async.cg.shared.global [%r2], [%rd2], 16;\n";
const std::string kCommit = "cp.async.commit_group;\n";
const std::string kWait = "cp.async.wait_group 0;\n";
const std::string kWaitAll = "cp.async.wait_all;\n";
const std::string kRead = "ld.shared.u32 %r5, [%r2];\n";

/// Input: words that are their numbers; the results of threads go behind, from byte 2048 on.
std::vector<std::uint32_t> words() {
    std::vector<std::uint32_t> all(1024);
    for (std::uint32_t i = 0; i < all.size(); ++i)
        all[i] = i;
    return all;
}

/// %r4 to %r7 of each thread behind `body`.
std::vector<std::uint32_t> results(const std::string& body, std::uint32_t threads) {
    PtxMachine machine(ptx_kernel(kBegin + body + "st.global.v4.u32 [%rd2+2048], {%r4,%r5,%r6,%r7};"));
    const std::uint64_t address = machine.upload(words());
    REQUIRE(machine.launch("k", {}, {threads, 1, 1}, address) == "");
    std::vector<std::uint32_t> all = machine.download<std::uint32_t>(address, 1024);
    return {all.begin() + 512, all.begin() + 512 + 4 * threads};
}

/// The reason of the fault, "" when there is none.
std::string fault(const std::string& body, std::uint32_t threads = 1) {
    PtxMachine machine(ptx_kernel(kBegin + body));
    machine.options.threads = 1;
    const std::uint64_t address = machine.memory.allocate(4096, "");
    REQUIRE(machine.memory.fill(address, 1, 2048));
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, address);
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

}  // namespace

TEST_CASE("interpreter: cp.async copies 4, 8 and 16 bytes, and zeros behind a shorter source") {
    const std::string load = "ld.shared.v4.u32 {%r4,%r5,%r6,%r7}, [%r2];\n";
    const std::vector<std::uint32_t> all = results(kCopy + kCommit + kWait + load, 32);
    for (std::uint32_t i = 0; i < all.size(); ++i)
        REQUIRE(all[i] == i);
    using Words = std::vector<std::uint32_t>;
    const std::string zeros = "st.shared.u64 [%r2], 0; st.shared.u64 [%r2+8], 0;\n";
    const auto one = [&](const std::string& body) { return results(zeros + body + kWaitAll + load, 1); };
    CHECK(one("cp.async.ca.shared.global [%r2+4], [%rd2+8], 4;\n") == Words{0, 2, 0, 0});
    CHECK(one("cp.async.ca.shared::cta.global.L2::128B [%r2+8], [%rd2+16], 8, 8;\n") == Words{0, 0, 4, 5});
    CHECK(one("cp.async.ca.shared.global [%r2], [%rd2+32], 16;\n") == Words{8, 9, 10, 11});
    CHECK(one("cp.async.cg.shared.global [%r2], [%rd2+1024], 16, 9;\n") == Words{256, 257, 2, 0});
    CHECK(one("mov.u32 %r3, 5;\ncp.async.ca.shared.global [%r2], [%rd2+1032], 8, %r3;\n") ==
          Words{258, 3, 0, 0});
    // Nothing is read from where nothing is.
    CHECK(one("mov.u64 %rd3, 16; cp.async.cg.shared.global [%r2], [%rd3], 16, 0;\n") == Words{0, 0, 0, 0});
    // Two groups, of which the first is waited for.
    CHECK(one(kCopy + kCommit + "cp.async.ca.shared.global [%r2+16], [%rd2], 4;\n" + kCommit +
              "cp.async.wait_group 1;\n") == Words{0, 1, 2, 3});
    // What the source was when the copy was issued.
    CHECK(one(kCopy + "st.global.u32 [%rd2], 99;\n") == Words{0, 1, 2, 3});
}

TEST_CASE("interpreter: a read before cp.async was waited for") {
    const std::string error =
        "reads 4 bytes at address 0x0 to which a copy is under way: cp.async not waited for (PTX line 19)";
    CHECK(fault(kCopy + kCommit + kWait + kRead) == "");
    CHECK(fault(kCopy + kWaitAll + kRead) == "");
    CHECK(fault(kCopy + kRead) == error);
    CHECK(fault(kCopy + kCommit + kRead) == error);
    CHECK(fault(kCopy + kWait + kRead) == error);  // it is in no group
    CHECK(fault(kCopy + kCommit + "cp.async.wait_group 1;\n" + kRead) == error);
    CHECK(fault(kCopy + kCommit + kCommit + "cp.async.wait_group 1;\n" + kRead) == "");
    CHECK(fault(kCopy + kCommit + kCommit + "cp.async.wait_group 2;\n" + kRead) == error);
    CHECK(fault("st.shared.u32 [%r2], 5;\n" + kCopy + kRead).find("not waited for (PTX line 20)") !=
          std::string::npos);
    CHECK(fault(kCopy + "ld.shared.u8 %r5, [%r2+15];\n").find("reads 1 byte at address 0xf to which") == 0);
    CHECK(fault(kCopy + "ld.shared.u64 %rd5, [%r2+8];\n").find("cp.async not waited for") !=
          std::string::npos);
    CHECK(fault(kCopy + "atom.shared.add.u32 %r5, [%r2], 1;\n").find("cp.async not waited for") !=
          std::string::npos);
    CHECK(fault(kCopy + "ld.shared.u32 %r5, [%r2+16];\n") ==
          "reads 4 bytes at address 0x10 that nothing has written");
    CHECK(
        fault(kCopy + "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];\n", 32) ==
        "reads 16 bytes at address 0x0 to which a copy is under way: cp.async not waited for (PTX line 19)");
}

TEST_CASE("interpreter: writes to bytes that cp.async copies to") {
    CHECK(
        fault(kCopy + "st.shared.u32 [%r2+12], 7;\n") ==
        "writes 4 bytes at address 0xc to which a copy is under way: cp.async not waited for (PTX line 19)");
    CHECK(fault(kCopy + "st.shared.u32 [%r2+16], 7;\n") == "");
    CHECK(fault(kCopy + "atom.shared.exch.b32 %r5, [%r2], 7;\n").find("cp.async not waited for") !=
          std::string::npos);
    CHECK(
        fault(kCopy + kCommit + kCopy).find("writes 16 bytes at address 0x0 to which a copy is under way") ==
        0);
    CHECK(fault(kCopy + kWaitAll + kCopy + kWaitAll + kRead) == "");
}

TEST_CASE("interpreter: threads wait for their own copies only") {
    const std::string first = "setp.eq.u32 %p1, %r1, 0;\n@%p1 " + kCopy;
    const std::string read = "ld.shared.u32 %r5, [s];\n";
    CHECK(fault(first + kWaitAll + "bar.sync 0;\n" + read, 64) == "");
    // Only a thread that copied nothing waits.
    CHECK(fault(first + "setp.eq.u32 %p2, %r1, 1;\n@%p2 " + kWaitAll + "bar.sync 0;\n" + read, 64) ==
          "reads 4 bytes at address 0x0 to which a copy is under way: cp.async not waited for (PTX line 20)");
    // The wait orders nothing for others; neither does a barrier that is before it.
    CHECK(fault(first + kWaitAll + read, 64) ==
          "race: reads byte 0 of shared memory, which thread (0,0,0) wrote, and nothing orders the two");
    CHECK(fault(first + "bar.sync 0;\n" + kWaitAll + read, 64) ==
          "race: reads byte 0 of shared memory, which thread (0,0,0) wrote, and nothing orders the two");
    // A buffer is filled again while others may still read it.
    const std::string last = "setp.eq.u32 %p1, %r1, 63;\n@%p1 " + kCopy + kWaitAll;
    const std::string used = "st.shared.u32 [%r2], 7; bar.sync 0; ld.shared.u32 %r5, [s+1008];\n";
    CHECK(fault(used + last, 64) ==
          "race: writes byte 1008 of shared memory, which thread (0,0,0) read, and nothing orders the two");
    CHECK(fault(used + "bar.sync 0;\n" + last, 64) == "");
}

TEST_CASE("interpreter: addresses of cp.async") {
    const auto copy = [](const std::string& to, const std::string& from, const std::string& size) {
        return fault("cp.async.ca.shared.global [" + to + "], [" + from + "], " + size + ";\n" + kWaitAll);
    };
    CHECK(copy("%r2", "%rd2", "16") == "");
    CHECK(copy("%r2+8", "%rd2", "16") == "address 0x8 is not aligned to 16 bytes");
    CHECK(copy("%r2", "%rd2+8", "16") == "address 0x10000000000008 is not aligned to 16 bytes");
    CHECK(copy("%r2", "%rd2+4", "8, 4") == "address 0x10000000000004 is not aligned to 8 bytes");
    CHECK(copy("%r2+1024", "%rd2", "4") ==
          "4 bytes at address 0x400 of shared memory: the block has 1024 bytes");
    CHECK(copy("%r2", "%rd2+4096", "4")
              .find("4 bytes at address 0x10000000001000 lie 0 bytes behind the end") == 0);
    CHECK(copy("%r2", "%rd2+4096", "4, 1").find("1 byte at address 0x10000000001000 lie") == 0);
    CHECK(copy("%r2", "%rd2+2048", "4") ==
          "reads 4 bytes at address 0x10000000000800 that nothing has written, at byte 2048 of allocation 1");
    CHECK(copy("%r2", "%rd2+2044", "4") == "");
    CHECK(copy("%r2", "%rd2", "8, 9") == "a source of 9 bytes for a copy of 8");
    CHECK(fault("mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;\ncp.async.ca.shared.global [%r2], [%rd3], 4;\n")
              .find("are not in device memory") != std::string::npos);
}

TEST_CASE("interpreter: forms of cp.async that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& operands) {
        const std::string error = fault(opcode + " " + operands + ";");
        const std::string begin = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, begin.size()) == begin);
        return error.substr(begin.size());
    };
    const std::string places = "[%r2], [%rd2]";
    CHECK(refused("cp.async.ca.shared.global", places) == "expected 3 to 4 operands, found 2");
    CHECK(refused("cp.async.ca.shared.global", places + ", 12") == "expected 4, 8 or 16 bytes");
    CHECK(refused("cp.async.cg.shared.global", places + ", 8") == "expected 16 bytes");
    CHECK(refused("cp.async.ca.shared.global", places + ", %r3") == "expected 4, 8 or 16 bytes");
    CHECK(refused("cp.async.ca.global.shared", places + ", 8") == "expected .shared.global");
    CHECK(refused("cp.async.shared.global", places + ", 8") == "not in this form");
    CHECK(refused("cp.async.ca.shared.global.L2::cache_hint", places + ", 8, 8, %rd3").find("operands") !=
          std::string::npos);
    CHECK(refused("cp.async.ca.shared.global", places + ", 8, %p1").find("is none of a register") !=
          std::string::npos);
    CHECK(refused("cp.async.wait_group", "%r1") == "expected a number of groups");
    CHECK(refused("cp.async.wait_group", "-1") == "expected a number of groups");
    CHECK(refused("cp.async.wait_all", "0") == "expected 0 operands, found 1");
    CHECK(refused("cp.async.commit_group", "0") == "expected 0 operands, found 1");
    CHECK(refused("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
                  places + ", 16, [%r2]") == "expected .tensor");
    CHECK(refused("cp.reduce", places) == "expected .async");
}
