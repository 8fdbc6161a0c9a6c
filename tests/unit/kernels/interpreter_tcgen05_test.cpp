// tcgen05: products in tensor memory, and what a program must not do around them.
#include "kernels/interpreter/elements.hpp"
#include "unit/kernels/wgmma_machine.hpp"

using namespace cudamatrix::suite::ptx;
using namespace wgmma_machine;

namespace {

constexpr std::size_t kColumns = 64;
constexpr std::uint64_t kBStart = 16384;

double a_value(std::size_t row, std::size_t k) {
    return static_cast<double>((row * 7 + k * 3) % 5) - 2;
}
double b_value(std::size_t column, std::size_t k) {
    return static_cast<double>((column * 5 + k * 11 + column / 8) % 7) - 3;
}

// `swizzle` as wgmma counts it. Here a descriptor has another number for it, and a version.
std::uint64_t tensor_descriptor(const Layout& layout, std::uint64_t start) {
    const std::uint64_t numbers[] = {0, 2, 4, 6};
    return start / 16 | layout.leading / 16 << 16 | layout.stride / 16 << 32 | 1ULL << 46 |
           numbers[layout.swizzle] << 61;
}

// PTX ISA, "Instruction Descriptor": sums in float32 of bfloat16.
std::uint32_t instruction(bool a_k_major = true, bool b_k_major = true, std::size_t n = kColumns,
                          std::size_t m = 128) {
    return 1U << 4 | 1U << 7 | 1U << 10 | (a_k_major ? 0U : 1U) << 15 | (b_k_major ? 0U : 1U) << 16 |
           static_cast<std::uint32_t>(n / 8) << 17 | static_cast<std::uint32_t>(m / 16) << 24;
}

const std::string kVariables =
    ".shared .align 8 .b64 m;\n.shared .align 4 .b32 place;\n.reg .pred %zero, %first;\n"
    ".reg .b32 %sums, %own, %in, %i<4>;\nsetp.eq.u32 %zero, %t, 0; setp.lt.u32 %first, %t, 32;\n";
std::string allocate(const std::string& count = "64") {
    return "@%first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], " + count + ";\n";
}
const std::string kReady =
    "@%zero mbarrier.init.shared::cta.b64 [m], 1;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
    "tcgen05.fence::after_thread_sync;\nld.shared.u32 %sums, [place];\n"
    "and.b32 %own, %t, 96; shl.b32 %own, %own, 16; add.u32 %own, %own, %sums;\n";
std::string begin(std::uint32_t in = instruction()) {
    return kVariables + "mov.u32 %in, " + std::to_string(in) + ";\n" + allocate() + kReady;
}
std::string mma(const std::string& adds = "!%all") {
    return "@%zero tcgen05.mma.cta_group::1.kind::f16 [%sums], %da, %db, %in, " + adds + ";\n";
}
const std::string kEnd =
    "@%zero tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m];\n";
const std::string kPhase = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [m], 0;\n@!%p2 bra W;\n";
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n";
const std::string kLoad =
    "tcgen05.ld.sync.aligned.32x32b.x64.b32 " + registers("%e", kColumns) + ", [%own];\n";
const std::string kLoaded = "tcgen05.wait::ld.sync.aligned;\n";
std::string release(const std::string& count = "64") {
    return "bar.sync 0;\n@%first tcgen05.dealloc.cta_group::1.sync.aligned.b32 %sums, " + count + ";\n";
}
const std::string kResult = kEnd + kPhase + kAfter + kLoad + kLoaded + store("%e", kColumns) + release();

Layout layout(int swizzle, bool k_major, std::size_t rows) {
    const std::size_t span = std::size_t{256} >> swizzle;
    if (swizzle == 0) return {0, k_major, 2, rows * 16 + 128, 128};
    if (k_major) return {swizzle, true, 2, 0, 8 * span};
    return {swizzle, false, 2, 16 * span, 8 * span};
}

void check(int swizzle, bool a_k_major, bool b_k_major, const std::string& products, double factor,
           std::uint32_t flags = 0) {
    const Layout a = layout(swizzle, a_k_major, 128);
    const Layout b = layout(swizzle, b_k_major, kColumns);
    std::vector<std::uint8_t> image(kImage);
    const auto put = [&](std::size_t at, double value) {
        const std::uint64_t bits = element_bits(Element::bf16, value, false);
        std::memcpy(image.data() + at, &bits, 2);
    };
    for (std::size_t k = 0; k < 16; ++k) {
        for (std::size_t row = 0; row < 128; ++row)
            put(a.at(row, k), a_value(row, k));
        for (std::size_t column = 0; column < kColumns; ++column)
            put(kBStart + b.at(column, k), b_value(column, k));
    }
    const auto out =
        run(kernel(begin(instruction(a_k_major, b_k_major) | flags) + products + kResult, "sm_100a"), image,
            tensor_descriptor(a, 0), tensor_descriptor(b, kBStart));
    for (std::size_t row = 0; row < 128; ++row) {
        for (std::size_t column = 0; column < kColumns; ++column) {
            double sum = 0;
            for (std::size_t k = 0; k < 16; ++k)
                sum += a_value(row, k) * b_value(column, k);
            CAPTURE(row);
            CAPTURE(column);
            REQUIRE(element_value(Element::f32, out[row * kMost + column]) == factor * sum);
        }
    }
}

const Layout kSwizzled = layout(1, true, 128);

std::string fault_of(const std::string& body, std::uint64_t a = tensor_descriptor(kSwizzled, 0),
                     std::uint64_t b = tensor_descriptor(kSwizzled, kBStart)) {
    const std::string error = fault(body, a, b, 128, "sm_100a");
    const std::size_t at = error.find(": ends with ");
    return at == std::string::npos ? error : error.substr(at + 2);
}
void has(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("interpreter: tcgen05.mma of matrices in each layout of shared memory") {
    for (const int swizzle : {0, 1, 2, 3}) {
        for (const bool a_k_major : {true, false}) {
            for (const bool b_k_major : {true, false}) {
                CAPTURE(swizzle);
                CAPTURE(a_k_major);
                CAPTURE(b_k_major);
                check(swizzle, a_k_major, b_k_major, mma(), 1);
            }
        }
    }
    check(1, true, true, mma() + mma("%all") + mma("%all"), 3);
    check(1, true, true, mma() + mma(), 1);
    check(1, true, true, mma(), -1, 1U << 13);
    check(1, true, true, mma(), -1, 1U << 14);
    check(1, true, true, mma(), 1, 3U << 13);
}

TEST_CASE("interpreter: sums in tensor memory are there when their commit was waited for") {
    const std::string good = kLoad + kLoaded + release();
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + kAfter + good) == "");
    const std::string under_way = " writes, whose commit was not waited for";
    has(fault_of(begin() + mma() + good), under_way);
    has(fault_of(begin() + mma() + kEnd + kAfter + good), under_way);
    has(fault_of(begin() + kEnd + mma() + kPhase + kAfter + good), under_way);  // committed before
    has(fault_of(begin() + mma() + kEnd + kPhase + good), "needs a tcgen05.fence::after_thread_sync between");
    has(fault_of(begin() + mma() + kEnd + kAfter + kPhase + good),
        "needs a tcgen05.fence::after_thread_sync between");
    has(fault_of(begin() + good), "loads tensor memory that nothing has written");
    has(fault_of(begin() + mma("%all")), "adds to tensor memory that nothing has written");
    has(fault_of(begin() + mma() + kPhase), "mbarrier deadlock: warp 0 waits at PTX line ");
    const std::string early = "uses a register of a tcgen05.ld that tcgen05.wait::ld has not waited for";
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + kAfter + kLoad + "add.u32 %r9, %e3, 1;\n") == early);
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + kAfter + kLoad + "mov.u32 %e63, 1;\n") == early);
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + kAfter + kLoad + "mov.u32 %e64, 1;\n" + kLoaded +
                   release()) == "");
}

