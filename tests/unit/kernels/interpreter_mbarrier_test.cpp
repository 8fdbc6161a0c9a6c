// mbarrier: phases, who waits for whom, and what is ordered by it.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

// An mbarrier for `count` arrivals at m, made by thread 0; 256 words at s, of which %r2 is the thread's own.
std::string begin(const std::string& count) {
    return ".shared .align 8 .b64 m;\n.shared .align 16 .b32 s[256];\nsetp.eq.u32 %p1, %r1, 0;\n"
           "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2;\n@%p1 mbarrier.init.shared::cta.b64 [m], " +
           count + ";\nbar.sync 0;\n";
}
const std::string kArrive = "mbarrier.arrive.shared.b64 %rd4, [m];\n";
const std::string kWait = "W: mbarrier.test_wait.shared.b64 %p2, [m], %rd4;\n@!%p2 bra W;\n";
const std::string kWrite = "st.shared.u32 [%r2], %r1;\n";
const std::string kReadOther =
    "mov.u32 %r3, s+252; mad.lo.s32 %r3, %r1, -4, %r3;\nld.shared.u32 %r4, [%r3];\n";

std::string fault(const std::string& body, std::uint32_t threads = 1, const std::string& target = "sm_80") {
    std::string text = ptx_kernel(body);
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    machine.options.threads = 1;
    machine.options.step_limit = 20000;
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(256));
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, address);
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

/// %r7 of one thread behind `body`.
std::uint32_t result(const std::string& body, const std::string& target = "sm_80") {
    std::string text = ptx_kernel(body + "st.global.u32 [%rd1], %r7;");
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(4));
    REQUIRE(machine.launch("k", {}, {}, address) == "");
    return machine.download<std::uint32_t>(address, 1)[0];
}

const std::string kTest = "mbarrier.test_wait.shared.b64 %p2, [m], %rd4;\nselp.b32 %r7, 1, 0, %p2;\n";
std::string parity(const std::string& of) {
    return "mbarrier.test_wait.parity.shared.b64 %p2, [m], " + of + ";\nselp.b32 %r7, 1, 0, %p2;\n";
}
std::string pending(const std::string& more) {
    return more + "mbarrier.arrive.shared.b64 %rd5, [m];\nmbarrier.pending_count.b64 %r7, %rd5;\n";
}

}  // namespace

TEST_CASE("interpreter: phases of an mbarrier") {
    CHECK(result(begin("2") + kArrive + kTest) == 0);
    CHECK(result(begin("2") + kArrive + kArrive + kTest) == 1);
    CHECK(result(begin("1") + kArrive + kTest) == 1);
    CHECK(result(begin("1") + kArrive + "mbarrier.test_wait.acquire.cta.shared::cta.b64 %p2, [m], %rd4;\n" +
                 kTest) == 1);
    // Parities: of the phase before the first one, of the first one, and when it is complete.
    CHECK(result(begin("2") + parity("1")) == 1);
    CHECK(result(begin("2") + kArrive + parity("0")) == 0);
    CHECK(result(begin("2") + kArrive + kArrive + parity("0")) == 1);
    CHECK(result(begin("2") + kArrive + kArrive + parity("1")) == 0);
    CHECK(result(begin("2") + kArrive + kArrive + kArrive + kArrive + parity("1")) == 1);
    CHECK(result(begin("3") + pending("")) == 3);
    CHECK(result(begin("3") + pending(kArrive)) == 2);
    CHECK(result(begin("3") + pending(kArrive + kArrive + kArrive)) == 3);
    CHECK(result(begin("3") + pending("mbarrier.arrive_drop.shared.b64 _, [m];\n" + kArrive + kArrive)) == 2);
    CHECK(result(begin("9") + pending("mbarrier.arrive.noComplete.release.cta.shared.b64 %rd4, [m], 4;\n")) ==
          5);
    CHECK(result(begin("9") + pending("mbarrier.arrive.shared.b64 %rd4, [m], 5;\n"), "sm_90") == 4);
    CHECK(result(begin("1") + kArrive +
                     "mbarrier.try_wait.shared.b64 %p2, [m], %rd4, 1000;\nselp.b32 %r7, 1, 0, %p2;\n",
                 "sm_90") == 1);
    // A generic address, and an mbarrier that is made again.
    CHECK(result(begin("1") +
                 "mov.u64 %rd5, m; cvta.shared.u64 %rd5, %rd5; mbarrier.arrive.b64 %rd4, [%rd5];\n" +
                 kTest) == 1);
    CHECK(result(begin("1") + "mbarrier.inval.shared.b64 [m]; mbarrier.init.shared.b64 [m], 7;\n" +
                 pending("")) == 7);
}

