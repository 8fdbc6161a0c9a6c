// Copies of tensors to shared memory, their tensor maps, and mbarriers that wait for bytes.
#include <array>

#include "unit/kernels/ptx_machine.hpp"
#include "unit/kernels/tensor_map_request.hpp"

using namespace cudamatrix::suite::ptx;

namespace {

struct alignas(64) Arguments {
    std::uint8_t map[128] = {};
    std::uint64_t out = 0;
    std::int32_t at[3] = {};
};

const std::string kCopy =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to], [%map, {%x, %y}], [m];\n";
const std::string kExpect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], %bytes;\n";
const std::string kWait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 0;\n@!%p2 bra W;\n";
const std::string kGive =
    "mov.u32 %r2, 0; mov.u32 %r3, s;\nG: ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4;\n"
    "add.u32 %r3, %r3, 4; add.u64 %out, %out, 4; add.u32 %r2, %r2, 4;\nsetp.lt.u32 %p3, %r2, %bytes; @%p3 bra G;\n";

// Thread 0 makes an mbarrier for `arrivals`; `bytes` is what a box has.
std::string kernel(const std::string& body, std::uint64_t bytes = 1024, const std::string& arrivals = "1") {
    return ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 1024 .b8 s[8192];\n.shared .align 8 .b64 m;\n"
           ".visible .entry k(.param .align 64 .b8 q[128], .param .u64 o, .param .u32 cx, .param .u32 cy, .param .u32 cz)\n"
           "{\n.reg .pred %p<9>, %zero;\n.reg .b32 %r<20>, %t, %to, %x, %y, %z, %bytes;\n"
           ".reg .b64 %rd<9>, %map, %out;\nmov.b64 %rd1, q; cvta.param.u64 %map, %rd1;\n"
           "ld.param.u64 %out, [o]; ld.param.u32 %x, [cx]; ld.param.u32 %y, [cy]; ld.param.u32 %z, [cz];\n"
           "mov.u32 %t, %tid.x; setp.eq.u32 %zero, %t, 0; mov.u32 %to, s; mov.u32 %bytes, " +
           std::to_string(bytes) + ";\n@%zero mbarrier.init.shared::cta.b64 [m], " + arrivals +
           ";\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n" + body + "\n}\n";
}

struct Outcome {
    std::string error;
    std::vector<std::uint8_t> bytes;
};

// A tensor whose bytes are their numbers, modulo 251.
std::uint8_t source(std::uint64_t at) {
    return static_cast<std::uint8_t>(at % 251);
}

Outcome run(const std::string& text, Request request, std::array<std::int32_t, 3> at, std::size_t bytes,
            std::uint32_t threads = 1, std::size_t written = 8192) {
    PtxMachine machine(text);
    machine.options.threads = 1;
    machine.options.step_limit = 300000;
    std::vector<std::uint8_t> tensor(written);
    for (std::size_t i = 0; i < written; ++i)
        tensor[i] = source(i);
    request.address = machine.memory.allocate(8192, "tensor");
    REQUIRE(machine.memory.copy_in(request.address, tensor.data(), tensor.size()));
    Arguments arguments;
    REQUIRE(request.encode(arguments.map) == 0);
    arguments.out = machine.upload(std::vector<std::uint8_t>(8192));
    std::copy(at.begin(), at.end(), arguments.at);
    Outcome outcome;
    outcome.error = machine.launch("k", {}, {threads, 1, 1}, arguments);
    const std::size_t begin = outcome.error.find("\": ");
    if (begin != std::string::npos) outcome.error = outcome.error.substr(begin + 3);
    outcome.bytes = machine.download<std::uint8_t>(arguments.out, bytes);
    return outcome;
}

std::string fault(const std::string& body, std::uint32_t threads = 1, const Request& request = {},
                  const std::string& arrivals = "1") {
    return run(kernel(body, 1024, arrivals), request, {0, 0, 0}, 1, threads).error;
}

void has(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
}

