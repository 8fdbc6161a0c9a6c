// wmma: matrices in memory, by rows and by columns, with strides; what comes out is compared with a sum in
// f64.
#include "unit/kernels/matrix_fixture.hpp"
#include "unit/kernels/ptx_machine.hpp"

using namespace cudamatrix::suite;
using matrix_fixture::bits_of;
using matrix_fixture::Matrix;

namespace {

struct Form {
    int m, n, k;
    std::string d, a, b, c;
    std::string shape() const {
        return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
    }
    std::string opcode(bool a_columns, bool b_columns) const {
        const std::string types = a == "f16" ? d + "." + c : d + "." + a + "." + b + "." + c;
        return std::string("wmma.mma.sync.aligned.") + (a_columns ? "col" : "row") +
               (b_columns ? ".col." : ".row.") + shape() + "." + types + (a == "f64" ? ".rn" : "");
    }
};

/// How many registers PTX says that a fragment has.
int registers_of(const Form& form, char part) {
    const std::string& type = part == 'a' ? form.a : part == 'b' ? form.b : part == 'c' ? form.c : form.d;
    if (type == "f16" && part < 'c') return 8;
    const int elements = part == 'a' ? form.m * form.k : part == 'b' ? form.k * form.n : form.m * form.n;
    return elements * bits_of(type) / 32 / (type == "f64" ? 64 : 32);
}

std::string vector_of(const Form& form, char part) {
    std::string text;
    for (int i = 0; i < registers_of(form, part); ++i)
        text += (i == 0 ? "{%" : ", %") + std::string(1, part) + std::to_string(i);
    return text + "}";
}

std::string declared(const Form& form) {
    std::string text;
    for (const char part : {'a', 'b', 'c', 'd'}) {
        const std::string& type = part == 'a' ? form.a : part == 'b' ? form.b : part == 'c' ? form.c : form.d;
        text += ".reg ." + std::string(bits_of(type) == 64 ? "b64" : "b32") + " %" + part + "<9>;\n";
    }
    return text;
}

/// The bytes of a matrix with `stride` elements from one row (or column) to the next; between them, what is
/// written nowhere else.
std::vector<std::uint8_t> stored(const Matrix& matrix, bool columns, int stride) {
    const int bytes = bits_of(matrix.type) / 8;
    const int lines = columns ? matrix.columns : matrix.rows;
    std::vector<std::uint8_t> all(static_cast<std::size_t>(lines * stride * bytes), 0x7e);
    for (int row = 0; row < matrix.rows; ++row) {
        for (int column = 0; column < matrix.columns; ++column) {
            const std::uint64_t bits = matrix_fixture::bits_of_value(matrix.type, matrix.at(row, column));
            const int at = columns ? column * stride + row : row * stride + column;
            std::memcpy(all.data() + at * bytes, &bits, static_cast<std::size_t>(bytes));
        }
    }
    return all;
}

struct Orders {
    bool a, b, c, d;  ///< by columns
    int more;         ///< elements between rows (or columns)
};

/// The bits of D in memory, and what is between its rows.
std::vector<std::uint8_t> run(const Form& form, const Orders& by, const Matrix& a, const Matrix& b,
                              const Matrix& c) {
    const auto stride = [&](bool columns, int rows, int count) { return (columns ? rows : count) + by.more; };
    const int strides[4] = {stride(by.a, form.m, form.k), stride(by.b, form.k, form.n),
                            stride(by.c, form.m, form.n), stride(by.d, form.m, form.n)};
    const auto name = [](bool columns) { return std::string(columns ? "col." : "row."); };
    const auto load = [&](const std::string& part, bool columns, const std::string& type, int i) {
        const std::string given = by.more == 0 ? "" : ", " + std::to_string(strides[i]);
        return "ld.global.u64 %rd2, [%rd1+" + std::to_string(8 * i) + "];\nwmma.load." + part +
               ".sync.aligned." + name(columns) + form.shape() + (i == 1 ? "." : ".global.") + type + " " +
               vector_of(form, part[0]) + ", [%rd2]" + given + ";\n";
    };
    std::string text =
        ptx_kernel(declared(form) + load("a", by.a, form.a, 0) + load("b", by.b, form.b, 1) +
                   load("c", by.c, form.c, 2) + form.opcode(by.a, by.b) + " " + vector_of(form, 'd') + ", " +
                   vector_of(form, 'a') + ", " + vector_of(form, 'b') + ", " + vector_of(form, 'c') +
                   ";\nld.global.u64 %rd2, [%rd1+24]; mov.u32 %r2, " + std::to_string(strides[3]) +
                   ";\nwmma.store.d.sync.aligned." + name(by.d) + form.shape() + ".global." + form.d +
                   " [%rd2], " + vector_of(form, 'd') + ", %r2;\n");
    PtxMachine machine(text);
    const Matrix zeros{form.m, form.n, form.d,
                       std::vector<double>(static_cast<std::size_t>(form.m * form.n))};
    const std::vector<std::uint8_t> blank = stored(zeros, by.d, strides[3]);
    const std::vector<std::uint64_t> places = {
        machine.upload(stored(a, by.a, strides[0])), machine.upload(stored(b, by.b, strides[1])),
        machine.upload(stored(c, by.c, strides[2])), machine.upload(blank)};
    REQUIRE(machine.launch("k", {}, {32, 1, 1}, machine.upload(places)) == "");
    return machine.download<std::uint8_t>(places[3], blank.size());
}

std::vector<Form> forms() {
    std::vector<Form> all = {{16, 16, 8, "f32", "tf32", "tf32", "f32"},
                             {8, 8, 4, "f64", "f64", "f64", "f64"}};
    const int shapes[3][2] = {{16, 16}, {32, 8}, {8, 32}};
    for (const auto& s : shapes) {
        for (const char* d : {"f16", "f32"}) {
            for (const char* c : {"f16", "f32"})
                all.push_back({s[0], s[1], 16, d, "f16", "f16", c});
        }
        all.push_back({s[0], s[1], 16, "f32", "bf16", "bf16", "f32"});
        all.push_back({s[0], s[1], 16, "s32", "s8", "s8", "s32"});
        all.push_back({s[0], s[1], 16, "s32", "u8", "u8", "s32"});
    }
    return all;
}

/// Error without what is before the reason, of a warp with 4 KiB of written shared memory at s, all lanes
/// having %r2 = s, and 4 KiB of global memory at %rd1.
std::string fault(const std::string& body, std::uint32_t threads = 32, const std::string& target = "sm_80") {
    std::string text = ptx_kernel(
        ".reg .b32 %a<9>; .reg .b32 %b<9>; .reg .b32 %c<9>;\n.shared .align 32 .b8 s[4096];\nmov.u32 %r2, s;\n"
        "mad.lo.u32 %r3, %r1, 128, %r2; mov.u32 %r4, 0;\nL: st.shared.u32 [%r3], 0; add.u32 %r3, %r3, 4; add.u32 %r4, %r4, 1;\n"
        "setp.lt.u32 %p1, %r4, 32; @%p1 bra L;\nbar.sync 0;\n" +
        body);
    text.replace(text.find("sm_80"), 5, target);
    PtxMachine machine(text);
    const std::uint64_t address = machine.upload(std::vector<std::uint32_t>(1024));
    const std::string error = machine.launch("k", {}, {threads, 1, 1}, address);
    const std::size_t at = error.find("\": ");
    return at == std::string::npos ? error : error.substr(at + 3);
}

const std::string kEight = "{%a1,%a2,%a3,%a4,%a5,%a6,%a7,%a8}";

std::string load_of(const std::string& address, const std::string& stride) {
    return "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + kEight + ", [" + address + "], " + stride +
           ";\n";
}

}  // namespace