TEST_CASE("interpreter: an mbarrier orders what is before an arrival and behind a wait") {
    CHECK(fault(begin("64") + kWrite + kArrive + kWait + kReadOther, 64) == "");
    CHECK(fault(begin("64") + kWrite + kArrive + kReadOther, 64).find("race: ") == std::string::npos);
    CHECK(fault(begin("64") + kWrite + kArrive + kReadOther, 64).find("that nothing has written") !=
          std::string::npos);
    CHECK(fault(begin("64") + kWrite + "bar.sync 0;\n" + kArrive + "st.shared.u32 [%r2], 7;\n" + kWait +
                    kReadOther,
                64)
              .find("race: ") == 0);
    CHECK(fault(begin("64") + "st.shared.u32 [%r2], 3; bar.sync 0;\n" + kWrite + kArrive + kReadOther, 64)
              .find("race: ") == 0);
    // Initialised, and used by others without a barrier between.
    const std::string unordered = begin("64").substr(0, begin("64").find("bar.sync"));
    CHECK(fault(unordered + "@!%p1 " + kArrive, 64).find("race: changes byte ") == 0);
}

TEST_CASE("interpreter: copies that arrive at an mbarrier") {
    const std::string copy =
        "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
        "cp.async.ca.shared.global [%r2], [%rd2], 4;\n";
    const std::string with = "cp.async.mbarrier.arrive.shared.b64 [m];\n";
    const std::string counted = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [m];\n";
    const std::string read = "ld.shared.u32 %r4, [%r2];\n";
    CHECK(fault(begin("64") + copy + with + kArrive + kWait + kReadOther, 64) == "");
    CHECK(fault(begin("128") + copy + counted + kArrive + kWait + kReadOther, 64) == "");
    CHECK(fault(begin("64") + copy + with + kArrive + read, 64).find("cp.async not waited for (PTX line ") !=
          std::string::npos);
    CHECK(fault(begin("64") + copy + kArrive + kWait + kReadOther, 64)
              .find("cp.async not waited for (PTX line ") != std::string::npos);
    CHECK(fault(begin("64") + with + copy + kArrive + kWait + kReadOther, 64)
              .find("cp.async not waited for (PTX line ") != std::string::npos);
    CHECK(fault(begin("64") + copy + counted + kArrive, 64).find("cp.async") == std::string::npos);
    CHECK(fault(begin("1") + counted + counted + counted) == "");
    CHECK(fault(begin("64") + copy + counted + "mov.u64 %rd4, 0;\n" + kWait + kReadOther, 64) == "");
    CHECK(fault(begin("65") + copy + counted + kArrive + read, 64).find("cp.async not waited for") !=
          std::string::npos);
}

TEST_CASE("interpreter: what is no mbarrier, and arrivals that nothing waits for") {
    const std::string none = ".shared .align 8 .b64 m;\n";
    CHECK(fault(none + kArrive) == "reads 8 bytes at address 0x0 that nothing has written");
    CHECK(fault(none + "st.shared.u64 [m], 5;\n" + kArrive) == "there is no mbarrier at address 0x0");
    CHECK(fault(begin("1") + "mbarrier.inval.shared.b64 [m];\n" + kArrive) ==
          "reads 8 bytes at address 0x0 that nothing has written");
    CHECK(fault(none + "mbarrier.init.shared.b64 [m], 0;") ==
          "an mbarrier for 0 arrivals: expected 1 to 1048575");
    CHECK(fault(none + "mbarrier.init.shared.b64 [m], 1048576;") ==
          "an mbarrier for 1048576 arrivals: expected 1 to 1048575");
    CHECK(fault(none + "mbarrier.init.shared.b64 [m+4], 1;") == "address 0x4 is not aligned to 8 bytes");
    CHECK(fault(none + "mbarrier.init.shared.b64 [m+8192], 1;").find("of shared memory: the block has") !=
          std::string::npos);
    CHECK(fault("mbarrier.init.b64 [%rd1], 1;") == "address 0x10000000000000 is not in shared memory");
    CHECK(fault(begin("2") + "mbarrier.arrive.noComplete.shared.b64 %rd4, [m], 2;") ==
          ".noComplete of the last 2 arrivals");
    CHECK(fault(begin("2") + "mbarrier.arrive.shared.b64 %rd4, [m], 3;", 1, "sm_90") ==
          "3 arrivals at an mbarrier that waits for 2");
    CHECK(fault(begin("2") + "mbarrier.arrive.shared.b64 %rd4, [m], 0;", 1, "sm_90") ==
          "0 arrivals at an mbarrier that waits for 2");
    CHECK(fault(begin("1") + "mbarrier.arrive_drop.shared.b64 %rd4, [m];\n" + kArrive) ==
          "1 arrivals at an mbarrier that waits for 0");
    // Nobody else comes.
    CHECK(fault(begin("2") + kArrive + kWait) ==
          "kernel k: more than 20000 warp instructions (CUDAMATRIX_INTERPRETER_STEPS)");
}

