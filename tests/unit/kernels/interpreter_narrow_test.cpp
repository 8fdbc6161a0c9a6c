// cvt of tf32, e4m3 and e5m2. Of the latter two all codes, and 65536 values each, are compared with what
// CUDA's own headers compute on the host: the hashes (FNV-1a over the bytes of the results) are of
// cuda_fp8.hpp of nvcc 13.0.88,
// __nv_cvt_halfraw_to_fp8 and __nv_cvt_float_to_fp8 with __NV_SATFINITE, and __nv_cvt_fp8_to_halfraw.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

constexpr const char* kNew = "sm_89";

/// What `body` makes of %r4 and %r5 (as %f4 and %f5, too; %h4 is the low half) in %h7 or %r7, whose bits are
/// kept: one thread for each pair.
std::vector<std::uint32_t> results(const std::string& body, const std::vector<std::uint32_t>& inputs,
                                   const std::string& target = kNew) {
    const auto threads = static_cast<std::uint32_t>(inputs.size() / 2);
    const bool half = body.find("%h7") != std::string::npos;
    std::string text = ptx_kernel(
        "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 256, %r1;\nmul.wide.u32 %rd2, %r1, 8; add.s64 %rd2, %rd1, %rd2;\n"
        "ld.global.v2.u32 {%r4, %r5}, [%rd2]; mov.b32 %f4, %r4; mov.b32 %f5, %r5; cvt.u16.u32 %h4, %r4;\n" +
        body + "\n" + (half ? "cvt.u32.u16 %r7, %h7;" : "") + "\nst.global.u32 [%rd2], %r7;");
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::uint64_t address = machine.upload(inputs);
    const std::string error =
        machine.launch("k", {(threads + 255) / 256, 1, 1}, {std::min(threads, 256U), 1, 1}, address);
    REQUIRE(error == "");
    std::vector<std::uint32_t> all = machine.download<std::uint32_t>(address, inputs.size());
    for (std::size_t i = 0; i < threads; ++i)
        all[i] = all[2 * i];
    all.resize(threads);
    return all;
}

std::uint32_t result(const std::string& body, std::uint32_t a, std::uint32_t b = 0) {
    return results(body, {a, b})[0];
}

std::uint64_t hash(std::uint64_t so_far, std::uint32_t byte) {
    return (so_far ^ byte) * 0x100000001b3ULL;
}
constexpr std::uint64_t kEmpty = 0xcbf29ce484222325ULL;

/// Of the pairs of bytes in `values`: the low one, then the high one.
std::uint64_t hash_of_pairs(const std::vector<std::uint32_t>& values) {
    std::uint64_t made = kEmpty;
    for (const std::uint32_t value : values)
        made = hash(hash(made, value & 0xff), value >> 8 & 0xff);
    return made;
}

std::string fault(const std::string& instruction, const std::string& target = kNew) {
    std::string text = ptx_kernel(instruction);
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::string error = machine.launch("k", {}, {}, std::uint64_t{0});
    const std::string begin = "not supported by the interpreter: ";
    const std::size_t at = error.find(begin);
    return at == std::string::npos ? error : error.substr(at + begin.size());
}

}  // namespace

TEST_CASE("interpreter: cvt into tf32") {
    const std::string cvt = "cvt.rna.tf32.f32 %r7, %f4;";
    CHECK(result(cvt, 0x3f800000) == 0x3f800000);
    CHECK(result(cvt, 0x3f800fff) == 0x3f800000);
    CHECK(result(cvt, 0x3f801000) == 0x3f802000);  // ties go away from zero
    CHECK(result(cvt, 0xbf801000) == 0xbf802000);
    CHECK(result(cvt, 0x3fffffff) == 0x40000000);
    CHECK(result(cvt, 0x00001000) == 0x00002000);  // a subnormal number
    CHECK(result(cvt, 0x7f7fffff) == 0x7f800000);
    CHECK(result(cvt, 0xff800000) == 0xff800000);
    CHECK(result(cvt, 0xffc00001) == 0x7fffffff);
    CHECK(result(cvt, 0x80000000) == 0x80000000);
}