// Each row of the box, and zeros beyond the tensor; 16 bytes where the swizzle has them (by rows, not by bits
// of addresses).
void check_box(const Request& request, std::int32_t x, std::int32_t y) {
    const std::uint64_t element = request.type == kBytes     ? 1
                                  : request.type == kWords   ? 4
                                  : request.type == kBfloats ? 2
                                                             : 8;
    const std::uint64_t inner = request.box[0] * element;
    const std::uint64_t bytes = inner * request.box[1];
    CAPTURE(x);
    CAPTURE(y);
    const Outcome got = run(kernel(kExpect + kCopy + kWait + kGive, bytes), request, {x, y, 0}, bytes);
    REQUIRE(got.error == "");
    for (std::uint64_t row = 0; row < request.box[1]; ++row) {
        for (std::uint64_t i = 0; i < inner; ++i) {
            const std::int64_t column = x + static_cast<std::int64_t>(i / element);
            const std::int64_t line = y + static_cast<std::int64_t>(row);
            const bool inside = column >= 0 && line >= 0 && column < std::int64_t(request.sizes[0]) &&
                                line < std::int64_t(request.sizes[1]);
            const std::uint64_t from =
                std::uint64_t(line) * request.strides[0] + std::uint64_t(column) * element + i % element;
            // CU_TENSOR_MAP_SWIZZLE_32B is 1, 64B 2, 128B 3.
            const std::uint64_t turn = request.swizzle == 0 ? 0 : (row % 8) >> (3 - request.swizzle);
            const std::uint64_t at = row * inner + ((i / 16) ^ turn) * 16 + i % 16;
            CAPTURE(row);
            CAPTURE(i);
            REQUIRE(int(got.bytes[at]) == (inside ? int(source(from)) : 0));
        }
    }
}

}  // namespace

TEST_CASE("interpreter: tiles of a tensor in shared memory") {
    Request request;
    for (const auto& at : std::vector<std::array<std::int32_t, 2>>{
             {0, 0}, {8, 3}, {1, 2}, {64, 16}, {-7, -3}, {99, 19}, {100, 0}, {-64, 0}, {0, 20}})
        check_box(request, at[0], at[1]);
    for (const std::uint32_t swizzle : {1U, 2U, 3U}) {
        CAPTURE(swizzle);
        request.swizzle = swizzle;
        request.box = {8U << swizzle, 16};
        check_box(request, 0, 0);
        check_box(request, 60, 9);
    }
    request = {};
    request.type = kBytes;
    request.box = {48, 5};
    check_box(request, 70, 17);
    request.type = kWords;
    request.box = {4, 7};
    check_box(request, 97, 15);
    request.type = kFloats64;
    request.sizes = {26, 20};
    request.box = {2, 4};
    check_box(request, 25, 18);
}

TEST_CASE("interpreter: copies of one and three dimensions") {
    Request request;
    request.type = kWords;
    request.rank = 1;
    request.sizes = {50};
    request.box = {16};
    std::string copy = kCopy;
    copy.replace(copy.find("2d"), 2, "1d");
    copy.replace(copy.find(", %y"), 4, "");
    Outcome got = run(kernel(kExpect + copy + kWait + kGive, 64), request, {40, 0, 0}, 64);
    REQUIRE(got.error == "");
    for (std::size_t i = 0; i < 64; ++i)
        REQUIRE(int(got.bytes[i]) == (i < 40 ? int(source(160 + i)) : 0));
    request.rank = 3;
    request.sizes = {8, 4, 3};
    request.strides = {32, 160};
    request.box = {4, 2, 2};
    request.steps = {1, 1, 1};
    copy = kCopy;
    copy.replace(copy.find("2d"), 2, "3d");
    copy.replace(copy.find(", %y"), 4, ", %y, %z");
    got = run(kernel(kExpect + copy + kWait + kGive, 64), request, {4, 3, 1}, 64);
    REQUIRE(got.error == "");
    for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t y = 3 + i / 16 % 2;
        const std::size_t z = 1 + i / 32;
        REQUIRE(int(got.bytes[i]) == (y < 4 ? int(source(z * 160 + y * 32 + 16 + i % 16)) : 0));
    }
}

TEST_CASE("interpreter: the bytes of a copy are there when its mbarrier was waited for") {
    const std::string read = "ld.shared.u32 %r5, [s];\n";
    const std::string under_way = "to which a copy is under way: cp.async.bulk not waited for (PTX line ";
    CHECK(fault(kExpect + kCopy + kWait + read) == "");
    CHECK(fault("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [m], %bytes;\n" + kCopy +
                "mbarrier.arrive.shared::cta.b64 _, [m];\n" + kWait + read) == "");
    CHECK(fault(kCopy + kExpect + kWait + read) == "");
    has(fault(kExpect + kCopy + read), under_way);
    has(fault(kExpect + kCopy + "st.shared.u32 [s+64], 5;\n"), under_way);
    has(fault(kExpect + kCopy + kCopy), under_way);
    has(fault(kCopy + "mbarrier.arrive.shared::cta.b64 _, [m];\n" + read), under_way);
    // The phase before this one has ended long ago.
    has(fault(kExpect + kCopy + "mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 1;\n" + read), under_way);
    CHECK(fault(kExpect + kCopy + "ld.shared.u32 %r5, [s+4096];\n").find("that nothing has written") !=
          std::string::npos);
}