TEST_CASE("interpreter: a commit is one of all that the thread has started") {
    const std::string other =
        ".shared .align 8 .b64 other;\n@%zero mbarrier.init.shared::cta.b64 [other], 1;\n"
        "@%zero tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [other];\n";
    const std::string good = kAfter + kLoad + kLoaded + release();
    CHECK(fault_of(begin() + mma() + other + kEnd + kPhase + good) == "");
    CHECK(fault_of(begin() + mma() + kEnd + other + kPhase + good) == "");
    // The other mbarrier's end is that of the first product only.
    std::string wait_other = kPhase;
    wait_other.replace(wait_other.find("[m]"), 3, "[other]");
    has(fault_of(begin() + mma() + other + mma("%all") + kEnd + wait_other + "bar.sync 0;\n" + good),
        " writes, whose commit was not waited for");
}

TEST_CASE("interpreter: what tcgen05.mma reads stays as it is until it has ended") {
    const std::string write = "mov.u32 %r3, s;\n@%zero st.shared.u32 [%r3], 7;\n";
    const std::string good = kAfter + kLoad + kLoaded + release();
    has(fault_of(begin() + mma() + write + kEnd + kPhase + good), "reads was changed before it had ended");
    has(fault_of(begin() + mma() + kEnd + write + kPhase + good), "reads was changed before it had ended");
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + write + good) == "");
    const std::string other = "mov.u32 %r3, s; setp.eq.u32 %p5, %t, 64;\n@%p5 st.shared.u32 [%r3], 7;\n";
    CHECK(fault_of(begin() + mma() + kEnd + kPhase + other + good) == "");
    has(fault_of(begin() + mma() + kEnd + other + kPhase + good), "race: ");
}

