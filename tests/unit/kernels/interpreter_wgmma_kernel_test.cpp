// The kernel of tc.wgmma and faults planted in it. wgmma.ptx: nvcc 13.0.88, -std=c++17 -ptx -O2 -arch=sm_90a
// of kernels/tensor/wgmma.cu.
#include "kernels/tensor/wgmma.hpp"
#include "unit/kernels/ptx_machine.hpp"
#include "unit/kernels/tensor_map_request.hpp"

using namespace cudamatrix::suite;

namespace {

struct alignas(64) Arguments {
    std::uint8_t a[128] = {};
    std::uint8_t b[128] = {};
    TensorArgs<TensorWgmma> args{};
};

void encode(std::uint8_t* into, std::uint64_t matrix, int rows, int columns, std::uint32_t height) {
    Request request;
    request.address = matrix;
    request.sizes = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
    request.strides = {static_cast<std::uint64_t>(columns) * 2};
    request.box = {64, height};
    request.swizzle = 3;
    REQUIRE(request.encode(into) == 0);
}

template <typename T>
T* device(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
}

struct Run {
    std::string error;
    Record record;
};

// Two rows of clusters and two columns of tiles, all of which stick out; each stage of the ring is used
// again.
constexpr TensorShape kFour{264, 264, 88};

Run run(const std::string& text, std::uint32_t clusters = 1, unsigned schedules = 1,
        const TensorShape& shape = kFour) {
    PtxMachine machine(text);
    machine.options.schedules = schedules;
    machine.options.step_limit = 3'000'000;
    machine.cluster = {kWgmmaBlocks, 1, 1};
    const auto in = wgmma_inputs(shape);
    auto out = tensor_blank<TensorWgmma>(shape);
    const std::uint64_t c = machine.upload(out.c);
    const std::uint64_t flag = machine.upload(std::vector<RunFlag>(1));
    const std::uint64_t a = machine.upload(in.a);
    const std::uint64_t b = machine.upload(in.b);
    Arguments arguments;
    encode(arguments.a, a, shape.m, shape.k, TensorWgmma::kM);
    encode(arguments.b, b, shape.k, shape.n, kWgmmaDepth);
    arguments.args = {device<const std::uint16_t>(a), device<const std::uint16_t>(b), device<float>(c), shape,
                      device<RunFlag>(flag)};
    constexpr std::uint32_t kShared =
        kWgmmaStages * (TensorWgmma::kM + TensorWgmma::kN) * kWgmmaDepth * 2 + 1024;
    Run ended;
    ended.error = machine.launch("cudamatrix_tc_wgmma", {clusters * kWgmmaBlocks, 1, 1},
                                 {kWgmmaThreads, 1, 1}, arguments, kShared);
    out.c = machine.download<float>(c, out.c.size());
    out.flag = machine.download<RunFlag>(flag, 1)[0];
    ended.record = wgmma_check(in, out, "PTX");
    return ended;
}

/// Each occurrence, of which there are `count`.
std::string replaced(std::string text, std::size_t count, const std::string& what, const std::string& with) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
        ++found;
    }
    REQUIRE_MESSAGE(found == count, what);
    return text;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string kMask = "mov.u16 \t%rs2, 3;";
const std::string kMulticast = ".multicast::cluster ";
const std::string kMeet = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;";

}  // namespace

TEST_CASE("interpreter: the kernel of tc.wgmma multiplies in clusters that walk over tiles") {
    const std::string text = ptx_file("wgmma.ptx");
    for (const std::uint32_t clusters : {1U, 2U, 3U, 4U, 5U}) {
        CAPTURE(clusters);
        const Run ended = run(text, clusters);
        CHECK(ended.error == "");
        CHECK(ended.record.status == Status::pass);
    }
    const Run shaken = run(text, 1, 3);
    CHECK(shaken.error == "");
    CHECK(shaken.record.status == Status::pass);
    for (const TensorShape& shape :
         {TensorShape{8, 8, 8}, TensorShape{128, 256, 320}, TensorShape{129, 8, 72}}) {
        const Run ended = run(text, 1, 1, shape);
        CHECK(ended.error == "");
        CHECK(ended.record.status == Status::pass);
    }
}

TEST_CASE("interpreter: copies that do not come to both blocks of tc.wgmma are found") {
    const std::string text = ptx_file("wgmma.ptx");
    const std::string lacks = " for an mbarrier that lacks 0 arrivals and 16384 bytes";
    const std::string only_first = run(replaced(text, 1, kMask, "mov.u16 %rs2, 1;")).error;
    CHECK_MESSAGE(has(only_first, "deadlock: "), only_first);
    CHECK_MESSAGE(has(only_first, "lacks 0 arrivals and"), only_first);
    const std::string only_second = run(replaced(text, 1, kMask, "mov.u16 %rs2, 2;")).error;
    CHECK_MESSAGE(has(only_second, "deadlock: "), only_second);
    CHECK(has(run(replaced(text, 1, kMask, "mov.u16 %rs2, 7;")).error,
              "a multicast to block 2 of a cluster of 2"));
    CHECK(has(run(replaced(text, 1, kMask, "mov.u16 %rs2, 0;")).error, "a multicast to no block"));
    // Each block brings its half to itself alone.
    std::string alone = replaced(text, 2, kMulticast, " ");
    alone = replaced(alone, 2, "[%r244], %rs2;", "[%r244];");
    const std::string unicast = run(alone).error;
    CHECK_MESSAGE(has(unicast, lacks), unicast);
    // Both bring the same half.
    const std::string same =
        run(replaced(text, 1, "mov.u32 %r254, %cluster_ctarank;", "mov.u32 %r254, 0;")).error;
    CHECK_MESSAGE(has(same, "to which a copy is under way"), same);
    // A half less is waited for than comes.
    const std::string half = run(replaced(text, 1, "%r249, 49152;", "%r249, 32768;")).error;
    CHECK_MESSAGE(has(half, "to which a copy is under way"), half);
}