TEST_CASE("interpreter: an mbarrier that waits for what does not come is a deadlock") {
    const auto expect = [](const std::string& bytes) {
        return "mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], " + bytes + ";\n";
    };
    has(fault(expect("1000") + kCopy + kWait), "mbarrier deadlock: warp 0 waits at PTX line ");
    has(fault(expect("1000") + kCopy + kWait), " for an mbarrier that lacks 0 arrivals and -24 bytes");
    has(fault(expect("1040") + kCopy + kWait), " lacks 0 arrivals and 16 bytes");
    has(fault(kCopy + kWait), " lacks 1 arrivals and -1024 bytes");
    has(fault("mbarrier.arrive.shared::cta.b64 _, [m];\n" + kCopy +
              "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, "
              "[m], 1;\n@!%p2 bra W;\n"),
        " lacks 1 arrivals and -1024 bytes");
    has(fault(kExpect + kWait), " lacks 0 arrivals and 1024 bytes");
    has(fault(kExpect + kCopy + kWait, 1, {}, "2"), " lacks 1 arrivals and 0 bytes");
    // The others have gone on to a barrier.
    has(fault("@!%zero bra E;\n" + expect("1000") + kCopy + kWait + "E: bar.sync 0;\n", 64),
        "barrier deadlock: barrier 0 has 1 of 2 warps, warp 1 waits at line ");
    has(fault("@!%zero bra E;\n" + expect("1000") + kCopy + kWait + "E: bar.sync 0;\n", 64),
        "; warp 0 waits at PTX line ");
    // All wait for the one that starts the copy, and it for them.
    has(fault("@!%zero bra W;\n" + expect("1000") + kCopy + kWait, 64),
        "mbarrier deadlock: warp 0 waits at PTX line ");
    has(fault(expect("1048576")),
        "an mbarrier that waits for 1048576 bytes: at most 1048575 can be waited for");
    has(fault(
            "mbarrier.expect_tx.shared::cta.b64 [m], 1048000;\nmbarrier.expect_tx.shared::cta.b64 [m], 1000;\n"),
        "an mbarrier that waits for 1049000 bytes");
    has(fault(expect("8") + expect("8")), "1 arrivals at an mbarrier that waits for 0");
    CHECK(fault(expect("8") + "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [m], 8;\n" + kWait) ==
          "");
    has(fault(expect("8") + "mbarrier.complete_tx.shared::cta.b64 [m], 7;\n" + kWait),
        " lacks 0 arrivals and 1 bytes");
}

TEST_CASE("interpreter: warps that wait for an mbarrier let others run") {
    // Half a million instructions more than the limit, if those that wait took part.
    const std::string work =
        "mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 30000; @%p4 bra L;\n";
    CHECK(fault("@!%zero bra W;\n" + work + kExpect + kCopy + kWait + "ld.shared.u32 %r5, [s];\n", 256) ==
          "");
    // A time limit is not an end: it tries again.
    CHECK(
        fault(
            "@%zero mbarrier.arrive.shared::cta.b64 _, [m];\n"
            "mov.u32 %r9, 0;\nL: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 1, 100;\nadd.u32 %r9, %r9, 1;\n"
            "setp.lt.u32 %p4, %r9, 50; @%p4 bra L;\n",
            64) == "");
}

TEST_CASE("interpreter: races with copies") {
    const std::string one = "@!%zero bra N;\n" + kExpect + kCopy + "N:\n";
    const std::string read = "ld.shared.u32 %r5, [s];\n";
    CHECK(fault(one + kWait + read, 64) == "");
    // Another thread has waited, and this one reads behind it by chance.
    has(fault("@!%zero bra N;\n" + kExpect + kCopy + kWait +
                  "bra E;\nN: mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; "
                  "setp.lt.u32 %p4, %r9, 9000; @%p4 bra L;\n" +
                  read + "E: exit;",
              64),
        "race: reads byte 0 of shared memory");
    // What others still read or write, it overwrites.
    const std::string others =
        "@%zero st.shared.u32 [s], 1;\nbar.sync 0;\nsetp.ge.u32 %p5, %t, 32;\n@%p5 ld.shared.u32 %r5, [s];\n";
    const std::string late =
        "mov.u32 %r9, 0;\nL: add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 9000; @%p4 bra L;\n";
    has(fault(others + "@!%zero bra E;\n" + late + kExpect + kCopy + kWait + "E: exit;", 64),
        "race: writes byte 0 of shared memory, which thread (32,0,0) read");
    CHECK(fault(others + "bar.sync 0;\n@!%zero bra E;\n" + kExpect + kCopy + kWait + "E: exit;", 64) == "");
    has(fault("setp.eq.u32 %p5, %t, 32;\n@%p5 st.shared.u32 [s], 1;\n@!%zero bra E;\n" + late + kExpect +
                  kCopy + kWait + "E: exit;",
              64),
        "race: writes byte 0 of shared memory, which thread (32,0,0) wrote");
}

