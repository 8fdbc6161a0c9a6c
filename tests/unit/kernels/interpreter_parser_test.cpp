// PTX text into modules: every mistake is an error with its line, and no text makes the parser or the
// interpreter crash.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using ptx::parse_module;

namespace {

constexpr const char* kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string error_of(const std::string& text) {
    return parse_module(text).error;
}
std::string error_in(const std::string& behind_head) {
    return error_of(kHead + behind_head);
}
std::string error_in_body(const std::string& body) {
    return error_in(".entry k()\n{\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n" + body + "\n}\n");
}

/// What the only instruction of a body says when it is executed.
std::string unsupported(const std::string& statement) {
    const auto parsed = parse_module(ptx_kernel(statement));
    REQUIRE_MESSAGE(parsed.error.empty(), parsed.error);
    const auto& messages = parsed.module->functions[0]->messages;
    return messages.empty() ? "" : messages[0];
}

std::uint64_t next_random(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/// A few bytes changed, removed or doubled.
std::string mutated(std::string text, std::uint64_t& state) {
    static const std::string kBytes = "{}[]();,.%@!<>:+-|\"=_$0189xfdrpabs \n\t\xff";
    const std::uint64_t changes = 1 + next_random(state) % 4;
    for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = next_random(state) % text.size();
        switch (next_random(state) % 4) {
            case 0:
                text[at] = kBytes[next_random(state) % kBytes.size()];
                break;
            case 1:
                text.erase(at, 1 + next_random(state) % 20);
                break;
            case 2:
                text.insert(at, 1, kBytes[next_random(state) % kBytes.size()]);
                break;
            default:
                text.insert(at, text.substr(next_random(state) % text.size(), next_random(state) % 40));
        }
    }
    return text;
}

}  // namespace

TEST_CASE("ptx parser: parameters lie where the host puts them") {
    // What a pointer points to may be less aligned than the pointer.
    const auto parsed = parse_module(std::string(kHead) +
                                     ".entry f(\n.param .u64 .ptr .align 1 a,\n.param .u32 b,\n"
                                     ".param .u64 .ptr .global .align 4 c,\n.param .align 16 .b8 d[20],\n"
                                     ".param .u8 e)\n{\nret;\n}\n");
    REQUIRE_MESSAGE(parsed.module != nullptr, parsed.error);
    const auto& function = *parsed.module->functions[0];
    std::vector<std::uint64_t> offsets;
    for (const auto parameter : function.parameters)
        offsets.push_back(function.variables[parameter].offset);
    CHECK(offsets == std::vector<std::uint64_t>{0, 8, 16, 32, 52});
    CHECK(error_in(".entry f(.param .u64 .ptr .align 3 a)\n{\nret;\n}\n") ==
          "PTX line 4: expected a power of two, found \"3\"");
}

TEST_CASE("interpreter: mistakes in text have a line") {
    struct Row {
        std::string text;
        std::string error;
    };
    const Row kRows[] = {
        {"", "PTX line 1: expected .version, found the end of the text"},
        {".version 8.0\n", "PTX line 2: expected .target, found the end of the text"},
        {".version eight\n", "PTX line 1: expected a version like 8.0, found \"eight\""},
        {".version 8.0\n.target compute_80\n",
         "PTX line 2: expected a target like sm_80, found \"compute_80\""},
        {".version 8.0\n.target sm_80\n.target",
         "PTX line 3: expected a target like sm_80, found the end of the text"},
        {".version 8.0\n.target sm_80\n.address_size 32\n", "PTX line 3: expected 64, found \"32\""},
        {"hello", "PTX line 1: expected a directive, a function or a variable, found \"hello\""},
        {"/* no end", "PTX line 1: a comment /* has no end"},
        {"\n\".file", "PTX line 2: a string has no end"},
        {"\x01", "PTX line 1: unexpected byte \"\\x01\""},
        {"0x", "PTX line 1: invalid number \"0x\""},
        {"09", "PTX line 1: invalid number \"09\""},
        {"1.2.3", "PTX line 1: invalid number \"1.2.3\""},
        {"99999999999999999999", "PTX line 1: number \"99999999999999999999\" does not fit into 64 bits"},
    };
    for (const Row& row : kRows)
        CHECK(error_of(row.text) == row.error);
}

