// mma.sync with scales of blocks: where elements and scales lie is taken from CuTe (matrix_layouts.txt), what
// comes out from a sum in f64 of numbers that are listed here.
#include <cmath>
#include <limits>

#include "unit/kernels/matrix_fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using matrix_fixture::layout;
using matrix_fixture::Places;

namespace {

double e2m1(unsigned code) {
    constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return (code & 8) != 0 ? -kSizes[code & 7] : kSizes[code & 7];
}
/// e4m3 and e5m2 by their definition; no NaN, no infinity.
double eight(unsigned code, int fraction_bits, int bias) {
    const auto exponent = static_cast<int>(code >> fraction_bits & (fraction_bits == 3 ? 15U : 31U));
    const double fraction = std::ldexp(code & ((1U << fraction_bits) - 1), -fraction_bits);
    const double size =
        exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (code & 0x80) != 0 ? -size : size;
}
double value_of(const std::string& type, unsigned code) {
    if (type == "e2m1") return e2m1(code);
    if (type == "ue8m0") return std::ldexp(1.0, static_cast<int>(code) - 127);
    return type == "e5m2" ? eight(code, 2, 15) : eight(code, 3, 7);
}

struct Form {
    std::string opcode, a, b, scale;
    int k, chunks;
    [[nodiscard]] int bits() const { return a == "e2m1" ? 4 : 8; }
};

const std::string kBegin = "mma.sync.aligned.";
const std::string kNvfp4 =
    "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3";

std::vector<Form> forms() {
    std::vector<Form> all = {
        {kNvfp4, "e2m1", "e2m1", "ue4m3", 64, 4},
        {"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", "e2m1", "e2m1",
         "ue4m3", 64, 4},
        {"kind::mxf4nvf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", "e2m1", "e2m1",
         "ue8m0", 64, 2},
        {"kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", "e2m1", "e2m1",
         "ue8m0", 64, 2},
        {"m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "e2m1", "e2m1", "ue8m0", 64, 2},
        {"kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0", "e4m3", "e4m3", "ue8m0", 32,
         1}};
    for (const char* a : {"e4m3", "e5m2"}) {
        for (const char* b : {"e4m3", "e5m2"})
            all.push_back({std::string("kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.") + a +
                               "." + b + ".f32.ue8m0",
                           a, b, "ue8m0", 32, 1});
    }
    return all;
}

struct Selectors {
    unsigned byte_a, thread_a, byte_b, thread_b;
};

/// Codes of A and B row by row, of their scales line by line, and C.
struct Given {
    std::vector<unsigned> a, b, a_scales, b_scales;
    std::vector<double> c;
};

class Codes {
  public:
    unsigned next(unsigned count) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<unsigned>(state_ >> 33) % count;
    }
    std::vector<unsigned> many(int count, const std::string& type) {
        std::vector<unsigned> made;
        for (int i = 0; i < count; ++i) {
            // Of eight bits those near 1, with any sign: sums of all of them fit into a double.
            made.push_back(type == "e2m1"    ? next(16)
                           : type == "e4m3"  ? (next(2) << 7 | (0x28 + next(0x28)))
                           : type == "e5m2"  ? (next(2) << 7 | (0x30 + next(0x18)))
                           : type == "ue4m3" ? (next(8) == 0 ? next(0x7f) : 0x28 + next(0x20))
                                             : 120 + next(14));
        }
        return made;
    }

  private:
    std::uint64_t state_ = 7;
};

Given given(Codes& codes, const Form& form) {
    Given made{codes.many(16 * form.k, form.a),
               codes.many(form.k * 8, form.b),
               codes.many(16 * form.chunks, form.scale),
               codes.many(8 * form.chunks, form.scale),
               {}};
    for (int i = 0; i < 128; ++i)
        made.c.push_back(static_cast<double>(codes.next(2001)) - 1000);
    return made;
}

std::vector<double> expected(const Form& form, const Given& in) {
    std::vector<double> sums = in.c;
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int row = 0; row < 16; ++row) {
        for (int col = 0; col < 8; ++col) {
            for (int k = 0; k < form.k; ++k) {
                const int chunk = k * form.chunks / form.k;
                sums[at(row * 8 + col)] += value_of(form.a, in.a[at(row * form.k + k)]) *
                                           value_of(form.scale, in.a_scales[at(row * form.chunks + chunk)]) *
                                           value_of(form.b, in.b[at(k * 8 + col)]) *
                                           value_of(form.scale, in.b_scales[at(col * form.chunks + chunk)]);
            }
        }
    }
    return sums;
}