TEST_CASE("interpreter: copies that a device would not do") {
    has(fault("add.u32 %to, %to, 64;\n" + kCopy), "is not aligned to 128 bytes");
    has(fault("add.u32 %to, %to, 7296;\n" + kCopy), "of shared memory: the block has ");
    has(fault("add.u32 %to, %to, 65536;\n" + kCopy), "of shared memory: the block has ");
    has(fault("add.u64 %map, %map, 32;\n" + kCopy), "of a tensor map is not aligned to 64 bytes");
    has(fault("add.u64 %map, %map, 64;\n" + kCopy), "of the parameters, which have ");
    has(fault("mov.u64 %map, %out;\n" + kCopy), "there is no tensor map at address ");
    has(fault("mov.u64 %map, 0;\n" + kCopy), "are not in device memory");
    std::string three = kCopy;
    three.replace(three.find("2d"), 2, "3d");
    three.replace(three.find(", %y"), 4, ", %y, %z");
    has(fault(three), "a copy of 3 dimensions by a tensor map of 2");
    std::string other = kCopy;
    other.replace(other.find("[m]"), 3, "[s+8]");
    has(fault(other), "that nothing has written");
    Request narrow;
    narrow.swizzle = 3;
    narrow.box = {32, 8};
    has(fault(kCopy, 1, narrow),
        "not supported by the interpreter: rows of 64 bytes that are swizzled by 128");
    // The tensor map says more than there is.
    Request large;
    large.sizes = {100, 80};
    large.strides = {208};
    large.box = {64, 80};
    const Outcome beyond = run(kernel(kCopy, 10240), large, {0, 30, 0}, 1);
    has(beyond.error, "of shared memory: the block has ");
    large.box = {64, 16};
    has(run(kernel(kCopy, 2048), large, {0, 30, 0}, 1).error, "lie 0 bytes behind the end of tensor");
    has(run(kernel(kCopy), Request{}, {0, 0, 0}, 1, 1, 1000).error, "that nothing has written, at byte ");
}

TEST_CASE("interpreter: forms of bulk copies that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& operands) {
        const std::string error = fault(opcode + " " + operands + ";\n");
        const std::string start = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, start.size()) == start);
        return error.substr(start.size());
    };
    const std::string to = "cp.async.bulk.tensor.2d.shared::cluster.global";
    const std::string complete = ".mbarrier::complete_tx::bytes";
    CHECK(fault("cp.async.bulk.tensor.2d.shared::cta.global" + complete +
                ".L2::cache_hint [%to], [%map, {%x, %y}], [m], %rd1;\n") == "");
    CHECK(refused("cp.async.bulk.shared::cluster.global" + complete, "[%to], [%out], 16, [m]") ==
          "expected .tensor");
    CHECK(refused("cp.async.bulk.tensor.6d.shared::cluster.global" + complete,
                  "[%to], [%map, {%x, %y}], [m]") == "expected .1d to .5d");
    CHECK(refused("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", "[%map, {%x, %y}], [%to]") ==
          "only copies to shared memory are known");
    CHECK(refused(to + ".im2col" + complete, "[%to], [%map, {%x, %y}], [m]") ==
          "expected .mbarrier::complete_tx::bytes");
    CHECK(refused(to + ".tile::gather4" + complete, "[%to], [%map, {%x, %y}], [m]") ==
          "expected .mbarrier::complete_tx::bytes");
    CHECK(refused(to + complete, "[%to], [%map, {%x}], [m]") == "expected [map, {2 coordinates}]");
    CHECK(refused(to + complete, "[%to], [%map], [m]") == "expected [map, {2 coordinates}]");
    CHECK(refused(to + complete, "[%to], [%map, {%x, %rd1}], [m]") ==
          "operand \"%rd1\" has 64 bits, expected 32");
    CHECK(refused(to + complete, "[%to], [%map, {%x, %y}]") == "expected 3 operands, found 2");
    CHECK(refused("fence.proxy.alias", "").empty() == false);
}