TEST_CASE("interpreter: mistakes in declarations have a line") {
    CHECK(error_in(".global .u32;") == "PTX line 4: expected a name, found \";\"");
    CHECK(error_in(".global .foo x;") == "PTX line 4: expected a type, found \".foo\"");
    CHECK(error_in(".global x;") == "PTX line 4: expected a type, found \"x\"");
    CHECK(error_in(".global .align 3 .b8 x[4];") == "PTX line 4: expected a power of two, found \"3\"");
    CHECK(error_in(".global .b8 x[];") == "PTX line 4: expected a variable with a size, found \".b8\"");
    CHECK(error_in(".global .b64 x[4294967296];") ==
          "PTX line 4: expected a variable of at most 4 GiB, found \"x\"");
    CHECK(error_in(".global .b8 x[1] = {1, 2};") ==
          "PTX line 4: expected no more values than the variable holds, found \"x\"");
    CHECK(error_in(".global .f32 x = 1;") ==
          "PTX line 4: expected a value of the variable's type, found \"1\"");
    CHECK(error_in(".global .b32 x = y;") ==
          "PTX line 4: expected a number (addresses have 64 bits), found \"y\"");
    CHECK(error_in(".global .b8 x[4] = {1, 2") ==
          "PTX line 4: expected a value of the variable's type, found the end of the text");
    CHECK(error_in(".global .u32 x;\n.global .u32 x;") ==
          "PTX line 5: expected a variable that is not defined yet, found \".u32\"");
    CHECK(error_in(".entry k(.reg .u32 a) {}") == "PTX line 4: expected \".param\", found \".reg\"");
    CHECK(error_in(".entry k(.param .u32 a .param .u32 b) {}") ==
          "PTX line 4: expected \",\", found \".param\"");
    CHECK(error_in(".entry k()\n.foo\n{}") ==
          "PTX line 5: expected { or a directive for a function, found \".foo\"");
    CHECK(error_in(".entry k() .maxntid 2000 {}") ==
          "PTX line 4: expected a number of threads of 1 to 1024, found \"2000\"");
    CHECK(error_in(".entry k() {}\n.entry k() {}") ==
          "PTX line 5: expected a function that is not defined yet, found \"k\"");
    CHECK(error_in(".func f(.param .u32 a);\n.func f() {}") ==
          "PTX line 5: expected the parameters of its declaration, found \"f\"");
    CHECK(error_in(".global .align 8 .b64 x[2] = {generic(x)+8, 3};\n.extern .shared .align 16 .b8 s[];\n"
                   ".const .f32 c[2] = {0f3F800000, 0f40000000};\n.entry k() { ret; }") == "");
}

TEST_CASE("interpreter: mistakes in bodies have a line") {
    CHECK(error_in_body("add.s32 %r1, %r1, %r9;") ==
          "PTX line 8: expected a register that is declared, found \"%r9\"");
    CHECK(error_in_body("add.s32 %r1, %r1") == "PTX line 9: expected \";\", found \"}\"");
    CHECK(error_in_body("@%r1 bra X;") == "PTX line 8: expected a predicate, found \"%r1\"");
    CHECK(error_in_body("bra X;") == "PTX line 8: expected a label of this function, found \"X\"");
    CHECK(error_in_body("X: X: ret;") == "PTX line 8: expected a label that is not defined yet, found \"X\"");
    CHECK(error_in_body(".reg .b32 %r<2>;") ==
          "PTX line 8: expected a register that is not declared yet, found \"%r\"");
    CHECK(error_in_body(".reg .b32 %x<99999>;") ==
          "PTX line 8: expected a number of registers of 1 to 65536, found \"99999\"");
    CHECK(error_in_body(".reg .b32 %x<65536>;") ==
          "PTX line 8: expected at most 65536 registers, found \"%x\"");
    CHECK(error_in_body(".global .b32 x;") ==
          "PTX line 8: expected an instruction, .reg, .shared, .local or .param, found \".global\"");
    CHECK(error_in_body("ld.global.u32 %r1, [];") == "PTX line 8: expected an address, found \"[\"");
    CHECK(error_in_body("mov.u32 %r1, ((((((((((1))))))))));") ==
          "PTX line 8: expected operands that are nested less, found \"(\"");
    CHECK(error_in_body("mov.u32 %r1, -%r2;") == "PTX line 8: expected an operand, found \"%r2\"");
    CHECK(error_in_body("5;") == "PTX line 8: expected an instruction, found \"5\"");
    CHECK(error_in_body("{ X: bra Y; }\n{ X: bra X; }\nY: ret;") == "");
    CHECK(error_in_body(std::string(70, '{')) ==
          "PTX line 8: expected at most 64 nested blocks, found \"{\"");
    CHECK(error_in_body("{ ret;") == "PTX line 10: expected an instruction, found the end of the text");
}