/// Registers of a lane with the codes of its elements.
std::vector<std::uint32_t> packed(const std::vector<unsigned>& codes, int columns, int bits,
                                  const std::vector<std::pair<int, int>>& places) {
    const std::size_t per = 32 / static_cast<std::size_t>(bits);
    std::vector<std::uint32_t> registers(places.size() / per);
    for (std::size_t i = 0; i < places.size(); ++i)
        registers[i / per] |= codes[static_cast<std::size_t>(places[i].first * columns + places[i].second)]
                              << i % per * static_cast<std::size_t>(bits);
    return registers;
}

/// The register of scales of each lane: those that the selectors pick, and 0x42 wherever nobody may look.
std::vector<std::uint32_t> scales(const Form& form, const std::vector<unsigned>& codes, bool of_a,
                                  unsigned byte, unsigned thread) {
    const Places& lines = layout(of_a ? "SA" : "SB", of_a ? 16 : 8, 64, 0);
    std::vector<std::uint32_t> registers(32, 0x42424242);
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((of_a ? lane % 4 / 2 : lane % 4) != thread) continue;
        for (unsigned i = 0; i < static_cast<unsigned>(form.chunks); ++i) {
            const unsigned shift = 8 * (byte + i);
            const auto line = static_cast<unsigned>(lines[lane][0].first);
            registers[lane] &= ~(0xffU << shift);
            registers[lane] |= codes[line * static_cast<unsigned>(form.chunks) + i] << shift;
        }
    }
    return registers;
}

std::string new_target(std::string text) {
    text.replace(text.find("sm_80"), 5, "sm_120a");
    return text;
}

const std::string kLoads =
    "shl.b32 %r2, %r1, 6;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd2, %rd2, %rd1;\n"
    "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd2];\nld.global.v4.u32 {%r7,%r8,%r9,%r10}, [%rd2+16];\n"
    "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd2+32];\n";
const std::string kStores = "st.global.v4.f32 [%rd2+48], {%f1,%f2,%f3,%f4};\n";

/// D row by row, of the words that each lane loads: A, B, scales of A and B, C, and room for D.
std::vector<double> run(const std::string& instruction, std::vector<std::uint32_t> words) {
    PtxMachine machine(new_target(ptx_kernel(kLoads + instruction + "\n" + kStores)));
    const std::uint64_t address = machine.upload(words);
    REQUIRE(machine.launch("k", {}, {32, 1, 1}, address) == "");
    words = machine.download<std::uint32_t>(address, words.size());
    std::vector<double> d(128);
    const Places& at_c = layout("C", 16, 8, 0);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < 4; ++i)
            d[static_cast<std::size_t>(at_c[lane][i].first * 8 + at_c[lane][i].second)] =
                matrix_fixture::value_of_bits("f32", words[16 * lane + 12 + i]);
    }
    return d;
}

std::vector<std::uint32_t> words_of(const Form& form, const Given& in, const Selectors& select) {
    const Places& at_a = layout("A", 16, form.k, form.bits());
    const Places& at_b = layout("B", form.k, 8, form.bits());
    const Places& at_c = layout("C", 16, 8, 0);
    const auto a_scales = scales(form, in.a_scales, true, select.byte_a, select.thread_a);
    const auto b_scales = scales(form, in.b_scales, false, select.byte_b, select.thread_b);
    std::vector<std::uint32_t> words;
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (const std::uint32_t word : packed(in.a, form.k, form.bits(), at_a[lane]))
            words.push_back(word);
        for (const std::uint32_t word : packed(in.b, 8, form.bits(), at_b[lane]))
            words.push_back(word);
        words.push_back(a_scales[lane]);
        words.push_back(b_scales[lane]);
        for (const auto& [row, column] : at_c[lane])
            words.push_back(static_cast<std::uint32_t>(
                matrix_fixture::bits_of_value("f32", in.c[static_cast<std::size_t>(row * 8 + column)])));
        words.insert(words.end(), 4, 0);
    }
    REQUIRE(words.size() == 512);
    return words;
}

