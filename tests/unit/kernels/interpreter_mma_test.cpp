// mma.sync: where elements lie is taken from CuTe (matrix_layouts.txt), what comes out from a sum in f64.
#include "unit/kernels/matrix_fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using matrix_fixture::bits_of;
using matrix_fixture::Matrix;
using matrix_fixture::Places;

namespace {

struct Form {
    int m, n, k;
    std::string d, a, b;
    std::string modifiers = "";
    std::string opcode() const {
        return "mma.sync.aligned.m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k) +
               ".row.col" + modifiers + "." + d + "." + a + "." + b + "." + d;
    }
};

/// The type of registers that hold elements.
std::string register_of(const std::string& type) {
    return bits_of(type) == 64 ? "b64" : "b32";
}

/// Registers of one lane, as words of 64 bits, filled with the lane's values.
std::vector<std::uint64_t> fill(const Matrix& matrix, const std::vector<std::pair<int, int>>& places) {
    const int bits = bits_of(matrix.type);
    const std::size_t per = bits < 32 ? static_cast<std::size_t>(32 / bits) : 1;
    std::vector<std::uint64_t> registers(places.size() / per);
    for (std::size_t i = 0; i < places.size(); ++i)
        registers[i / per] |=
            matrix_fixture::bits_of_value(matrix.type, matrix.at(places[i].first, places[i].second))
            << (i % per * static_cast<std::size_t>(bits));
    return registers;
}

/// A kernel that loads the words of its lane from p, 256 bytes for each, multiplies, and stores what it got
/// from byte 8192 on.
std::string kernel_of(const Form& form, const std::size_t (&counts)[4]) {
    const std::string types[4] = {form.d, form.a, form.b, form.d};
    std::string body;
    std::string loads = "shl.b32 %r2, %r1, 8;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd2, %rd2, %rd1;\n";
    std::string operands;
    std::string stores;
    std::size_t word = 0;
    for (int i = 0; i < 4; ++i) {
        const std::string name = std::string("%") + "dabc"[i];
        body += ".reg ." + register_of(types[i]) + " " + name + "<9>;\n";
        operands += i == 0 ? "{" : ", {";
        for (std::size_t r = 0; r < counts[i]; ++r) {
            const std::string at = name + std::to_string(r);
            operands += (r == 0 ? "" : ", ") + at;
            if (i == 0) {
                stores += "st.global." + register_of(form.d) + " [%rd2+" + std::to_string(8192 + 8 * r) +
                          "], " + at + ";\n";
            } else {
                loads += "ld.global." + register_of(types[i]) + " " + at + ", [%rd2+" +
                         std::to_string(8 * word++) + "];\n";
            }
        }
        operands += "}";
    }
    std::string text = ptx_kernel(body + loads + form.opcode() + " " + operands + ";\n" + stores);
    text.replace(text.find("sm_80"), 5, "sm_89");
    return text;
}

/// D as the instruction gives it, row by row.
std::vector<double> run(const Form& form, const Matrix& a, const Matrix& b, const Matrix& c) {
    const Places& at_a = matrix_fixture::layout("A", form.m, form.k, bits_of(form.a));
    const Places& at_b = matrix_fixture::layout("B", form.k, form.n, bits_of(form.b));
    const Places& at_c = matrix_fixture::layout("C", form.m, form.n, 0);
    std::vector<std::uint64_t> words(2 * 32 * 32);
    std::size_t counts[4] = {};
    for (std::size_t lane = 0; lane < 32; ++lane) {
        std::size_t at = lane * 32;
        const std::vector<std::uint64_t> parts[3] = {fill(a, at_a[lane]), fill(b, at_b[lane]),
                                                     fill(c, at_c[lane])};
        for (std::size_t part = 0; part < 3; ++part) {
            counts[part + 1] = parts[part].size();
            std::copy(parts[part].begin(), parts[part].end(),
                      words.begin() + static_cast<std::ptrdiff_t>(at));
            at += parts[part].size();
        }
    }
    counts[0] = counts[3];
    PtxMachine machine(kernel_of(form, counts));
    const std::uint64_t address = machine.upload(words);
    REQUIRE(machine.launch("k", {}, {32, 1, 1}, address) == "");
    words = machine.download<std::uint64_t>(address, words.size());
    std::vector<double> d(static_cast<std::size_t>(form.m * form.n));
    const std::size_t bits = static_cast<std::size_t>(bits_of(form.d));
    const std::size_t per = bits == 16 ? 2 : 1;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < at_c[lane].size(); ++i) {
            std::uint64_t word = words[1024 + lane * 32 + i / per] >> (i % per * bits);
            if (bits == 16) word &= 0xffff;
            d[static_cast<std::size_t>(at_c[lane][i].first * form.n + at_c[lane][i].second)] =
                matrix_fixture::value_of_bits(form.d, word);
        }
    }
    return d;
}