TEST_CASE("interpreter: allocation of tensor memory") {
    const std::string ready = kVariables + allocate() + kReady;
    CHECK(fault_of(ready + release()) == "");
    CHECK(fault_of(ready) == "ends with 64 columns of tensor memory that were not deallocated");
    has(fault_of(ready + release("32")),
        "32 columns of tensor memory at address 0x1c0 were not allocated together");
    has(fault_of(ready + release() + release()), "were not allocated together");
    has(fault_of(ready + "add.u32 %sums, %sums, 32;\n" + release()), "were not allocated together");
    has(fault_of(kVariables + allocate("48")), "48 columns: expected 32, 64, 128, 256 or 512");
    has(fault_of(kVariables + allocate("16")), "16 columns: expected ");
    has(fault_of(kVariables + allocate("1024")), "1024 columns: expected ");
    has(fault_of(kVariables + allocate("512") + allocate("32")),
        "tensor memory has no 32 columns left: a device would wait");
    has(fault_of(kVariables + "@%first tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" +
                 allocate()),
        "allocates after tcgen05.relinquish_alloc_permit");
    has(fault_of(kVariables +
                 "@%zero tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [place], 32;\n"),
        "do");
    has(fault_of(begin() + mma() + release()), " writes, which was not waited for");
    // Columns and lanes of others.
    const std::string good = mma() + kEnd + kPhase + kAfter;
    has(fault_of(begin() + "add.u32 %sums, %sums, 32;\n" + mma()),
        "64 columns of tensor memory at address 0x1e0 are not allocated");
    has(fault_of(begin() + "mov.u32 %sums, 0;\n" + mma()), "at address 0x0 are not allocated");
    has(fault_of(begin() + "mov.u32 %sums, %own;\n" + good + "add.u32 %own, %own, 1;\n" + kLoad),
        "are not allocated");
    has(fault_of(begin() + good + "mov.u32 %own, %sums;\n" + kLoad),
        "lane 0 of tensor memory: this warp has those from 32 on");
    has(fault_of(begin() + good + "add.u32 %own, %own, %t;\n" + kLoad), "the lanes have different addresses");
}