const std::string kMatrices = "{%f1,%f2,%f3,%f4}, {%r3,%r4,%r5,%r6}, {%r7,%r8}, {%f1,%f2,%f3,%f4}, ";

std::string instruction_of(const Form& form, const Selectors& s, const std::string& a = "%r9",
                           const std::string& b = "{%r10}") {
    const auto pair = [](unsigned byte, unsigned thread) {
        return "{" + std::to_string(byte) + ", " + std::to_string(thread) + "}";
    };
    return kBegin + form.opcode + " " + kMatrices + a + ", " + pair(s.byte_a, s.thread_a) + ", " + b + ", " +
           pair(s.byte_b, s.thread_b) + ";";
}

void check(const Form& form, const Given& in, const Selectors& select, const std::string& instruction) {
    CAPTURE(instruction);
    const std::vector<double> d = run(instruction, words_of(form, in, select));
    const std::vector<double> wanted = expected(form, in);
    for (std::size_t i = 0; i < d.size(); ++i)
        REQUIRE(d[i] == static_cast<double>(static_cast<float>(wanted[i])));
}

/// What the instruction, which stands in line 14, says when it is executed by `threads`.
std::string fault(const std::string& instruction, const std::string& before = "",
                  const std::string& target = "sm_120a", std::uint32_t threads = 32) {
    std::string text = ptx_kernel(before + instruction);
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, std::uint64_t{0});
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

}  // namespace

TEST_CASE("interpreter: mma with scales is the rounded sum, with every selector that there is") {
    Codes codes;
    for (const Form& form : forms()) {
        int made = 0;
        for (unsigned byte = 0; byte < 4; byte += static_cast<unsigned>(form.chunks)) {
            for (unsigned thread = 0; thread < 4; ++thread) {
                const Selectors select{byte, thread % 2, 4 - static_cast<unsigned>(form.chunks) - byte,
                                       thread};
                check(form, given(codes, form), select, instruction_of(form, select));
                ++made;
            }
        }
        CHECK(made == 16 / form.chunks);
    }
}

TEST_CASE("interpreter: selectors of scales in registers, and scales in braces") {
    Codes codes;
    const Form form = forms()[2];
    const Selectors select{2, 1, 0, 3};
    check(form, given(codes, form), select,
          "mov.u16 %h1, 2; mov.u16 %h2, 1; mov.u16 %h3, 0; mov.u16 %h4, 3;\n" + kBegin + form.opcode + " " +
              kMatrices + "{%r9}, {%h1, %h2}, {%r10}, {%h3, %h4};");
}

TEST_CASE("interpreter: scales at the limits of their types") {
    const Form form = forms()[0];
    const Selectors select{0, 0, 0, 0};
    Given in{std::vector<unsigned>(16 * 64, 7), std::vector<unsigned>(64 * 8, 15),
             std::vector<unsigned>(64, 0x7e), std::vector<unsigned>(32, 0x01), std::vector<double>(128)};
    CHECK(run(instruction_of(form, select), words_of(form, in, select))[3] == -64 * 36 * 448 / 512.0);
    in.a_scales[5] = 0x7f;  // row 1, second chunk: not a number
    std::vector<double> d = run(instruction_of(form, select), words_of(form, in, select));
    for (std::size_t i = 0; i < d.size(); ++i)
        CHECK(std::isnan(d[i]) == (i / 8 == 1));
    const Form wide = forms()[2];
    in.a_scales.assign(32, 254);
    in.b_scales.assign(16, 0);
    CHECK(run(instruction_of(wide, select), words_of(wide, in, select))[0] == -64.0 * 36);
    in.b_scales.assign(16, 254);
    CHECK(run(instruction_of(wide, select), words_of(wide, in, select))[0] ==
          -std::numeric_limits<double>::infinity());
    in.b_scales[15] = 255;  // column 7, second chunk: not a number
    d = run(instruction_of(wide, select), words_of(wide, in, select));
    for (std::size_t i = 0; i < d.size(); ++i)
        CHECK(std::isnan(d[i]) == (i % 8 == 7));
}