TEST_CASE("interpreter: wmma of whole numbers is exact, by rows and columns and with strides") {
    matrix_fixture::Random random;
    for (const Form& form : forms()) {
        for (unsigned orders = 0; orders < 32; ++orders) {
            const Orders by = {(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0, (orders & 8) != 0,
                               (orders & 16) != 0 ? 16 : 0};
            CAPTURE(form.opcode(by.a, by.b));
            CAPTURE(orders);
            const auto given = matrix_fixture::product(random, form, form.c, false);
            Matrix sums{form.m, form.n, form.d, {}};
            for (const auto& sum : given.expected)
                sums.values.push_back(sum.first);
            const int stride = (by.d ? form.m : form.n) + by.more;
            REQUIRE(run(form, by, given.a, given.b, given.c) == stored(sums, by.d, stride));
        }
    }
}

TEST_CASE("interpreter: wmma of fractions is as near as the type of D allows") {
    matrix_fixture::Random random;
    for (const Form& form : forms()) {
        if (form.d == "s32") continue;  // whole numbers: above
        CAPTURE(form.opcode(false, true));
        const auto given = matrix_fixture::product(random, form, form.c, true);
        const std::vector<std::uint8_t> bytes =
            run(form, {false, true, false, false, 0}, given.a, given.b, given.c);
        const std::size_t size = static_cast<std::size_t>(bits_of(form.d)) / 8;
        const double bound = std::ldexp(2.0, -matrix_fixture::digits_of(form.d));
        for (std::size_t i = 0; i < given.expected.size(); ++i) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, bytes.data() + i * size, size);
            const double value = matrix_fixture::value_of_bits(form.d, bits);
            REQUIRE(std::fabs(value - given.expected[i].first) <= bound * given.expected[i].second);
        }
    }
}

