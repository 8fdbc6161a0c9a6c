// What the blocks of a cluster do with each other's mbarriers: copies of tensors to several of them, and
// arrivals.
#include "unit/kernels/ptx_machine.hpp"
#include "unit/kernels/tensor_map_request.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

constexpr std::size_t kBytesOfBox = 1024;  // Request's

struct alignas(64) Arguments {
    std::uint8_t map[128] = {};
    std::uint64_t out = 0;
};

const std::string kSync = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n";
const std::string kExpect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], 1024;\n";
const std::string kWait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 0;\n@!%p2 bra W;\n";
const std::string kRead = "ld.shared.u32 %r5, [s];\n";
const std::string kGive =
    "mov.u32 %r2, 0; mov.u32 %r3, s;\nG: ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4;\n"
    "add.u32 %r3, %r3, 4; add.u64 %out, %out, 4; add.u32 %r2, %r2, 4;\nsetp.lt.u32 %p3, %r2, 1024; @%p3 bra G;\n";

// By the first block, to those of `mask`.
std::string copy(const std::string& mask) {
    return "mov.u16 %h1, " + mask +
           ";\n@%first cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
           ".multicast::cluster [%to], [%map, {0, 0}], [m], %h1;\n";
}

// An mbarrier for `arrivals` in each block, of one thread; %other is the other block's rank.
std::string kernel(const std::string& body, const std::string& begin = kSync,
                   const std::string& arrivals = "1") {
    return ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 1024 .b8 s[2048];\n.shared .align 8 .b64 m;\n"
           ".visible .entry k(.param .align 64 .b8 q[128], .param .u64 o)\n"
           "{\n.reg .pred %p<9>, %first;\n.reg .b16 %h<4>;\n.reg .b32 %r<20>, %to, %rank, %other, %there, %size;\n"
           ".reg .b64 %rd<9>, %map, %out;\nmov.b64 %rd1, q; cvta.param.u64 %map, %rd1; ld.param.u64 %out, [o];\n"
           "mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %first, %rank, 0; xor.b32 %other, %rank, 1;\n"
           "mul.wide.u32 %rd2, %rank, 1024; add.u64 %out, %out, %rd2; mov.u32 %to, s; mov.u32 %size, 1024;\n"
           "mbarrier.init.shared::cta.b64 [m], " +
           arrivals + ";\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\n" + begin + body +
           "\n}\n";
}

struct Outcome {
    std::string error;
    std::vector<std::uint8_t> bytes;
};

Outcome run(const std::string& text, unsigned schedules = 1, std::uint32_t blocks = 2,
            bool cooperative = false) {
    PtxMachine machine(text);
    machine.options.threads = 1;
    machine.options.step_limit = 300000;
    machine.options.schedules = schedules;
    machine.cooperative = cooperative;
    machine.cluster = {cooperative ? 1 : blocks, 1, 1};
    std::vector<std::uint8_t> tensor(8192);
    for (std::size_t i = 0; i < tensor.size(); ++i)
        tensor[i] = static_cast<std::uint8_t>(i % 251);
    Request request;
    request.address = machine.upload(tensor);
    Arguments arguments;
    REQUIRE(request.encode(arguments.map) == 0);
    arguments.out = machine.upload(std::vector<std::uint8_t>(2 * kBytesOfBox));
    Outcome outcome;
    outcome.error = machine.launch("k", {blocks, 1, 1}, {}, arguments);
    outcome.bytes = machine.download<std::uint8_t>(arguments.out, 2 * kBytesOfBox);
    return outcome;
}