std::vector<Form> forms() {
    std::vector<Form> all = {{16, 8, 8, "f32", "f16", "f16"},   {16, 8, 8, "f16", "f16", "f16"},
                             {16, 8, 16, "f32", "f16", "f16"},  {16, 8, 16, "f16", "f16", "f16"},
                             {16, 8, 8, "f32", "bf16", "bf16"}, {16, 8, 16, "f32", "bf16", "bf16"},
                             {16, 8, 4, "f32", "tf32", "tf32"}, {16, 8, 8, "f32", "tf32", "tf32"},
                             {8, 8, 4, "f64", "f64", "f64"}};
    for (const char* a : {"s8", "u8"}) {
        for (const char* b : {"s8", "u8"}) {
            for (const char* modifiers : {"", ".satfinite"}) {
                all.push_back({8, 8, 16, "s32", a, b, modifiers});
                all.push_back({16, 8, 16, "s32", a, b, modifiers});
                all.push_back({16, 8, 32, "s32", a, b, modifiers});
            }
        }
    }
    for (const char* a : {"e4m3", "e5m2"}) {
        for (const char* b : {"e4m3", "e5m2"})
            all.push_back({16, 8, 32, "f32", a, b});
    }
    return all;
}

/// The fault of an instruction in a kernel of one warp, which starts in line 14.
std::string fault(const std::string& body, const std::string& target = "sm_89", std::uint32_t threads = 32) {
    std::string text = ptx_kernel(body);
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, std::uint64_t{0});
    const std::size_t at = error.find("PTX line");
    return at == std::string::npos ? error : error.substr(at);
}

const std::string kHalves =
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r2,%r3,%r4,%r5}, "
    "{%r6,%r7}, {%f5,%f6,%f7,%f8};";

}  // namespace

TEST_CASE("interpreter: mma of whole numbers is exact, wherever CuTe says that elements lie") {
    matrix_fixture::Random random;
    for (const Form& form : forms()) {
        CAPTURE(form.opcode());
        const auto given = matrix_fixture::product(random, form, form.d, false);
        const std::vector<double> d = run(form, given.a, given.b, given.c);
        for (std::size_t i = 0; i < d.size(); ++i)
            REQUIRE(d[i] == given.expected[i].first);
    }
}

TEST_CASE("interpreter: mma of fractions is as near as the type of D allows") {
    matrix_fixture::Random random;
    for (const Form& form : forms()) {
        CAPTURE(form.opcode());
        const auto given = matrix_fixture::product(random, form, form.d, true);
        const std::vector<double> d = run(form, given.a, given.b, given.c);
        const double bound =
            matrix_fixture::is_integer(form.d) ? 0 : std::ldexp(1.0, -matrix_fixture::digits_of(form.d));
        double farthest = 0;
        for (std::size_t i = 0; i < d.size(); ++i) {
            REQUIRE(std::fabs(d[i] - given.expected[i].first) <= 2 * bound * given.expected[i].second);
            farthest = std::max(farthest, std::fabs(d[i] - given.expected[i].first));
        }
        // Sums of that many digits cannot all fit: what is exact was not rounded at all.
        if (form.d == "f16") CHECK(farthest > 0);
    }
}