TEST_CASE("interpreter: forms of mbarrier that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& operands,
                            const std::string& target = "sm_80") {
        const std::string error = fault(begin("9") + opcode + " " + operands + ";", 1, target);
        const std::string start = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, start.size()) == start);
        return error.substr(start.size());
    };
    CHECK(
        fault(begin("9"), 1, "sm_75") ==
        "not supported by the interpreter: mbarrier.init.shared::cta.b64: needs sm_80, the module is for sm_75");
    CHECK(refused("mbarrier.try_wait.shared.b64", "%p2, [m], %rd4") ==
          "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.arrive.shared.b64", "%rd4, [m], 2") == "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.arrive.expect_tx.shared.b64", "%rd4, [m], 2") ==
          "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.arrive.expect_tx.shared.b64", "%rd4, [m]", "sm_90") ==
          "expected 3 operands, found 2");
    CHECK(refused("mbarrier.arrive.release.cluster.shared.b64", "%rd4, [m]") ==
          "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.arrive.shared::cluster.b64", "_, [m]") == "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.test_wait.acquire.cluster.shared.b64", "%p2, [m], %rd4") ==
          "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.test_wait.acquire.gpu.shared.b64", "%p2, [m], %rd4", "sm_90") ==
          "expected a type, found .gpu");
    CHECK(refused("mbarrier.arrive.noComplete.shared.b64", "%rd4, [m]") == "expected 3 operands, found 2");
    CHECK(refused("mbarrier.init.global.b64", "[m], 1") == "not in this state space");
    CHECK(refused("mbarrier.init.shared.b32", "[m], 1") == "not for this type");
    CHECK(refused("mbarrier.test_wait.shared.b64", "%r4, [m], %rd4").find("expected a predicate to write") ==
          0);
    CHECK(refused("mbarrier.test_wait.shared.b64", "%p2, [m], %r4") ==
          "operand \"%r4\" has 32 bits, expected 64");
    CHECK(refused("mbarrier.test_wait.parity.shared.b64", "%p2, [m], %rd4") ==
          "operand \"%rd4\" has 64 bits, expected 32");
    CHECK(refused("mbarrier.complete_tx.shared.b64", "[m], 2") == "needs sm_90, the module is for sm_80");
    CHECK(refused("mbarrier.expect_tx.relaxed.gpu.shared.b64", "[m], 2", "sm_90") ==
          "expected .cta or .cluster");
    CHECK(refused("mbarrier.expect_tx.shared.b64", "[m], %rd4", "sm_90") ==
          "operand \"%rd4\" has 64 bits, expected 32");
    CHECK(refused("mbarrier.drop_tx.shared.b64", "[m], 2", "sm_90") == "not in this form");
    CHECK(refused("cp.async.mbarrier.complete.shared.b64", "[m]") == "expected .arrive");
    CHECK(refused("cp.async.mbarrier.arrive.global.b64", "[m]") == "not in this state space");
}

TEST_CASE("interpreter: nvcc's mbarriers") {
    std::vector<std::uint32_t> words(3 * 128 * 4);
    for (std::uint32_t i = 0; i < words.size(); ++i)
        words[i] = i;
    PtxMachine machine(ptx_file("mbarrier.ptx"));
    machine.options.schedules = 4;
    struct {
        std::uint64_t from, to;
        int rounds;
    } arguments{machine.upload(words), 0, 3};
    arguments.to = machine.upload(std::vector<std::uint32_t>(words.size()));
    CHECK(machine.launch("exchange", {}, {128, 1, 1}, arguments) == "");
    std::vector<std::uint32_t> got = machine.download<std::uint32_t>(arguments.to, words.size());
    for (std::uint32_t i = 0; i < words.size(); ++i)
        REQUIRE(got[i] == i / 512 * 512 + (127 - i / 4 % 128) * 4 + i % 4);
    CHECK(machine.launch("hand_over", {}, {128, 1, 1}, arguments) == "");
    got = machine.download<std::uint32_t>(arguments.to, 192);
    for (std::uint32_t i = 0; i < 192; ++i)
        REQUIRE(got[i] == i / 64 * 64 + 63 - i % 64);
}