/// Behind the place.
std::string fault(const std::string& body, const std::string& begin = kSync,
                  const std::string& arrivals = "1", std::uint32_t blocks = 2) {
    const std::string error = run(kernel(body, begin, arrivals), 1, blocks).error;
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

void has(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
}

// Row 0 of the box, of 16 elements in 2 bytes, is the tensor's.
bool has_box(const Outcome& outcome, std::size_t block) {
    const std::uint8_t* got = &outcome.bytes[block * kBytesOfBox];
    for (std::size_t i = 0; i < 16; ++i) {
        if (int(got[i]) != int(i)) return false;
    }
    return true;
}

/// One block of the cluster waits for ever.
void deadlock(const std::string& body, const std::string& block, const std::string& lacks,
              const std::string& arrivals = "1") {
    const std::string error = fault(body, kSync, arrivals);
    has(error, "in block (" + block + ",0,0) warp 0 waits at PTX line ");
    has(error, " for an mbarrier that lacks " + lacks);
}

const std::string kMap = "mov.u32 %r6, m; mapa.shared::cluster.u32 %there, %r6, %other;\n";
const std::string kArrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there];\n";
const std::string kWaitCluster =
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [m], 0;\n@!%p2 bra W;\n";

}  // namespace

TEST_CASE("interpreter: one copy for several blocks of a cluster") {
    for (const unsigned schedules : {1U, 4U}) {
        const Outcome both = run(kernel(kExpect + copy("3") + kWait + kGive + kSync), schedules);
        CHECK(both.error == "");
        CHECK(has_box(both, 0));
        CHECK(has_box(both, 1));
        CHECK(std::equal(both.bytes.begin(), both.bytes.begin() + kBytesOfBox,
                         both.bytes.begin() + kBytesOfBox));
    }
    // To one of them, be it the own or the other one.
    const Outcome own = run(kernel("@!%first bra E;\n" + kExpect + copy("1") + kWait + kGive + "E:" + kSync));
    CHECK(own.error == "");
    CHECK(has_box(own, 0));
    CHECK(!has_box(own, 1));
    const Outcome other =
        run(kernel(copy("2") + "@%first bra E;\n" + kExpect + kWait + kGive + "E:" + kSync));
    CHECK(other.error == "");
    CHECK(!has_box(other, 0));
    CHECK(has_box(other, 1));
    CHECK(fault(kExpect + copy("1") + kWait + kRead, kSync, "1", 1) == "");
}

TEST_CASE("interpreter: each block that gets a copy waits for its bytes") {
    const std::string rest = kWait + kSync;
    CHECK(
        fault(kExpect + copy("1") + rest) ==
        "kernel k, block (0,0,0): cluster barrier deadlock: 1 of 2 warps of its cluster have come; in block "
        "(1,0,0) warp 0 waits at PTX line 23 for an mbarrier that lacks 0 arrivals and 1024 bytes");
    deadlock(kExpect + copy("2") + rest, "0", "0 arrivals and 1024 bytes");
    const std::string less =
        "@!%first mov.u32 %size, 1000;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], %size;\n";
    deadlock(less + copy("3") + rest, "1", "0 arrivals and -24 bytes");
    deadlock("@%first " + kExpect + copy("3") + rest, "1", "1 arrivals and -1024 bytes");
    // The bytes are there for who has waited, and for nobody else.
    has(fault(kExpect + copy("3") + kSync + kRead), "to which a copy is under way: cp.async.bulk not waited");
    has(fault(kExpect + copy("3") + "@!%first bra W;\n" + kRead + kWait), "to which a copy is under way");
}