TEST_CASE("interpreter: stages of tc.wgmma that are released wrong are found") {
    const std::string text = ptx_file("wgmma.ptx");
    for (const unsigned schedules : {1U, 3U}) {
        CAPTURE(schedules);
        const auto error = [&](const std::string& defect) { return run(defect, 1, schedules).error; };
        // Nobody tells the other block, or nobody anybody.
        std::string own = replaced(text, 1, "setp.gt.u32 \t%p6, %r136, 1;", "setp.gt.u32 \t%p6, %r136, 0;");
        own = replaced(own, 1, "setp.gt.u32 \t%p12, %r180, 1;", "setp.gt.u32 \t%p12, %r180, 0;");
        const std::string missing = error(own);
        CHECK_MESSAGE(has(missing, "deadlock: "), missing);
        CHECK_MESSAGE(has(missing, " for an mbarrier that lacks "), missing);
        // Twice at the own one instead of once at each.
        std::string twice =
            replaced(text, 1, "mapa.shared::cluster.u32 there, %r172, %r136;", "mov.b32 there, %r172;");
        twice = replaced(twice, 1, "mapa.shared::cluster.u32 there, %r181, %r180;", "mov.b32 there, %r181;");
        const std::string blind = error(twice);
        CHECK_MESSAGE((has(blind, "race: ") || has(blind, "to which a copy is under way")), blind);
        // Before the products have read it.
        const std::string early =
            error(replaced(text, 1, "wait_group.sync.aligned 1;", "wait_group.sync.aligned 2;"));
        CHECK_MESSAGE(early != "", early);
        // Filled without a look at whether it is empty, and by half of those who read it.
        const std::string full = error(replaced(text, 1, "[%r79], %r78;", "[%r79], 1;"));
        CHECK_MESSAGE(has(full, ": 1 arrivals at an mbarrier that waits for 0"), full);
        const std::string half = error(replaced(text, 1, "mov.u32 \t%r107, 4;", "mov.u32 \t%r107, 2;"));
        CHECK_MESSAGE(
            (has(half, "race: ") || has(half, "to which a copy is under way") || has(half, "deadlock: ")),
            half);
        // Seen in the block's scope, though the other block arrives, too.
        const std::string scope =
            error(replaced(text, 1, "try_wait.parity.acquire.cluster.", "try_wait.parity."));
        CHECK_MESSAGE(has(scope, ": needs .acquire.cluster: threads of another block"), scope);
        // The phases begin again with each tile.
        const std::string again = error(replaced(text, 1, "xor.b32  \t%r78, %r306, 1;", "mov.b32 %r78, 0;"));
        CHECK_MESSAGE(has(again, "deadlock: "), again);
    }
}

TEST_CASE("interpreter: blocks of tc.wgmma that do not meet are found") {
    const std::string text = ptx_file("wgmma.ptx");
    const std::size_t last = text.rfind(kMeet);
    std::string no_last = text;
    no_last.replace(last, kMeet.size(), "");
    std::string no_first = text;
    no_first.replace(text.find(kMeet), kMeet.size(), "bar.sync 0;");
    for (const unsigned schedules : {1U, 3U}) {
        CAPTURE(schedules);
        const std::string begin = run(no_first, 1, schedules).error;
        CHECK_MESSAGE((has(begin, "that nothing has written") || has(begin, "race: ")), begin);
        const std::string end = run(no_last, 1, schedules).error;
        CHECK_MESSAGE((has(end, "which has ended") || has(end, "race: ends, and nothing orders that")), end);
    }
}

TEST_CASE("interpreter: tiles that the walk of tc.wgmma leaves out, or does twice, are found") {
    const std::string text = ptx_file("wgmma.ptx");
    const auto stride = [&](const std::string& count) {
        return replaced(replaced(text, 1, "mov.u32 \t%r226, %nctaid.x;", "mov.u32 %r226, " + count + ";"), 1,
                        "mov.u32 \t%r124, %nctaid.x;", "mov.u32 %r124, " + count + ";");
    };
    const Run twice = run(stride("2"), 2);
    CHECK(twice.error == "");
    CHECK(twice.record.summary == "ran_flag: 14 of 8 blocks reported, code for 900");
    const Run left_out = run(stride("8"), 1);
    CHECK(left_out.error == "");
    CHECK(left_out.record.summary == "ran_flag: 2 of 8 blocks reported, code for 900");
    // Only the copies, or only the products.
    const Run copies = run(replaced(text, 1, "mov.u32 \t%r226, %nctaid.x;", "mov.u32 %r226, 8;"), 1);
    CHECK_MESSAGE(has(copies.error, "deadlock: "), copies.error);
    const Run products = run(replaced(text, 1, "mov.u32 \t%r124, %nctaid.x;", "mov.u32 %r124, 8;"), 1);
    CHECK_MESSAGE(has(products.error, "deadlock: "), products.error);
    // The second block multiplies the first one's rows.
    const Run rows = run(replaced(text, 1, "mov.u32 %r108, %cluster_ctarank;", "mov.u32 %r108, 0;"), 1);
    CHECK((has(rows.error, "race: ") || rows.record.status == Status::fail));
}