TEST_CASE("interpreter: cvt into and from e4m3 and e5m2, as CUDA's headers do") {
    std::vector<std::uint32_t> halves;
    std::vector<std::uint32_t> singles;
    std::vector<std::uint32_t> codes;
    std::uint32_t state = 1;
    for (std::uint32_t i = 0; i < 65536; ++i) {
        state = state * 1664525U + 1013904223U;
        singles.push_back(i << 16 | state >> 16);
    }
    for (std::uint32_t i = 0; i < 65536; i += 2) {
        halves.push_back(i | (i + 1) << 16);
        halves.push_back(0);
    }
    for (std::uint32_t i = 0; i < 256; i += 2) {
        codes.push_back(i | (i + 1) << 8);
        codes.push_back(0);
    }
    struct Row {
        std::string type;
        std::uint64_t half, code, single;
    };
    for (const Row& row : {Row{"e4m3x2", 0x55456763debf12a5, 0x96c3b1155f57ce9, 0x74a9fea1a741f4c5},
                           Row{"e5m2x2", 0xd102d7d39f29d5a5, 0xa3a0c24a486ab619, 0x444320e4e476a385}}) {
        CAPTURE(row.type);
        CHECK(hash_of_pairs(results("cvt.rn.satfinite." + row.type + ".f16x2 %h7, %r4;", halves)) ==
              row.half);
        CHECK(hash_of_pairs(results("cvt.rn.satfinite." + row.type + ".f32 %h7, %f5, %f4;", singles)) ==
              row.single);
        std::vector<std::uint32_t> bytes;
        for (const std::uint32_t pair : results("cvt.rn.f16x2." + row.type + " %r7, %h4;", codes)) {
            bytes.push_back(pair & 0xffff);
            bytes.push_back(pair >> 16);
        }
        CHECK(hash_of_pairs(bytes) == row.code);
    }
}

TEST_CASE("interpreter: cvt of eights without what is below zero") {
    CHECK(result("cvt.rn.satfinite.relu.e4m3x2.f32 %h7, %f4, %f5;", 0xbf800000, 0x3f800000) == 0x0038);
    CHECK(result("cvt.rn.satfinite.relu.e5m2x2.f32 %h7, %f4, %f5;", 0x3f800000, 0x80000000) == 0x3c00);
    CHECK(result("cvt.rn.satfinite.relu.e4m3x2.f16x2 %h7, %r4;", 0xfe00bc00) == 0x7f00);
    CHECK(result("cvt.rn.relu.f16x2.e4m3x2 %r7, %h4;", 0xb838) == 0x3c00);
    CHECK(result("cvt.rn.relu.f16x2.e5m2x2 %r7, %h4;", 0x3cff) == 0x3c007fff);
}

TEST_CASE("interpreter: forms of these conversions that are not known") {
    CHECK(fault("cvt.rn.tf32.f32 %r7, %f4;") == "cvt.rn.tf32.f32: not for these types");
    CHECK(fault("cvt.rz.tf32.f32 %r7, %f4;") == "cvt.rz.tf32.f32: not in this rounding");
    CHECK(fault("cvt.rna.tf32.f64 %r7, %fd4;") == "cvt.rna.tf32.f64: not for these types");
    CHECK(fault("cvt.rna.tf32.f32 %rd7, %f4;") == "cvt.rna.tf32.f32: the result has 32 bits");
    CHECK(fault("cvt.rna.tf32.f32 %r7, %fd4;") ==
          "cvt.rna.tf32.f32: operand \"%fd4\" has 64 bits, expected 32");
    CHECK(fault("cvt.rna.tf32.f32 %r7, %f4;", "sm_75") ==
          "cvt.rna.tf32.f32: needs sm_80, the module is for sm_75");
    CHECK(fault("cvt.rn.e4m3x2.f32 %h7, %f4, %f5;") == "cvt.rn.e4m3x2.f32: expected .satfinite");
    CHECK(fault("cvt.rn.satfinite.e4m3x2.f32 %h7, %f4;") ==
          "cvt.rn.satfinite.e4m3x2.f32: expected 3 operands, found 2");
    CHECK(fault("cvt.rn.satfinite.e4m3x2.f32 %r7, %f4, %f5;") ==
          "cvt.rn.satfinite.e4m3x2.f32: the result has 16 bits");
    CHECK(fault("cvt.rn.satfinite.e4m3x2.bf16x2 %h7, %r4;") ==
          "cvt.rn.satfinite.e4m3x2.bf16x2: not for these types");
    CHECK(fault("cvt.rn.satfinite.f16x2.e4m3x2 %r7, %h4;") ==
          "cvt.rn.satfinite.f16x2.e4m3x2: not for these types");
    CHECK(fault("cvt.rn.satfinite.e4m3x2.f32 %h7, %f4, %f5;", "sm_86") ==
          "cvt.rn.satfinite.e4m3x2.f32: needs sm_89, the module is for sm_86");
    CHECK(fault("cvt.rn.f16x2.e5m2x2 %r7, %h4;", "sm_80") ==
          "cvt.rn.f16x2.e5m2x2: needs sm_89, the module is for sm_80");
    CHECK(fault("cvt.e4m3x2.f32 %h7, %f4, %f5;") == "cvt.e4m3x2.f32: not in this rounding");
    CHECK(fault("cvt.rn.f32.e4m3x2 %f7, %h4;") == "cvt.rn.f32.e4m3x2: not for these types");
}