TEST_CASE("interpreter: copies to blocks that are not ready for them") {
    const std::string rest = kWait + kSync;
    has(fault(copy("4")), "a multicast to block 2 of a cluster of 2");
    has(fault(copy("7")), "a multicast to block 2 of a cluster of 2");
    has(fault(copy("0x8001")), "a multicast to block 15 of a cluster of 2");
    has(fault(copy("0")), "a multicast to no block of the cluster");
    has(fault(copy("3"), "", "1", 1), "a multicast to block 1 of a cluster of 1");
    const std::string together = ": not supported by the interpreter: clusters in a cooperative launch";
    has(run(kernel(copy("1"), ""), 1, 2, true).error, together);
    has(run(kernel(kMap, ""), 1, 2, true).error, together);
    // Without the cluster's barrier before it: nobody has made the other mbarrier.
    has(fault(kExpect + copy("3") + rest, ""), "that nothing has written");
    has(fault(kExpect + copy("3") + rest, "@%first bra L;\nL:"), "that nothing has written");
    // The other block has ended before.
    has(fault(
            "@!%first exit;\nmov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 9000;\n@%p4 bra L;\n" +
            copy("3")),
        "the shared memory of block (1,0,0), which has ended");
    // What the other block has there: a copy, and what it writes or reads itself.
    has(fault(kExpect + copy("3") + copy("2") + rest), "to which a copy is under way");
    const std::string late =
        "@!%first bra A;\nmov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 9000;\n"
        "@%p4 bra L;\nA:\n";
    has(fault("@!%first st.shared.u32 [s], 1;\n" + late + kExpect + copy("3") + rest),
        "race: writes byte 0 of shared memory, which thread (0,0,0) of block 1 wrote");
    has(fault("st.shared.u32 [s], 1;\n" + kSync + "@!%first ld.shared.u32 %r5, [s];\n" + late + kExpect +
              copy("3") + rest),
        "race: writes byte 0 of shared memory, which thread (0,0,0) of block 1 read");
    CHECK(fault("st.shared.u32 [s], 1;\n" + kSync + kExpect + copy("3") + rest) == "");
}

TEST_CASE("interpreter: arrivals at the mbarrier of another block") {
    // Block 1 has written before it arrives, block 0 reads behind its wait.
    const std::string write = "@!%first st.global.u32 [%out+-1024], 7;\n";
    const std::string read = "@%first ld.global.u32 %r5, [%out];\n";
    const std::string first_waits = "@!%first bra E;\n" + kWaitCluster;
    const std::string from_second = "@!%first " + kArrive;
    CHECK(fault(kMap + write + from_second + first_waits + read + "E:" + kSync) == "");
    has(fault(kMap + from_second + write + first_waits + read + "E:" + kSync), "race: ");
    has(fault(kMap + write + from_second + read + kSync), "race: ");
    deadlock(kMap + write + first_waits + read + "E:" + kSync, "0", "1 arrivals and 0 bytes");
    // Waited for in the block's scope, which the other block is not in.
    const std::string needs =
        "needs .acquire.cluster: threads of another block have arrived at this mbarrier";
    CHECK(fault(kMap + write + from_second + "@!%first bra E;\n" + kWait + read + "E:" + kSync) == needs);
    CHECK(fault(kMap + kArrive + kSync + "mbarrier.test_wait.parity.shared.b64 %p2, [m], 0;\n" + kSync) ==
          needs);
    CHECK(fault(kMap + kArrive + kSync + "mbarrier.inval.shared.b64 [m]; mbarrier.init.shared.b64 [m], 1;\n" +
                "mbarrier.arrive.shared.b64 _, [m];\n" + kWait + kSync) == "");
    // Each for both, with a count, and for bytes.
    const std::string both = kMap + kArrive + "mbarrier.arrive.shared::cta.b64 _, [m];\n" + kWaitCluster;
    CHECK(fault(both + kSync, kSync, "2") == "");
    has(fault(both + kSync, kSync, "3"), " lacks 1 arrivals and 0 bytes");
    const std::string counted = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%there], ";
    CHECK(fault(kMap + counted + "3;\n" + kWaitCluster + kSync, kSync, "3") == "");
    has(fault(kMap + counted + "3;\n" + kWaitCluster + kSync, kSync, "2"),
        "3 arrivals at an mbarrier that waits for 2");
    const std::string expects =
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%there], 8;\n";
    const std::string completes = "mbarrier.complete_tx.shared::cta.b64 [m], 8;\n";
    CHECK(fault(kMap + expects + kSync + completes + kWaitCluster + kSync) == "");
    has(fault(kMap + expects + kSync + kWaitCluster + kSync), " lacks 0 arrivals and 8 bytes");
    // By its own address in the cluster, which is another one than that of the block.
    CHECK(fault("mov.u32 %r6, m; mapa.shared::cluster.u32 %there, %r6, %rank;\n" + kArrive + kWaitCluster +
                kSync) == "");
    CHECK(fault("mov.u32 %there, m;\n" + kArrive + kWaitCluster) == "");
}