TEST_CASE("interpreter: mma at the limits of its types") {
    const auto filled = [](int rows, int columns, const std::string& type, double value) {
        return Matrix{rows, columns, type,
                      std::vector<double>(static_cast<std::size_t>(rows * columns), value)};
    };
    const double top = 2147483647;
    Form form{16, 8, 32, "s32", "u8", "u8"};
    const Matrix a = filled(16, 32, "u8", 255);
    const Matrix b = filled(32, 8, "u8", 255);
    CHECK(run(form, a, b, filled(16, 8, "s32", top))[0] == top + 32 * 65025 - 4294967296.0);
    form.modifiers = ".satfinite";
    CHECK(run(form, a, b, filled(16, 8, "s32", top))[0] == top);
    CHECK(run({16, 8, 16, "s32", "s8", "u8", ".satfinite"}, filled(16, 16, "s8", -128),
              filled(16, 8, "u8", 255), filled(16, 8, "s32", -top - 1))[0] == -top - 1);
    const Form half{16, 8, 16, "f16", "f16", "f16"};
    CHECK(run(half, filled(16, 16, "f16", 1024), filled(16, 8, "f16", 32), filled(16, 8, "f16", 0))[5] ==
          HUGE_VAL);
    CHECK(run({16, 8, 32, "f32", "e4m3", "e5m2"}, filled(16, 32, "e4m3", 448), filled(32, 8, "e5m2", -57344),
              filled(16, 8, "f32", 0))[9] == 32.0 * 448 * -57344);
}

TEST_CASE("interpreter: mma asks for all lanes of the warp") {
    CHECK(fault(kHalves) == "");
    CHECK(fault(kHalves, "sm_89", 16) ==
          "PTX line 14 \"" + kHalves + "\": needs all 32 lanes of a warp, and only 0xffff are there");
    CHECK(fault("setp.lt.u32 %p1, %r1, 31;\n@%p1 " + kHalves) ==
          "PTX line 15 \"@%p1 " + kHalves +
              "\": the lanes 0x80000000 of the member mask 0xffffffff do not execute this instruction");
    CHECK(fault("setp.lt.u32 %p1, %r1, 8;\n@%p1 bra A;\n" + kHalves + "\nA: ret;") ==
          "PTX line 16 \"" + kHalves +
              "\": the lanes 0xff of the member mask 0xffffffff do not execute this instruction");
    CHECK(fault("setp.lt.u32 %p1, %r1, 8;\n@%p1 exit;\n" + kHalves) ==
          "PTX line 16 \"" + kHalves + "\": needs all 32 lanes of a warp, and only 0xffffff00 are there");
    CHECK(fault("setp.gt.u32 %p1, %r1, 99;\n@%p1 " + kHalves) == "");
}

TEST_CASE("interpreter: forms of mma that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& target = "sm_89",
                            const std::string& operands =
                                "{%f1,%f2,%f3,%f4}, {%r2,%r3}, {%r6}, {%f5,%f6,%f7,%f8}") {
        const std::string error = fault(opcode + " " + operands + ";", target);
        const std::string begin = "PTX line 14 \"" + opcode + " " + operands +
                                  ";\": not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, begin.size()) == begin);
        return error.substr(begin.size());
    };
    const std::string forms = "not for this shape with these types";
    CHECK(refused("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k16.row.col.s32.s8.e4m3.s32") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64") == forms);
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "sm_70") ==
          "needs sm_75, the module is for sm_70");
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "sm_75") ==
          "needs sm_80, the module is for sm_75");
    CHECK(refused("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "sm_86") ==
          "needs sm_89, the module is for sm_86");
    CHECK(refused("mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32") == "expected .row.col");
    CHECK(refused("mma.sync.m16n8k8.row.col.f32.f16.f16.f32") == "expected .sync.aligned");
    CHECK(refused("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == "expected .sync.aligned");
    CHECK(refused("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32") ==
          "expected a type of matrices, found .s4");
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32") == ".satfinite of this type");
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16") == "expected a type");
    CHECK(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32.f32") == "unknown modifier .f32");
    const std::string half = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3}, {%r2,%r3}, {%r6}, {%f5,%f6,%f7,%f8}") ==
          "expected a vector of 4 registers, found one of 3");
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3,%f4}, {%r2,%r3}, %r6, {%f5,%f6,%f7,%f8}") ==
          "expected a vector of 1 registers, found \"%r6\"");
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3,%fd4}, {%r2,%r3}, {%r6}, {%f5,%f6,%f7,%f8}") ==
          "operand \"%fd4\" has 64 bits, expected 32");
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3,%f4}, {%r2,%rd3}, {%r6}, {%f5,%f6,%f7,%f8}") ==
          "operand \"%rd3\" has 64 bits, expected 32");
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3,%f4}, {%r2,_}, {%r6}, {%f5,%f6,%f7,%f8}") ==
          "a missing element");
    CHECK(refused(half, "sm_80", "{%f1,%f2,%f3,%f4}, {%r2,%r3}, {%r6}") == "expected 4 operands, found 3");
}
