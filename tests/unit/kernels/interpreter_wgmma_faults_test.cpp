// wgmma: what a program must not do around it, and forms that there are not.
#include "unit/kernels/wgmma_machine.hpp"

using namespace wgmma_machine;

namespace {

const std::uint64_t kA = descriptor(0, 0, 1024, 1);
const std::uint64_t kB = descriptor(16384, 0, 1024, 1);
const std::string kForm = "m64n8k16.f32.bf16.bf16";
const std::string kSums = registers("%d", 4);
const std::string kMma = mma(kForm, kSums, "%all, 1, 1, 0, 0");
const std::string kRest = kCommit + wait();
const std::string kUse = "add.f32 %f1, %d0, %d1;\n";

std::string fault_of(const std::string& body, std::uint32_t threads = 128) {
    return fault(body, kA, kB, threads);
}
bool has(const std::string& text, const std::string& part) {
    CAPTURE(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("interpreter: sums of wgmma are there when it was waited for") {
    CHECK(fault_of(kFence + kMma + kRest + kUse) == "");
    const std::string early = "uses a register of a wgmma.mma_async that wgmma.wait_group has not waited for";
    CHECK(fault_of(kFence + kMma + kUse) == early);
    CHECK(fault_of(kFence + kMma + kCommit + kUse) == early);
    CHECK(fault_of(kFence + kMma + wait() + kUse) == early);             // not committed
    CHECK(fault_of(kFence + kMma + kCommit + wait(1) + kUse) == early);  // one may be in flight
    CHECK(fault_of(kFence + kMma + kCommit + kMma + wait() + kUse) == early);
    CHECK(fault_of(kFence + kMma + kCommit + "mov.f32 %d3, 0f3f800000;\n") == early);
    CHECK(fault_of(kFence + kMma + kCommit + "st.global.v2.f32 [%out], {%d0, %d2};\n") == early);
    CHECK(fault_of(kFence + kMma + kCommit + "@%some add.f32 %f1, %d0, %d1;\n") == early);
    // Other registers, and those of an earlier group.
    CHECK(fault_of(kFence + kMma + kCommit + "add.f32 %f1, %d4, %d5;\n" + wait()) == "");
    const std::string other = mma(kForm, "{%d8, %d9, %d10, %d11}", "%all, 1, 1, 0, 0");
    CHECK(fault_of(kFence + kMma + kCommit + other + kCommit + wait(1) + kUse + wait()) == "");
    CHECK(fault_of(kFence + other + kCommit + kMma + kCommit + wait(1) + kUse) == early);
    // Registers of A, which are read at any time.
    const std::string from_registers = mma(kForm, kSums, "%all, 1, 1, 0", registers("%a", 4));
    CHECK(fault_of(kFence + from_registers + kCommit + "mov.b32 %a2, 0;\n") == early);
    CHECK(fault_of(kFence + from_registers + kRest + "mov.b32 %a2, 0;\n") == "");
}

TEST_CASE("interpreter: wgmma.fence where the PTX manual asks for it") {
    const std::string missing = "needs a wgmma.fence before it: ";
    const std::string used = missing + "one of its registers was used since the last one";
    CHECK(fault_of(kMma + kRest) == missing + "there was none in this function");
    CHECK(fault_of(kFence + "mov.f32 %d1, 0f3f800000;\n" + kMma + kRest) == used);
    CHECK(fault_of(kFence + kUse + kMma + kRest) == used);
    CHECK(fault_of(kFence + kMma + kRest + kUse + kMma + kRest) == used);
    CHECK(fault_of(kFence + "mov.b32 %a1, 0;\n" + mma(kForm, kSums, "%all, 1, 1, 0", registers("%a", 4)) +
                   kRest) == used);
    CHECK(fault_of(kFence + kMma + kRest + kUse + kFence + kMma + kRest) == "");
    CHECK(fault_of(kFence + "mov.f32 %d4, 0f3f800000;\n" + kMma + kRest) == "");
    // Sums of the same shape need none, those of another one do.
    const std::string wide = mma("m64n16k16.f32.bf16.bf16", registers("%d", 8), "%all, 1, 1, 0, 0");
    CHECK(fault_of(kFence + kMma + kMma + kRest + kMma + kRest) == "");
    CHECK(fault_of(kFence + kMma + kRest + wide + kRest) ==
          missing + "it sums up what one of another shape did");
    CHECK(fault_of(kFence + kMma + wide + kRest) ==
          "one of its registers is that of another wgmma.mma_async that was not waited for");
    CHECK(fault_of(kFence + kMma + kRest + kFence + wide + kRest) == "");
}

TEST_CASE("interpreter: all four warps come to wgmma") {
    has(fault_of(kFence + kMma + kRest, 96), "needs the four warps of a warpgroup, and the block has 3");
    // The fifth warp of a block belongs to no whole warpgroup.
    has(fault_of(kFence, 160), "needs the four warps of a warpgroup, and the block has 5");
    CHECK(fault_of("setp.ge.u32 %p1, %t, 128;\n@%p1 exit;\n" + kFence + kMma + kRest, 160) == "");
    const std::string three = "setp.ge.u32 %p1, %t, 96;\n@%p1 bra END;\n";
    has(fault_of(three + kFence + kMma + kRest + "END: exit;"),
        "warpgroup deadlock: warp 0 waits at PTX line ");
    has(fault_of(kFence + three + kMma + kRest + "END: bar.sync 0;"),
        "barrier deadlock: barrier 0 has 1 of 4 warps");
    // One has ended, or waits for others in its turn.
    has(fault_of("setp.lt.u32 %p1, %t, 32;\n@%p1 exit;\nbar.sync 0;\n" + kFence), "and warp 0 has ended");
    has(fault_of("setp.ge.u32 %p1, %t, 96;\n@%p1 exit;\n" + kFence),
        "warpgroup deadlock: warp 0 waits at PTX line ");
    // At two places.
    has(fault_of("setp.ge.u32 %p1, %t, 96;\n@%p1 bra OTHER;\n" + kFence + "bra END;\nOTHER:\n" + kFence +
                 "END: exit;"),
        "of the warpgroup waits at PTX line ");
    has(fault_of("@%some bra NEXT;\n" + kFence + "NEXT: exit;"), "do not execute this instruction");
    has(fault_of("@%some " + kFence), "do");
    has(fault_of("@%some " + kFence + kFence), "do");
}

TEST_CASE("interpreter: all four warps come to setmaxnreg") {
    const std::string change = "setmaxnreg.dec.sync.aligned.u32 40;\n";
    CHECK(fault_of(change) == "");
    has(fault_of(change, 160), "needs the four warps of a warpgroup, and the block has 5");
    has(fault_of("setp.ge.u32 %p1, %t, 96;\n@%p1 bra END;\n" + change + "END: exit;"),
        "warpgroup deadlock: warp 0 waits at PTX line ");
    has(fault_of("setp.lt.u32 %p1, %t, 32;\n@%p1 exit;\nbar.sync 0;\n" + change), "and warp 0 has ended");
    has(fault_of("setp.ge.u32 %p1, %t, 96;\n@%p1 bra OTHER;\n" + change + "bra END;\nOTHER:\n" + change +
                 "END: exit;"),
        "of the warpgroup waits at PTX line ");
    has(fault_of("@%some " + change), "do");
}

TEST_CASE("interpreter: what all threads of a warpgroup give must be the same") {
    const std::string differ = "the threads of the warpgroup have different ";
    CHECK(fault_of("@!%some add.u64 %da, %da, 2;\n" + kFence + kMma) == differ + "descriptors of A");
    CHECK(fault_of("@!%some add.u64 %db, %db, 2;\n" + kFence + kMma) == differ + "descriptors of B");
    CHECK(fault_of("setp.ge.u32 %p1, %t, 64;\n@%p1 add.u64 %db, %db, 2;\n" + kFence + kMma) ==
          differ + "descriptors of B");
    CHECK(fault_of(kFence + mma(kForm, kSums, "%some, 1, 1, 0, 0")) == differ + "scale-d");
    CHECK(fault_of("setp.ge.u32 %p1, %t, 64;\n" + kFence + mma(kForm, kSums, "%p1, 1, 1, 0, 0")) ==
          differ + "scale-d");
}

TEST_CASE("interpreter: descriptors of wgmma that are none") {
    const std::string body = kFence + kMma + kRest;
    const auto a = [&](std::uint64_t bits) { return fault(body, bits, kB); };
    const auto b = [&](std::uint64_t bits) {
        return fault(
            kFence + mma("m64n128k16.f32.bf16.bf16", registers("%d", 64), "%all, 1, 1, 0, 1") + kRest, kA,
            bits);
    };
    CHECK(a(kA) == "");
    CHECK(a(descriptor(32, 0, 1024, 1)) == "");  // the next step along K
    has(a(descriptor(128, 0, 1024, 1)),
        "descriptor of A: the matrix starts at 128, which is not in the first row");
    has(a(descriptor(16512, 0, 1024, 1)), "the matrix starts at 16512");
    has(a(descriptor(64, 0, 512, 2)), "the swizzle's pattern of 512 bytes");
    has(a(descriptor(32, 0, 256, 3)), "the swizzle's pattern of 256 bytes");
    has(a(descriptor(0, 0, 512, 1)),
        "the stride of 512 bytes is no multiple of the swizzle's pattern, which has 1024");
    has(a(descriptor(0, 0, 128, 3)), "the stride of 128 bytes is no multiple");
    CHECK(a(kA | 1ULL << 14) == "descriptor of A: bits that must be 0 are set");
    CHECK(a(kA | 1ULL << 31) == "descriptor of A: bits that must be 0 are set");
    CHECK(a(kA | 1ULL << 46) == "descriptor of A: bits that must be 0 are set");
    CHECK(a(kA | 1ULL << 61) == "descriptor of A: bits that must be 0 are set");
    CHECK(a(kA | 1ULL << 49) == "not supported by the interpreter: a base offset in the descriptor of A");
    CHECK(b(descriptor(0, 8192, 1024, 1)) == "");
    has(b(descriptor(0, 512, 1024, 1)), "descriptor of B: the leading dimension of 512 bytes is no multiple");
    has(b(descriptor(0, 8192, 1040, 1)), "descriptor of B: the stride of 1040 bytes is no multiple");
    has(a(descriptor(31744, 0, 1024, 1)), "that nothing has written");
    has(a(descriptor(32768, 0, 1024, 1)), "that nothing has written");
    has(a(descriptor(262128, 16, 16, 0)), "of shared memory: the block has 33792 bytes");
}

TEST_CASE("interpreter: what wgmma reads stays as it is until it was waited for") {
    const std::string write = "mov.u32 %r3, s;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%r3], 7;\n";
    const std::string elsewhere =
        "mov.u32 %r3, s;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%r3+12288], 7;\n";
    has(fault_of(kFence + kMma + write + kRest), "was changed before it was waited for");
    has(fault_of(kFence + kMma + kCommit + write + wait()), "was changed before it was waited for");
    CHECK(fault_of(kFence + kMma + kCommit + elsewhere + wait()) == "");
    CHECK(fault_of(kFence + kMma + kRest + write) == "");
    // Another warp's rows: ordered by the wait, and by nothing before it.
    const std::string other = "mov.u32 %r3, s;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%r3+4096], 7;\n";
    CHECK(fault_of(kFence + kMma + kRest + other) == "");
    has(fault_of(kFence + kMma + kCommit + other + wait()), "race: writes byte 4096 of shared memory");
    // A warp that does not multiply.
    const std::string fifth = "setp.ge.u32 %p1, %t, 128;\n@%p1 bra FIFTH;\n" + kFence + kMma + kRest;
    const std::string from_fifth =
        "mov.u32 %r3, s;\nsetp.eq.u32 %p1, %t, 128;\n@%p1 st.shared.u32 [%r3], 7;\n";
    has(fault_of(fifth + "exit;\nFIFTH:\n" + from_fifth, 160), "race: ");
    CHECK(fault_of(fifth + "bar.sync 1;\nexit;\nFIFTH: bar.sync 1;\n" + from_fifth, 160) == "");
    has(fault_of("setp.ge.u32 %p1, %t, 128;\n@%p1 bra FIFTH;\n" + kFence + kMma + kCommit +
                     "bar.arrive 1, 160;\n" + wait() + "exit;\nFIFTH: bar.sync 1, 160;\n" + from_fifth,
                 160),
        "race: ");
}

TEST_CASE("interpreter: forms of wgmma that are not known") {
    const auto refused = [](const std::string& body, const std::string& target = "sm_90a") {
        const std::string error = fault(body, kA, kB, 128, target);
        const std::string start = "not supported by the interpreter: ";
        CAPTURE(error);
        REQUIRE(error.substr(0, start.size()) == start);
        return error.substr(error.find(": ", start.size()) + 2);
    };
    const auto product = [&](const std::string& f, const std::string& rest = "%all, 1, 1, 0, 0",
                             const std::string& d = kSums) { return refused(mma(f, d, rest)); };
    CHECK(refused(kFence, "sm_90") == "needs sm_90a, the module is for sm_90");
    CHECK(refused(kFence, "sm_100a") == "needs sm_90a, the module is for sm_100a");
    CHECK(refused("setmaxnreg.inc.sync.aligned.u32 240;", "sm_90") ==
          "needs sm_90a, the module is for sm_90");
    CHECK(refused("setmaxnreg.inc.sync.aligned.u32 241;") == "expected a multiple of 8 from 24 to 256");
    CHECK(refused("setmaxnreg.dec.sync.aligned.u32 16;") == "expected a multiple of 8 from 24 to 256");
    CHECK(refused("setmaxnreg.dec.sync.aligned.u32 264;") == "expected a multiple of 8 from 24 to 256");
    CHECK(refused("setmaxnreg.dec.sync.aligned.u32 %r1;") == "expected a multiple of 8 from 24 to 256");
    CHECK(refused("setmaxnreg.set.sync.aligned.u32 40;") == "expected .inc or .dec");
    CHECK(refused("setmaxnreg.dec.sync.u32 40;") == "expected .sync.aligned");
    CHECK(refused("setmaxnreg.dec.sync.aligned.u64 40;") == "not for this type");
    CHECK(refused("wgmma.fence.sync;") == "expected .sync.aligned");
    CHECK(refused("wgmma.wait_group.sync.aligned %r1;") == "expected a number of groups");
    CHECK(refused("wgmma.wait_group.sync.aligned -1;") == "expected a number of groups");
    CHECK(refused("wgmma.commit_group.sync.aligned 1;") == "expected 0 operands, found 1");
    CHECK(product("m64n12k16.f32.bf16.bf16") == "not for this shape");
    CHECK(product("m64n264k16.f32.bf16.bf16") == "not for this shape");
    CHECK(product("m128n8k16.f32.bf16.bf16") == "not for this shape");
    CHECK(product("m64n8k8.f32.bf16.bf16") == "not for this shape with these types");
    CHECK(product("m64n8k16.f16.bf16.bf16") == "not for this shape with these types");
    CHECK(product("m64n8k16.f32.bf16.f16") == "not for this shape with these types");
    CHECK(product("m64n40k32.s32.s8.s8", "%all", registers("%e", 20)) ==
          "not for this shape with these types");
    CHECK(product("m64n8k16.f64.f64.f64") == "not for this shape with these types");
    CHECK(product("m64n8k16.f32.bf16.bf16.satfinite") == ".satfinite of this type");
    CHECK(product(kForm, "%all, 1, 1, 0") == "expected 8 operands, found 7");
    CHECK(product(kForm, "%all, 1, 1, 0, 2") == "expected 0 or 1, found \"2\"");
    CHECK(product(kForm, "%all, 0, 1, 0, 0") == "expected 1 or -1, found \"0\"");
    CHECK(product(kForm, "1, 1, 1, 0, 0").find("expected a predicate") == 0);
    CHECK(product("m64n8k8.f32.tf32.tf32", "%all, 1, 1, 0, 0") == "expected 6 operands, found 8");
    CHECK(product(kForm, "%all, 1, 1, 0, 0", registers("%d", 8)) ==
          "expected a vector of 4 registers, found one of 8");
    CHECK(refused(mma(kForm, kSums, "%all, 1, 1, 0", "{%a0, %a1}")) ==
          "expected a vector of 4 registers, found one of 2");
    CHECK(refused(mma(kForm, kSums, "%all, 1, 1, 0, 0", "%r1")) ==
          "operand \"%r1\" has 32 bits, expected 64");
    CHECK(refused("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 " + kSums +
                  ", %da, %db, %r1, 0, %all, 1, 1, 0, 0;") == "expected .sync.aligned");
}