TEST_CASE("interpreter: descriptors of tcgen05.mma that are none, or not known") {
    const std::uint64_t a = tensor_descriptor(kSwizzled, 0);
    const auto with = [&](std::uint64_t bits) { return fault_of(begin() + mma(), bits); };
    has(with(a & ~(1ULL << 46)), "descriptor of A: bits 46 to 48 are not 1, 0, 0");
    has(with(a | 1ULL << 47), "descriptor of A: bits 46 to 48 are not 1, 0, 0");
    has(with(a | 1ULL << 52), "not supported by the interpreter: descriptor of A: an absolute address");
    has(with(a | 1ULL << 49), "not supported by the interpreter: descriptor of A: a base offset");
    has(with((a & ~(7ULL << 61)) | 1ULL << 61),
        "not supported by the interpreter: descriptor of A: a swizzle by 32 bytes");
    has(with((a & ~(7ULL << 61)) | 5ULL << 61), "descriptor of A: a swizzle that there is not");
    has(with(a + 8), "descriptor of A: the matrix starts at 128, which is not in the first row");
    has(with(a | 1ULL << 14), "descriptor of A: bits that must be 0 are set");
    const auto of = [&](std::uint32_t in) { return fault_of(begin(in) + mma()); };
    has(of(instruction() | 1U << 6), "instruction descriptor: bits that must be 0 are set");
    has(of(instruction() | 1U << 2),
        "not supported by the interpreter: an instruction descriptor with sparsity");
    has(of(instruction() & ~(1U << 4)), "with sums that are not float32");
    has(of(instruction() | 2U << 7), "types that .kind::f16 does not have");
    has(of(instruction(true, true, 64, 64)),
        "not supported by the interpreter: an instruction descriptor with M of 64");
    has(of(instruction(true, true, 64, 96)), "M of 96: expected 64 or 128");
    has(of(instruction(true, true, 8)), "N of 8: expected a multiple of 16 up to 256");
    has(of(instruction(true, true, 40)), "N of 40: expected a multiple of 16 up to 256");
    has(of(instruction(true, true, 272)), "N of 272: expected a multiple of 16 up to 256");
}

TEST_CASE("interpreter: forms of tcgen05 that are not known") {
    const auto refused = [](const std::string& body, const std::string& target = "sm_100a") {
        const std::string error = fault(kVariables + body, 0, 0, 128, target);
        const std::string start = "not supported by the interpreter: ";
        CAPTURE(error);
        REQUIRE(error.substr(0, start.size()) == start);
        return error.substr(error.rfind(": ") + 2);
    };
    for (const char* target : {"sm_90a", "sm_100", "sm_120a"}) {
        CAPTURE(target);
        CHECK(refused(kLoaded, target) ==
              std::string("needs sm_100a or its family, the module is for ") + target);
    }
    for (const char* target : {"sm_100a", "sm_100f", "sm_103a", "sm_110f"}) {
        CAPTURE(target);
        CHECK(fault(kVariables + kLoaded, 0, 0, 128, target) == "");
    }
    const std::string alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [place], 32;";
    CHECK(refused(alloc) == "only .cta_group::1 is known");
    const std::string product = "tcgen05.mma.cta_group::1.";
    CHECK(refused(product + "kind::tf32 [%sums], %da, %db, %in, %all;") == "only .kind::f16 is known");
    CHECK(refused(product + "kind::f16 [%sums], [%own], %db, %in, %all;") == "A in tensor memory");
    CHECK(refused(product + "kind::f16 [%sums], %da, %db, %in, %all, 3;") == "expected 5 operands, found 6");
    CHECK(refused(product + "kind::f16 [%sums], %da, %db, %in, 1;").find("expected a predicate") == 0);
    CHECK(refused("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%e0}, [%own];") == "only .32x32b is known");
    CHECK(refused("tcgen05.ld.sync.aligned.32x32b.x3.b32 {%e0}, [%own];") == "expected .x1 to .x128");
    CHECK(refused("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%e0}, [%own];") ==
          "expected a vector of 2 registers, found one of 1");
    CHECK(refused("tcgen05.commit.cta_group::1.b64 [m];") == "expected .mbarrier::arrive::one");
    CHECK(refused("tcgen05.wait::st.sync.aligned;") == "not in this form");
    CHECK(refused("tcgen05.cp.cta_group::1.128x256b [%sums], %da;") == "not in this form");
    CHECK(refused("tcgen05.st.sync.aligned.32x32b.x1.b32 [%own], {%e0};") == "not in this form");
    CHECK(refused("tcgen05.wait::ld;") == "expected .sync.aligned");
}