TEST_CASE("interpreter: mbarriers of other blocks that are not there, or not in this form") {
    has(fault("mov.u32 %r6, m; mapa.shared::cluster.u32 %there, %r6, 2;\n"), "block 2 of a cluster of 2");
    has(fault("mov.u32 %r6, s; mapa.shared::cluster.u32 %there, %r6, %other;\n" + kArrive),
        "that nothing has written");
    has(fault("mov.u32 %r6, m; mapa.shared::cluster.u32 %there, %r6, %other; add.u32 %there, %there, 4;\n" +
              kArrive),
        "is not aligned to 8 bytes");
    has(fault(kMap + "add.u32 %there, %there, 4096;\n" + kArrive),
        "of shared memory: the block has 2064 bytes");
    has(fault(kMap + "add.u32 %there, %there, 0x2000000;\n" + kArrive), "the cluster has no such block");
    has(fault(kMap + kArrive, ""), "that nothing has written");
    has(fault(
            "@!%first exit;\nmov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 9000;\n@%p4 bra L;\n" +
            kMap + kArrive),
        "the shared memory of block (1,0,0), which has ended");
    // Its address is none for what asks for the own block's.
    has(fault(kMap + "mbarrier.arrive.release.cluster.shared::cta.b64 _, [%there];\n"),
        "of shared memory: the block has 2064 bytes");
    has(fault(kMap + "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%there], 0;\n"),
        "of shared memory: the block has 2064 bytes");
    const auto refused = [](const std::string& opcode, const std::string& operands, const std::string& why) {
        CHECK(fault(opcode + " " + operands + ";\n") ==
              "not supported by the interpreter: " + opcode + ": " + why);
    };
    const std::string space = "expected .release.cluster.shared::cluster";
    refused("mbarrier.arrive.shared::cluster.b64", "_, [%there]", space);
    refused("mbarrier.arrive.release.shared::cluster.b64", "_, [%there]", space);
    refused("mbarrier.arrive.release.cta.shared::cluster.b64", "_, [%there]", space);
    refused("mbarrier.arrive.release.cluster.shared::cluster.b64", "%rd5, [%there]",
            "expected _ for the state, which is another block's");
    refused("mbarrier.arrive.release.cluster.shared::cluster.b32", "_, [%there]", "not for this type");
    refused("mbarrier.init.shared::cluster.b64", "[%there], 1", "expected a type, found .shared::cluster");
    refused("mbarrier.try_wait.shared::cluster.b64", "%p2, [%there], %rd5",
            "expected a type, found .shared::cluster");
    refused("mapa.shared::cluster.u64", "%rd5, %rd5, %other", "not in this form");
    refused("mapa.u32", "%r5, %r5, %other", "not in this form");
    const std::string to = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes";
    refused("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster",
            "[%to], [%map, {0, 0}], [m], %h1", "expected .shared::cluster with .multicast::cluster");
    refused(to + ".multicast::cluster", "[%to], [%map, {0, 0}], [m]", "expected 4 operands, found 3");
    refused(to + ".multicast::cluster", "[%to], [%map, {0, 0}], [m], %r5",
            "operand \"%r5\" has 32 bits, expected 16");
    refused(to + ".multicast::cluster.L2::cache_hint", "[%to], [%map, {0, 0}], [m], %h1",
            "expected 5 operands, found 4");
    refused(to, "[%to], [%map, {0, 0}], [m], %h1", "expected 3 operands, found 4");
    CHECK(fault("mov.u16 %h1, 1;\n@%first " + to +
                ".multicast::cluster.L2::cache_hint [%to], [%map, {0, 0}], [m], %h1, %rd5;\n") == "");
}