TEST_CASE("interpreter: scales and selectors that mean nothing") {
    const std::string scales = "mov.u32 %r9, 0x38383838; mov.u32 %r10, %r9; mov.u16 %h1, 0;\n";
    const auto with = [&](const std::string& a, const std::string& b, const std::string& before = "",
                          std::size_t form = 0) {
        return fault(kBegin + forms()[form].opcode + " " + kMatrices + "%r9, " + a + ", %r10, " + b + ";",
                     scales + before);
    };
    CHECK(with("{0, 0}", "{0, 0}") == "");
    CHECK(with("{0, 1}", "{0, 3}") == "");
    CHECK(with("{1, 0}", "{0, 0}") == "byte-id-a 1: expected 0");
    CHECK(with("{0, 2}", "{0, 0}") == "thread-id-a 2: expected 0 to 1");
    CHECK(with("{0, 0}", "{2, 0}") == "byte-id-b 2: expected 0");
    CHECK(with("{0, 0}", "{0, 4}") == "thread-id-b 4: expected 0 to 3");
    CHECK(with("{0, 0}", "{-1, 0}") == "byte-id-b 65535: expected 0");
    CHECK(with("{1, 0}", "{0, 0}", "", 2) == "byte-id-a 1: expected 0 or 2");
    CHECK(with("{0, 0}", "{4, 0}", "", 3) == "byte-id-b 4: expected 0 or 2");
    CHECK(with("{4, 0}", "{0, 0}", "", 6) == "byte-id-a 4: expected 0 to 3");
    const std::string last = "setp.eq.u32 %p1, %r1, 31; ";
    CHECK(with("{%h1, 0}", "{0, 0}", last + "@%p1 mov.u16 %h1, 1;\n") == "byte-id-a is 1, and 0 in lane 0");
    CHECK(with("{0, 0}", "{0, %h1}", last + "@%p1 mov.u16 %h1, 2;\n") == "thread-id-b is 2, and 0 in lane 0");
    // Lane 29 holds the scales of row 15, lane 31 those of nobody.
    CHECK(with("{0, 0}", "{0, 0}", "setp.eq.u32 %p1, %r1, 29; @%p1 mov.u32 %r9, 0x38b83838;\n") ==
          "the scale 0xb8 is no ue4m3");
    CHECK(with("{0, 0}", "{0, 0}", last + "@%p1 mov.u32 %r9, 0x38b83838;\n") == "");
    CHECK(with("{0, 1}", "{0, 0}", last + "@%p1 mov.u32 %r9, 0x38b83838;\n") == "the scale 0xb8 is no ue4m3");
    CHECK(fault(instruction_of(forms()[0], {0, 0, 0, 0}), scales, "sm_121f") == "");
    CHECK(fault(instruction_of(forms()[0], {0, 0, 0, 0}), scales, "sm_120a", 16) ==
          "needs all 32 lanes of a warp, and only 0xffff are there");
}

