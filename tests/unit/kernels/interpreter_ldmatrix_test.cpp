// ldmatrix: where elements lie is taken from CuTe (matrix_layouts.txt).
#include "unit/kernels/matrix_fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

// Each lane writes one row of 8 halves, which are their numbers; %r3 is the address of row 5 * lane,
// modulo 32.
const std::string kRows =
    ".shared .align 16 .b8 s[512];\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 16, %r2;\n"
    "mad.lo.u32 %r4, %r1, 0x80008, 0x10000;\nadd.u32 %r5, %r4, 0x20002;\nadd.u32 %r6, %r5, 0x20002;\n"
    "add.u32 %r7, %r6, 0x20002;\nst.shared.v4.u32 [%r3], {%r4,%r5,%r6,%r7};\n"
    "mul.lo.u32 %r3, %r1, 5;\nand.b32 %r3, %r3, 31;\nmad.lo.u32 %r3, %r3, 16, %r2;\n";
const std::string kAllRows = kRows + "bar.warp.sync -1;\n";
const std::string kFour = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8,%r9,%r10,%r11}, [%r3];";

/// The registers %r8 to %r11 of all lanes behind `instruction`.
std::vector<std::uint32_t> loaded(const std::string& instruction) {
    PtxMachine machine(ptx_kernel(kAllRows + instruction +
                                  "\nmul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd2, %rd2, %rd1;\n"
                                  "st.global.v4.u32 [%rd2], {%r8,%r9,%r10,%r11};"));
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(128));
    REQUIRE(machine.launch("k", {}, {32, 1, 1}, address) == "");
    return machine.download<std::uint32_t>(address, 128);
}

void check(const std::string& instruction, const std::string& part, std::size_t matrices) {
    CAPTURE(instruction);
    const std::vector<std::uint32_t> registers = loaded(instruction);
    const auto& places = matrix_fixture::layout(part, 8, 8, 16);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t matrix = 0; matrix < matrices; ++matrix) {
            for (std::size_t i = 0; i < 2; ++i) {
                const int row = places[lane][i].first;
                const int column = places[lane][i].second;
                const std::size_t from = (8 * matrix + static_cast<std::size_t>(row)) * 5 % 32;
                REQUIRE((registers[4 * lane + matrix] >> 16 * i & 0xffff) ==
                        8 * from + static_cast<std::size_t>(column));
            }
        }
    }
}

std::string fault(const std::string& body, std::uint32_t threads = 32) {
    PtxMachine machine(ptx_kernel(body));
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(128));
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, address);
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

}  // namespace

TEST_CASE("interpreter: ldmatrix gives each lane what CuTe says") {
    for (const std::string part : {"plain", "trans"}) {
        const std::string transposed = part == "trans" ? ".trans" : "";
        check("ldmatrix.sync.aligned.m8n8.x1" + transposed + ".shared.b16 {%r8}, [%r3];", part, 1);
        check("ldmatrix.sync.aligned.m8n8.x2" + transposed + ".shared::cta.b16 {%r8,%r9}, [%r3];", part, 2);
        check("ldmatrix.sync.aligned.m8n8.x4" + transposed + ".shared.b16 {%r8,%r9,%r10,%r11}, [%r3];", part,
              4);
    }
    // A generic address, and a register that is both address and result.
    check(
        "cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3;\n"
        "ldmatrix.sync.aligned.m8n8.x4.b16 {%r8,%r9,%r10,%r11}, [%rd3];",
        "plain", 4);
    check("add.u32 %r8, %r3, -16;\nldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8,%r9}, [%r8+16];", "plain",
          2);
    // Only the addresses of as many lanes as there are rows count.
    check(
        "setp.gt.u32 %p1, %r1, 7; selp.b32 %r3, 99999, %r3, %p1;\n"
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];",
        "plain", 1);
}