TEST_CASE("interpreter: matrices in memory that wmma does not take") {
    CHECK(fault(load_of("%r2", "16")) == "");
    CHECK(fault(load_of("%r2", "24")) == "");
    CHECK(fault(load_of("%r2+8", "16")) == "address 0x8 of a matrix is not aligned to 32 bytes");
    CHECK(fault(load_of("%r2+16", "16")) == "address 0x10 of a matrix is not aligned to 32 bytes");
    CHECK(fault(load_of("%r2", "17")) == "a stride of 17 elements is no multiple of 16 bytes");
    CHECK(fault(load_of("%r2", "20")) == "a stride of 20 elements is no multiple of 16 bytes");
    CHECK(fault(load_of("%r2", "8")) == "a stride of 8 elements: there are 16 in a row");
    CHECK(fault(load_of("%r2", "0")) == "a stride of 0 elements: there are 16 in a row");
    CHECK(fault("wmma.load.a.sync.aligned.col.m32n8k16.shared.f16 " + kEight + ", [%r2], 16;") ==
          "a stride of 16 elements: there are 32 in a column");
    CHECK(fault(load_of("%r2", "%r1")) == "the lanes have different strides");
    CHECK(fault("mad.lo.u32 %r3, %r1, 32, %r2;\n" + load_of("%r3", "16")) ==
          "the lanes have different addresses");
    CHECK(fault(load_of("%r2+3616", "16")) ==
          "2 bytes at address 0x1000 of shared memory: the block has 4096 bytes");
    CHECK(fault(load_of("%r2", "256")).find("of shared memory: the block has 4096 bytes") !=
          std::string::npos);
    CHECK(fault("wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r2+3840], {%a1,%a2,%a3,%a4}, 16;")
              .find("of shared memory: the block has 4096 bytes") != std::string::npos);
    CHECK(fault("wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1+16], {%a1,%a2,%a3,%a4}, 24;") ==
          "");
    CHECK(fault("wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd1+8], {%a1,%a2,%a3,%a4}, 24;") ==
          "address 0x10000000000008 of a matrix is not aligned to 16 bytes");
    CHECK(fault(".shared .align 32 .b8 t[512];\nwmma.load.b.sync.aligned.row.m16n16k16.shared.f16 " + kEight +
                ", [t], 16;") == "reads 2 bytes at address 0x1000 that nothing has written");
    CHECK(fault("st.shared.u32 [%r2+4], %r1;\n" + load_of("%r2", "16")).substr(0, 5) == "race:");
}