TEST_CASE("interpreter: forms of mma with scales that are not known") {
    const std::string good = "%r9, {0, 0}, %r10, {0, 0}";
    const auto refused = [&](const std::string& modifiers, const std::string& operands,
                             const std::string& target = "sm_120a") {
        const std::string opcode = kBegin + modifiers;
        const std::string error = fault(opcode + " " + kMatrices + operands + ";", "", target);
        const std::string begin = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, begin.size()) == begin);
        return error.substr(begin.size());
    };
    const std::string forms = "not for this shape with these types and scales";
    const std::string tail = ".m16n8k64.row.col.f32.e2m1.e2m1.f32.";
    CHECK(refused("kind::mxf4nvf4.block_scale" + tail + "ue4m3", good) == forms);
    CHECK(refused("kind::mxf4nvf4.block_scale.scale_vec::4X" + tail + "ue8m0", good) == forms);
    CHECK(refused("kind::mxf4nvf4.block_scale.scale_vec::2X" + tail + "ue4m3", good) == forms);
    CHECK(refused("kind::mxf4nvf4.block_scale.scale_vec::1X" + tail + "ue8m0", good) == forms);
    CHECK(refused("kind::mxf4.block_scale.scale_vec::4X" + tail + "ue8m0", good) == forms);
    CHECK(refused("kind::mxf4.block_scale" + tail + "ue4m3", good) == forms);
    CHECK(refused("kind::mxf4.block_scale" + tail + "e4m3", good) == forms);
    CHECK(refused("kind::mxf4.block_scale.m16n8k32.row.col.f32.e2m1.e2m1.f32.ue8m0", good) == forms);
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.col.f16.e2m1.e2m1.f16.ue8m0", good) == forms);
    CHECK(refused("kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e2m1.e2m1.f32.ue8m0", good) == forms);
    CHECK(refused("kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e4m3.e2m1.f32.ue8m0", good) == forms);
    CHECK(refused("kind::mxf8f6f4.block_scale.m16n8k64.row.col.f32.e4m3.e4m3.f32.ue8m0", good) == forms);
    CHECK(refused("kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e3m2.e4m3.f32.ue8m0", good) ==
          "expected a type of matrices, found .e3m2");
    CHECK(refused("kind::mxf4.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0", good) == "expected .block_scale");
    CHECK(refused("kind::mxf4.block_scale.scale_vec::3X" + tail + "ue8m0", good) ==
          "expected a shape, found .scale_vec::3X");
    CHECK(refused("kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32", good) ==
          "expected a shape, found .kind::f8f6f4");
    CHECK(refused("kind::mxf4nvf4.kind::mxf4.block_scale" + tail + "ue8m0", good) == "expected .block_scale");
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
                  good) == "two kinds");
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.row.f32.e2m1.e2m1.f32.ue8m0", good) ==
          "expected .row.col");
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.col.satfinite.f32.e2m1.e2m1.f32.ue8m0", good) ==
          ".satfinite of this type");
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.col.f32.e2m1.e2m1.f32", good) ==
          "expected a type of scales");
    CHECK(refused("kind::mxf4.block_scale.m16n8k64.row.col.f32.ue4m3.e2m1.f32.ue8m0", good) ==
          "expected a type of matrices, found .ue4m3");
    CHECK(refused("m16n8k64.row.col.f32.e2m1.e2m1.f32", good) == "not for this shape with these types");
    CHECK(refused(kNvfp4 + ".ue4m3", good) == "unknown modifier .ue4m3");
    CHECK(refused(kNvfp4, good, "sm_100a") == "needs sm_120, the module is for sm_100");
    CHECK(refused(kNvfp4, good, "sm_120") == "needs sm_120a or sm_120f, or of a later one");
    CHECK(refused(kNvfp4, "%r9, {0, 0}, %r10") == "expected 8 operands, found 7");
    CHECK(refused(kNvfp4, "%r9, 0, %r10, {0, 0}") == "expected {byte-id, thread-id}, found \"0\"");
    CHECK(refused(kNvfp4, "%r9, {0}, %r10, {0, 0}") == "expected {byte-id, thread-id}, found \"{\"");
    CHECK(refused(kNvfp4, "%r9, {0, 0}, %r10, {0, %r3}") == "operand \"%r3\" has 32 bits, expected 16");
    CHECK(refused(kNvfp4, "%r9, {0, 0}, %r10, {_, 0}") == "a missing element");
    CHECK(refused(kNvfp4, "%h1, {0, 0}, %r10, {0, 0}") == "operand \"%h1\" has 16 bits, expected 32");
    CHECK(refused(kNvfp4, "{%r9, %r9}, {0, 0}, %r10, {0, 0}") ==
          "expected a register of scales, found \"{\"");
    CHECK(refused(kNvfp4, "0x38383838, {0, 0}, %r10, {0, 0}") ==
          "expected a register of scales, found \"0x38383838\"");
}