TEST_CASE("interpreter: what it does not know names the instruction") {
    CHECK(unsupported("tensormap.foo %r1;") == "tensormap.foo: instruction not known");
    CHECK(unsupported("add.s32.foo %r1, %r1, %r1;") == "add.s32.foo: unknown modifier .foo");
    CHECK(unsupported("add.foo.s32 %r1, %r1, %r1;") == "add.foo.s32: expected a type, found .foo");
    CHECK(unsupported("add.f32 %f1, %f1, %rd1;") == "add.f32: operand \"%rd1\" has 64 bits, expected 32");
    CHECK(unsupported("add.s32 %r1, %r1;") == "add.s32: expected 3 operands, found 2");
    CHECK(unsupported("fma.f32 %f1, %f1, %f1, %f1;") == "fma.f32: expected .rn, .rz, .rm or .rp");
    CHECK(unsupported("add.f32 %f1, %f1, 1;") == "add.f32: constant \"1\" of this type");
    CHECK(unsupported("mul.s32 %r1, %r1, %r1;") == "mul.s32: expected .lo, .hi or .wide");
    CHECK(unsupported("setp.foo.s32 %p1, %r1, %r1;") == "setp.foo.s32: unknown comparison");
    CHECK(unsupported("setp.nan.s32 %p1, %r1, %r1;") == "setp.nan.s32: not for this type");
    CHECK(unsupported("selp.b32 %r1, %r1, %r1, %r1;") == "selp.b32: expected a predicate, found \"%r1\"");
    CHECK(unsupported("cvt.f32.f64 %f1, %fd1;") == "cvt.f32.f64: expected .rn, .rz, .rm or .rp");
    CHECK(unsupported("cvt.s32.f32 %r1, %f1;") == "cvt.s32.f32: expected .rni, .rzi, .rmi or .rpi");
    CHECK(unsupported("ld.global.v2.u32 %r1, [%rd1];") == "ld.global.v2.u32: expected a vector of 2");
    CHECK(unsupported("ld.global.u64 %r1, [%rd1];") == "ld.global.u64: a register that is too small");
    CHECK(unsupported("ld.global.u32 %r1, %rd1;") == "ld.global.u32: expected [address], found \"%rd1\"");
    CHECK(unsupported("st.global.b128 [%rd1], %rd1;") == "st.global.b128: not for this type");
    CHECK(unsupported("atom.global.add.b32 %r1, [%rd1], %r1;") == "atom.global.add.b32: not for this type");
    CHECK(unsupported("shfl.down.b32 %r1, %r1, %r1, %r1;") == "shfl.down.b32: expected .sync");
    CHECK(unsupported("bar.foo 0;") == "bar.foo: expected .sync, .arrive or .red");
    CHECK(unsupported("call (%r1), %rd1, ();") == "call: only calls of functions by name are known");
    CHECK(unsupported("mov.u32 %r1, nowhere;") == "mov.u32: unknown name \"nowhere\"");
    CHECK(unsupported("mov.u32 %r1, %envreg3;") == "mov.u32: unknown name \"%envreg3\"");
    CHECK(unsupported("cvta.to.foo.u64 %rd1, %rd1;") == "cvta.to.foo.u64: unknown state space");
    CHECK(unsupported("lop3.b32 %r1, %r1, %r1, %r1, 256;") == "lop3.b32: expected a table of 8 bits");
    CHECK(unsupported("add.s32 %r1, %r1, 1;") == "");
}

TEST_CASE("interpreter: texts cut off anywhere are errors or modules") {
    const std::string text = ptx_file("reduce.ptx");
    std::size_t modules = 0;
    for (std::size_t length = 0; length < text.size(); length += 13) {
        const auto parsed = parse_module(std::string_view(text).substr(0, length));
        CHECK((parsed.module == nullptr) == !parsed.error.empty());
        modules += parsed.module != nullptr ? 1 : 0;
    }
    CHECK(modules < 40);  // the head alone is one
    CHECK(parse_module(text).module != nullptr);
}

TEST_CASE("interpreter: mutated modules are parsed and run without a crash") {
    const std::string texts[] = {ptx_file("vadd.ptx"), ptx_file("reduce.ptx")};
    std::uint64_t state = 20261126;
    std::size_t ran = 0;
    std::size_t refused = 0;
    for (int i = 0; i < 3000; ++i) {
        auto parsed = parse_module(mutated(texts[i % 2], state));
        refused += parsed.module == nullptr ? 1 : 0;
        const ptx::Function* kernel =
            parsed.module == nullptr
                ? nullptr
                : parsed.module->entry(i % 2 == 0 ? "cudamatrix_vadd" : "cudamatrix_reduce");
        if (kernel == nullptr) continue;
        ptx::DeviceMemory memory(1 << 20);
        std::string error;
        if (!load_module(*parsed.module, memory, error)) continue;
        ptx::LaunchRequest request;
        request.module = parsed.module.get();
        request.function = kernel;
        request.block = {64, 1, 1};
        const std::uint64_t buffer = memory.allocate(4096, "");
        REQUIRE(memory.fill(buffer, 0, 4096));
        request.parameters.resize(kernel->kernel_param_size, 0);
        for (std::size_t at = 0; at + 8 <= std::min<std::size_t>(request.parameters.size(), 56); at += 8)
            std::memcpy(request.parameters.data() + at, &buffer, 8);
        const std::uint64_t length = 100;
        if (request.parameters.size() >= 32)
            std::memcpy(request.parameters.data() + (i % 2 == 0 ? 24 : 16), &length, 8);
        ptx::RunOptions options;
        options.step_limit = 20000;
        options.threads = 1;
        const auto result = launch(request, memory, options);
        CHECK((result.code == 0) == result.error.empty());
        ++ran;
    }
    CHECK(refused > 500);
    CHECK(ran > 200);
}