TEST_CASE("interpreter: wmma asks for all lanes of the warp") {
    CHECK(fault(load_of("%r2", "16"), 8) == "needs all 32 lanes of a warp, and only 0xff are there");
    CHECK(fault("setp.gt.u32 %p1, %r1, 0;\n@%p1 " + load_of("%r2", "16")) ==
          "the lanes 0x1 of the member mask 0xffffffff do not execute this instruction");
    CHECK(fault("setp.gt.u32 %p1, %r1, 0;\n@%p1 wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r2], "
                "{%a1,%a2,%a3,%a4}, 16;") ==
          "the lanes 0x1 of the member mask 0xffffffff do not execute this instruction");
    CHECK(fault("setp.gt.u32 %p1, %r1, 0;\n@%p1 exit;\nwmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 "
                "{%c1,%c2,%c3,%c4}, " +
                kEight + ", " + kEight + ", {%c1,%c2,%c3,%c4};") ==
          "needs all 32 lanes of a warp, and only 0x1 are there");
}

TEST_CASE("interpreter: forms of wmma that are not known") {
    const auto refused = [](const std::string& opcode, const std::string& operands,
                            const std::string& target = "sm_80") {
        const std::string error = fault(opcode + " " + operands + ";", 32, target);
        const std::string begin = "not supported by the interpreter: " + opcode + ": ";
        CAPTURE(error);
        REQUIRE(error.substr(0, begin.size()) == begin);
        return error.substr(begin.size());
    };
    const std::string forms = "not for this shape with these types";
    const std::string load = kEight + ", [%r2], 16";
    CHECK(refused("wmma.foo", "%r1") == "expected .load, .store or .mma");
    CHECK(refused("wmma.load.d.sync.aligned.row.m16n16k16.f16", load) == "expected .a, .b or .c");
    CHECK(refused("wmma.store.c.sync.aligned.row.m16n16k16.f16", load) == "expected .d");
    CHECK(refused("wmma.load.a.row.m16n16k16.f16", load) == "expected .sync.aligned");
    CHECK(refused("wmma.load.a.sync.aligned.m16n16k16.f16", load) == "expected .row or .col");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k8.f16", load) == forms);
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.f32", load) == forms);
    CHECK(refused("wmma.load.c.sync.aligned.row.m16n16k16.bf16", load) == forms);
    CHECK(refused("wmma.load.c.sync.aligned.row.m8n8k4.f32", load) == forms);
    CHECK(refused("wmma.load.a.sync.aligned.row.m8n8k32.s4", load) ==
          "expected a type of matrices, found .s4");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.local.f16", load) == "not in this state space");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.f16", "{%a1,%a2}, [%r2], 16") ==
          "expected a vector of 8 registers, found one of 2");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.f16", kEight) ==
          "expected 2 to 3 operands, found 1");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k16.s8", "{%a1,%a2}, [%r2], 16", "sm_70") ==
          "needs sm_72, the module is for sm_70");
    CHECK(refused("wmma.load.a.sync.aligned.row.m16n16k8.tf32", "{%a1,%a2,%a3,%a4}, [%r2], 8", "sm_75") ==
          "needs sm_80, the module is for sm_75");
    const std::string all = "{%c1,%c2,%c3,%c4}, " + kEight + ", " + kEight + ", {%c1,%c2,%c3,%c4}";
    CHECK(refused("wmma.mma.sync.aligned.row.col.m16n16k16.f16.bf16.bf16.f16", all) == forms);
    CHECK(refused("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32", all) == forms);
    CHECK(refused("wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f16", all) == forms);
    CHECK(refused("wmma.mma.sync.aligned.row.m16n16k16.f16.f16", all) == "expected .row or .col");
    CHECK(refused("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite", all) ==
          ".satfinite of this type");
    CHECK(refused("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.rn", all) == "unknown modifier .rn");
    CHECK(refused("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", all) ==
          "expected .sync.aligned");
}
