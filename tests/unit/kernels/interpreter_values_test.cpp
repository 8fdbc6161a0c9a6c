// Single instructions: what they compute. Expected values are from the PTX ISA or worked out by hand.
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;

namespace {

/// One instruction with 64-bit inputs: %rdN, %rN, %fN, %fdN, %hN hold the same bits of input N (4 to 6); the
/// result is taken from the register of the instruction's own kind, number 7.
std::uint64_t value_of(const std::string& instruction, std::vector<std::uint64_t> inputs) {
    inputs.resize(4);
    std::string body;
    for (int i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i + 4);
        const std::string at = "[%rd1+" + std::to_string(8 * i) + "];\n";
        body += "ld.global.u64 %rd" + n + ", " + at + "ld.global.u32 %r" + n + ", " + at +
                "ld.global.f32 %f" + n + ", " + at + "ld.global.f64 %fd" + n + ", " + at +
                "ld.global.u16 %h" + n + ", " + at;
    }
    body += "setp.ne.s64 %p4, %rd6, 0;\n" + instruction + "\n";
    std::string to;
    for (const char* name : {"%p7", "%h7", "%r7", "%f7", "%rd7", "%fd7"})
        to = instruction.find(name) != std::string::npos ? name : to;
    if (to == "%p7") {
        body += "selp.u64 %rd7, 1, 0, %p7;\nst.global.u64 [%rd1+24], %rd7;";
    } else {
        const std::string type = to[1] == 'h' ? "b16" : to == "%rd7" || to == "%fd7" ? "b64" : "b32";
        body += "st.global." + type + " [%rd1+24], " + to + ";";
    }
    PtxMachine machine(ptx_kernel(body));
    const std::uint64_t address = machine.upload(inputs);
    REQUIRE(machine.launch("k", {}, {}, address) == "");
    return machine.download<std::uint64_t>(address, 4)[3];
}

struct Row {
    const char* instruction;
    std::vector<std::uint64_t> inputs;
    std::uint64_t expected;
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        CAPTURE(row.instruction);
        CHECK(value_of(row.instruction, row.inputs) == row.expected);
    }
}

}  // namespace

TEST_CASE("interpreter: integers") {
    check({
        {"add.s32 %r7, %r4, %r5;", {0x7fffffff, 1}, 0x80000000},
        {"add.sat.s32 %r7, %r4, %r5;", {0x7fffffff, 1}, 0x7fffffff},
        {"sub.sat.s32 %r7, %r4, %r5;", {0x80000000, 1}, 0x80000000},
        {"sub.u16 %h7, %h4, %h5;", {0, 1}, 0xffff},
        {"mul.hi.u32 %r7, %r4, %r5;", {0xffffffff, 0xffffffff}, 0xfffffffe},
        {"mul.hi.s32 %r7, %r4, %r5;", {0xffffffff, 0xffffffff}, 0},
        {"mul.hi.s64 %rd7, %rd4, %rd5;", {1ULL << 63, 2}, ~0ULL},
        {"mul.wide.s32 %rd7, %r4, %r5;", {0xffffffff, 2}, static_cast<std::uint64_t>(-2)},
        {"mul.wide.u32 %rd7, %r4, %r5;", {0xffffffff, 2}, 0x1fffffffe},
        {"mul.wide.u16 %r7, %h4, %h5;", {0xffff, 0xffff}, 0xfffe0001},
        {"mad.lo.s32 %r7, %r4, %r5, %r6;", {3, 4, 5}, 17},
        {"mad.wide.u32 %rd7, %r4, %r5, %rd6;", {0xffffffff, 0xffffffff, 1}, 0xfffffffe00000002},
        {"mad.hi.u32 %r7, %r4, %r5, %r6;", {0x80000000, 4, 5}, 7},
        {"mul24.lo.s32 %r7, %r4, %r5;", {0xffffff, 5}, static_cast<std::uint32_t>(-5)},
        {"div.s32 %r7, %r4, %r5;", {0x80000000, 0xffffffff}, 0x80000000},
        {"div.s32 %r7, %r4, %r5;", {static_cast<std::uint32_t>(-7), 2}, static_cast<std::uint32_t>(-3)},
        {"rem.s32 %r7, %r4, %r5;", {static_cast<std::uint32_t>(-7), 2}, static_cast<std::uint32_t>(-1)},
        {"rem.u64 %rd7, %rd4, %rd5;", {~0ULL, 10}, 5},
        {"min.s32 %r7, %r4, %r5;", {0xffffffff, 1}, 0xffffffff},
        {"min.u32 %r7, %r4, %r5;", {0xffffffff, 1}, 1},
        {"max.s64 %rd7, %rd4, %rd5;", {~0ULL, 1}, 1},
        {"abs.s32 %r7, %r4;", {0x80000000}, 0x80000000},
        {"neg.s16 %h7, %h4;", {1}, 0xffff},
        {"sad.u32 %r7, %r4, %r5, %r6;", {3, 10, 5}, 12},
        {"dp4a.s32.u32 %r7, %r4, %r5, %r6;", {0xff020304, 0x01010101, 10}, 18},
        {"{ add.cc.u32 %r7, %r4, %r5; addc.u32 %r7, 0, 0; }", {0xffffffff, 1}, 1},
        {"{ sub.cc.u32 %r7, %r4, %r5; subc.u32 %r7, 5, 0; }", {0, 1}, 4},
        {"{ mad.lo.cc.u32 %r7, %r4, %r5, %r6; madc.hi.u32 %r7, %r4, %r5, 0; }",
         {0xffffffff, 0xffffffff, 0xffffffff},
         0xffffffff},
    });
}