TEST_CASE("interpreter: addresses of ldmatrix") {
    CHECK(fault(kAllRows + kFour) == "");
    CHECK(fault(kAllRows + "add.u32 %r3, %r3, 8;\n" + kFour) == "address 0x8 is not aligned to 16 bytes");
    CHECK(fault(kAllRows + "setp.eq.u32 %p1, %r1, 31; @%p1 add.u32 %r3, %r3, 2;\n" + kFour) ==
          "address 0x1b2 is not aligned to 16 bytes");
    CHECK(fault(kAllRows + "add.u32 %r3, %r3, 512;\n" + kFour) ==
          "16 bytes at address 0x200 of shared memory: the block has 512 bytes");
    CHECK(fault(kAllRows + "mov.u64 %rd3, %rd1;\nldmatrix.sync.aligned.m8n8.x1.b16 {%r8}, [%rd3];") ==
          "address 0x10000000000000 is not in shared memory");
    CHECK(fault(".shared .align 16 .b8 s[512];\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 16, %r2;\n" + kFour) ==
          "reads 16 bytes at address 0x0 that nothing has written");
    CHECK(fault(".shared .align 16 .b8 s[512];\nmov.u32 %r2, s;\nmad.lo.u32 %r3, %r1, 16, %r2;\n"
                "st.shared.u64 [%r3], %rd1; bar.warp.sync -1;\n" +
                kFour) == "reads 16 bytes at address 0x0 that nothing has written");
    CHECK(fault(kRows + kFour).substr(0, 50) == "race: reads byte 80 of shared memory, which thread");
    CHECK(fault(kRows + "bar.sync 0;\n" + kFour + "\nsetp.eq.u32 %p1, %r1, 1; @%p1 st.shared.u32 [s], 99;")
              .find("race: writes byte 0 of shared memory, which thread (0,0,0) read") == 0);
}

TEST_CASE("interpreter: ldmatrix asks for all lanes of the warp") {
    CHECK(fault(kAllRows + kFour, 31) == "needs all 32 lanes of a warp, and only 0x7fffffff are there");
    CHECK(fault(kAllRows + "setp.gt.u32 %p1, %r1, 0;\n@%p1 " + kFour) ==
          "the lanes 0x1 of the member mask 0xffffffff do not execute this instruction");
    CHECK(fault(kAllRows + "setp.gt.u32 %p1, %r1, 0;\n@%p1 exit;\n" + kFour) ==
          "needs all 32 lanes of a warp, and only 0x1 are there");
}

TEST_CASE("interpreter: forms of ldmatrix that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& operands = "{%r8}, [%r3]") {
        const std::string error = fault(kAllRows + opcode + " " + operands + ";");
        const std::string begin = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, begin.size()) == begin);
        return error.substr(begin.size());
    };
    CHECK(refused("ldmatrix.sync.m8n8.x1.shared.b16") == "expected .sync.aligned");
    CHECK(refused("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8") == "not for this shape");
    CHECK(refused("ldmatrix.sync.aligned.m8n8.x3.shared.b16") == "expected .x1, .x2 or .x4");
    CHECK(refused("ldmatrix.sync.aligned.m8n8.x1.global.b16") == "not in this state space");
    CHECK(refused("ldmatrix.sync.aligned.m8n8.x1.shared.b32") == "not for this type");
    CHECK(refused("ldmatrix.sync.aligned.m8n8.x1.shared.b16.trans") == "unknown modifier .trans");
    PtxMachine old([] {
        std::string text = ptx_kernel("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];");
        text.replace(text.find("sm_80"), 5, "sm_70");
        return text;
    }());
    CHECK(old.launch("k", {}, {32, 1, 1}, std::uint64_t{0}).find("needs sm_75, the module is for sm_70") !=
          std::string::npos);
    const std::string two = "ldmatrix.sync.aligned.m8n8.x2.shared.b16";
    CHECK(refused(two) == "expected a vector of 2 registers, found one of 1");
    CHECK(refused(two, "{%r8,%rd3}, [%r3]") == "operand \"%rd3\" has 64 bits, expected 32");
    CHECK(refused(two, "{%r8,%r9}, %r3") == "expected [address], found \"%r3\"");
    CHECK(refused(two, "{%r8,%r9}") == "expected 2 operands, found 1");
}