TEST_CASE("interpreter: bits") {
    check({
        {"shl.b32 %r7, %r4, %r5;", {1, 32}, 0},
        {"shr.u32 %r7, %r4, %r5;", {0x80000000, 33}, 0},
        {"shr.s32 %r7, %r4, %r5;", {0x80000000, 99}, 0xffffffff},
        {"shr.s64 %rd7, %rd4, %r5;", {1ULL << 63, 63}, ~0ULL},
        {"not.b32 %r7, %r4;", {0xf}, 0xfffffff0},
        {"cnot.b32 %r7, %r4;", {5}, 0},
        {"xor.b64 %rd7, %rd4, %rd5;", {~0ULL, 1}, ~1ULL},
        {"lop3.b32 %r7, %r4, %r5, %r6, 0x96;", {0xf0, 0xcc, 0xaa}, 0x96},
        {"lop3.b32 %r7, %r4, %r5, %r6, 0xca;", {0xff00, 0x1234, 0x5678}, 0x1278},
        {"popc.b64 %r7, %rd4;", {~0ULL}, 64},
        {"clz.b32 %r7, %r4;", {1}, 31},
        {"clz.b32 %r7, %r4;", {0}, 32},
        {"brev.b32 %r7, %r4;", {1}, 0x80000000},
        {"bfind.u32 %r7, %r4;", {0}, 0xffffffff},
        {"bfind.s32 %r7, %r4;", {0xffffff00}, 7},
        {"bfind.shiftamt.u32 %r7, %r4;", {0x100}, 23},
        {"bfe.u32 %r7, %r4, %r5, %r6;", {0xabcd1234, 8, 8}, 0x12},
        {"bfe.s32 %r7, %r4, %r5, %r6;", {0x8000, 12, 4}, 0xfffffff8},
        {"bfe.u32 %r7, %r4, %r5, %r6;", {0xffffffff, 0, 0}, 0},
        {"bfi.b32 %r7, %r4, %r5, %r6, 4;", {0xf, 0, 8}, 0xf00},
        {"prmt.b32 %r7, %r4, %r5, %r6;", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
        {"prmt.b32 %r7, %r4, %r5, %r6;", {0x80, 0, 0x8888}, 0xffffffff},
        {"shf.l.wrap.b32 %r7, %r4, %r5, %r6;", {0x80000000, 1, 1}, 3},
        {"shf.r.clamp.b32 %r7, %r4, %r5, %r6;", {5, 9, 40}, 9},
        {"shf.l.clamp.b32 %r7, %r4, %r5, %r6;", {5, 9, 40}, 5},
        {"{ mov.b64 {%r7, %r3}, %rd4; }", {0x1122334455667788}, 0x55667788},
        {"mov.b64 %rd7, {%r4, %r5};", {1, 2}, 0x200000001},
        {"{ .reg .b16 %x; mov.b32 {%x, %h7}, %r4; }", {0xabcd1234}, 0xabcd},
    });
}

TEST_CASE("interpreter: comparisons and selections") {
    constexpr std::uint64_t kNan = 0x7fc00000;
    check({
        {"setp.lt.s32 %p7, %r4, %r5;", {0xffffffff, 0}, 1},
        {"setp.lt.u32 %p7, %r4, %r5;", {0xffffffff, 0}, 0},
        {"setp.lo.u32 %p7, %r4, %r5;", {0, 1}, 1},
        {"setp.eq.f32 %p7, %f4, %f5;", {kNan, kNan}, 0},
        {"setp.ne.f32 %p7, %f4, %f5;", {kNan, 0}, 0},
        {"setp.neu.f32 %p7, %f4, %f5;", {kNan, 0}, 1},
        {"setp.ltu.f32 %p7, %f4, %f5;", {kNan, 0}, 1},
        {"setp.nan.f32 %p7, %f4, %f5;", {kNan, 0}, 1},
        {"setp.num.f32 %p7, %f4, %f5;", {0, 0}, 1},
        {"setp.gt.ftz.f32 %p7, %f4, %f5;", {1, 0}, 0},
        {"setp.eq.and.s32 %p7, %r4, %r5, %p4;", {1, 1, 0}, 0},
        {"setp.eq.or.s32 %p7, %r4, %r5, !%p4;", {1, 2, 0}, 1},
        {"setp.gt.f16 %p7, %h4, %h5;", {0x3c00, 0xbc00}, 1},
        {"{ setp.eq.s32 %p3|%p7, %r4, %r5; }", {1, 2}, 1},
        {"set.eq.u32.s32 %r7, %r4, %r5;", {1, 1}, 0xffffffff},
        {"set.lt.f32.f32 %f7, %f4, %f5;", {0, 0x3f800000}, 0x3f800000},
        {"selp.b32 %r7, %r4, %r5, %p4;", {1, 2, 0}, 2},
        {"slct.u32.s32 %r7, %r4, %r5, %r6;", {1, 2, 0x80000000}, 2},
        {"testp.subnormal.f32 %p7, %f4;", {1}, 1},
        {"testp.finite.f32 %p7, %f4;", {0x7f800000}, 0},
        {"and.pred %p7, %p4, %p4;", {0, 0, 1}, 1},
        {"not.pred %p7, %p4;", {0, 0, 1}, 0},
        {"mov.pred %p7, 1;", {}, 1},
    });
}

TEST_CASE("interpreter: f32 and f64") {
    check({
        {"add.rz.f32 %f7, %f4, %f5;", {0x3f800000, 0x33ffffff}, 0x3f800000},
        {"add.rp.f32 %f7, %f4, %f5;", {0x3f800000, 1}, 0x3f800001},
        {"add.rm.f32 %f7, %f4, %f5;", {0xbf800000, 0x80000001}, 0xbf800001},
        {"add.f32 %f7, %f4, %f5;", {0x7f800000, 0xff800000}, 0x7fffffff},
        {"add.ftz.f32 %f7, %f4, %f5;", {1, 0}, 0},
        {"add.sat.f32 %f7, %f4, %f5;", {0x40000000, 0}, 0x3f800000},
        {"add.sat.f32 %f7, %f4, %f5;", {0x7fc00000, 0}, 0},
        {"fma.rn.f32 %f7, %f4, %f5, %f6;", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
        {"fma.rn.f64 %fd7, %fd4, %fd5, %fd6;",
         {0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002},
         0x3970000000000000},
        {"div.rn.f32 %f7, %f4, %f5;", {0x3f800000, 0x40400000}, 0x3eaaaaab},
        {"div.rz.f32 %f7, %f4, %f5;", {0x3f800000, 0x40400000}, 0x3eaaaaaa},
        {"div.rp.f64 %fd7, %fd4, %fd5;", {0x3ff0000000000000, 0x4008000000000000}, 0x3fd5555555555556},
        {"rcp.rn.f32 %f7, %f4;", {0}, 0x7f800000},
        {"rcp.approx.ftz.f64 %fd7, %fd4;", {0x4008000012345678}, 0x3fd5555500000000},
        {"rcp.approx.ftz.f64 %fd7, %fd4;", {0xc000000000000000}, 0xbfe0000000000000},
        {"rcp.approx.ftz.f64 %fd7, %fd4;", {0x000fffffffffffff}, 0x7ff0000000000000},
        {"rcp.approx.ftz.f64 %fd7, %fd4;", {0x7fe0000000000000}, 0},
        {"sqrt.rn.f32 %f7, %f4;", {0x40000000}, 0x3fb504f3},
        {"sqrt.rn.f32 %f7, %f4;", {0xbf800000}, 0x7fffffff},
        {"min.f32 %f7, %f4, %f5;", {0x7fc00000, 0x3f800000}, 0x3f800000},
        {"min.NaN.f32 %f7, %f4, %f5;", {0x7fc00000, 0x3f800000}, 0x7fffffff},
        {"min.f32 %f7, %f4, %f5;", {0, 0x80000000}, 0x80000000},
        {"max.f32 %f7, %f4, %f5;", {0x80000000, 0}, 0},
        {"neg.f32 %f7, %f4;", {0}, 0x80000000},
        {"copysign.f32 %f7, %f4, %f5;", {0x80000000, 0x3f800000}, 0xbf800000},
        {"ex2.approx.f32 %f7, %f4;", {0x40400000}, 0x41000000},
        {"lg2.approx.f32 %f7, %f4;", {0x41000000}, 0x40400000},
        {"rsqrt.approx.f32 %f7, %f4;", {0x40800000}, 0x3f000000},
        {"sin.approx.f32 %f7, %f4;", {0x80000000}, 0x80000000},
    });
}

TEST_CASE("interpreter: f16 and bf16") {
    check({
        {"add.f16 %h7, %h4, %h5;", {0x3c00, 0x1000}, 0x3c00},
        {"add.f16 %h7, %h4, %h5;", {0x3c00, 0x1001}, 0x3c01},
        {"add.f16 %h7, %h4, %h5;", {0x7bff, 0x7bff}, 0x7c00},
        {"add.f16 %h7, %h4, %h5;", {0x7c00, 0xfc00}, 0x7fff},
        {"mul.f16 %h7, %h4, %h5;", {1, 0x3800}, 0},
        {"mul.ftz.f16 %h7, %h4, %h5;", {1, 0x4000}, 0},
        {"fma.rn.f16 %h7, %h4, %h5, %h6;", {0x3c00, 0x3c00, 1}, 0x3c00},
        {"fma.rn.relu.f16 %h7, %h4, %h5, %h6;", {0xbc00, 0x3c00, 0}, 0},
        {"add.f16x2 %r7, %r4, %r5;", {0x3c004000, 0x3c003c00}, 0x40004200},
        {"neg.bf16 %h7, %h4;", {0x3f80}, 0xbf80},
        {"fma.rn.bf16 %h7, %h4, %h5, %h6;", {0x3f80, 0x4000, 0x3f80}, 0x4040},
        {"max.f16x2 %r7, %r4, %r5;", {0x7e003c00, 0x3c004000}, 0x3c004000},
    });
}

TEST_CASE("interpreter: conversions") {
    check({
        {"cvt.s64.s32 %rd7, %r4;", {0xffffffff}, ~0ULL},
        {"cvt.u64.u32 %rd7, %r4;", {0xffffffff}, 0xffffffff},
        {"cvt.s32.s8 %r7, %r4;", {0x80}, 0xffffff80},
        {"cvt.u16.u64 %h7, %rd4;", {0x12345678}, 0x5678},
        {"cvt.sat.s8.s32 %r7, %r4;", {300}, 127},
        {"cvt.sat.u8.s32 %r7, %r4;", {0xffffffff}, 0},
        {"cvt.rn.f32.s32 %f7, %r4;", {0x7fffffff}, 0x4f000000},
        {"cvt.rz.f32.s32 %f7, %r4;", {0x7fffffff}, 0x4effffff},
        {"cvt.rn.f32.u64 %f7, %rd4;", {0xffffff8000000001}, 0x5f800000},
        {"cvt.rn.f64.s64 %fd7, %rd4;", {~0ULL}, 0xbff0000000000000},
        {"cvt.rni.s32.f32 %r7, %f4;", {0x40200000}, 2},
        {"cvt.rzi.s32.f32 %r7, %f4;", {0xc0200000}, 0xfffffffe},
        {"cvt.rmi.s32.f32 %r7, %f4;", {0xc0200000}, 0xfffffffd},
        {"cvt.rpi.s32.f32 %r7, %f4;", {0x40200000}, 3},
        {"cvt.rzi.s32.f32 %r7, %f4;", {0x7fc00000}, 0},
        {"cvt.rzi.s32.f32 %r7, %f4;", {0x7f800000}, 0x7fffffff},
        {"cvt.rzi.u32.f32 %r7, %f4;", {0xbf800000}, 0},
        {"cvt.rzi.u64.f64 %rd7, %fd4;", {0x7ff8000000000000}, 1ULL << 63},
        {"cvt.rn.f32.f64 %f7, %fd4;", {0x3ff0000010000001}, 0x3f800001},
        {"cvt.rz.f32.f64 %f7, %fd4;", {0x3ff000001fffffff}, 0x3f800000},
        {"cvt.f64.f32 %fd7, %f4;", {0x3fc00000}, 0x3ff8000000000000},
        {"cvt.rn.f16.f32 %h7, %f4;", {0x3f801000}, 0x3c00},
        {"cvt.rn.f16.f32 %h7, %f4;", {0x3f803000}, 0x3c02},
        {"cvt.rn.f16.f32 %h7, %f4;", {0x47800000}, 0x7c00},
        {"cvt.rz.f16.f32 %h7, %f4;", {0x47800000}, 0x7bff},
        {"cvt.rn.f16.f32 %h7, %f4;", {0x33800000}, 1},
        {"cvt.f32.f16 %f7, %h4;", {0x0001}, 0x33800000},
        {"cvt.rn.bf16.f32 %h7, %f4;", {0x3f808000}, 0x3f80},
        {"cvt.rn.bf16.f32 %h7, %f4;", {0x3f818000}, 0x3f82},
        {"cvt.f32.bf16 %f7, %h4;", {0x3f80}, 0x3f800000},
        {"cvt.rn.f16x2.f32 %r7, %f4, %f5;", {0x3f800000, 0x40000000}, 0x3c004000},
        {"cvt.rni.f32.f32 %f7, %f4;", {0x40200000}, 0x40000000},
        {"cvt.rzi.f32.f32 %f7, %f4;", {0xbf000000}, 0x80000000},
        {"cvt.sat.f32.f32 %f7, %f4;", {0x40000000}, 0x3f800000},
        {"cvt.ftz.f64.f32 %fd7, %f4;", {1}, 0},
    });
}
