// wgmma: products of matrices that lie in shared memory in each way that there is.
#include <functional>

#include "kernels/interpreter/elements.hpp"
#include "unit/kernels/wgmma_machine.hpp"

using namespace cudamatrix::suite::ptx;
using namespace wgmma_machine;

namespace {

// Small whole numbers, so that all sums are exact.
double a_value(std::size_t row, std::size_t k) {
    return static_cast<double>((row * 7 + k * 3) % 5) - 2;
}
double b_value(std::size_t column, std::size_t k) {
    return static_cast<double>((column * 5 + k * 11 + column / 8) % 7) - 3;
}

std::uint64_t bits_for(Element element, double value) {
    if (element == Element::e4m3 || element == Element::e5m2) {
        for (std::uint64_t bits = 0; bits < 256; ++bits) {
            if (element_value(element, bits) == value) return bits;
        }
    }
    if (element == Element::s8 || element == Element::u8)
        return static_cast<std::uint8_t>(static_cast<int>(value));
    return element_bits(element == Element::tf32 ? Element::f32 : element, value, false);
}

struct Matrices {
    Element element = Element::bf16;
    std::size_t n = 64;
    std::size_t k = 16;
    Layout a;
    Layout b;
    std::uint64_t a_start = 0;
    std::uint64_t b_start = 8192;

    [[nodiscard]] std::vector<std::uint8_t> image() const {
        std::vector<std::uint8_t> bytes(kImage);
        const auto put = [&](std::size_t at, double value) {
            REQUIRE(at + a.size <= kImage);
            const std::uint64_t bits = bits_for(element, value);
            std::memcpy(bytes.data() + at, &bits, a.size);
        };
        for (std::size_t i = 0; i < k; ++i) {
            for (std::size_t row = 0; row < 64; ++row)
                put(a_start + a.at(row, i), a_value(row, i));
            for (std::size_t column = 0; column < n; ++column)
                put(b_start + b.at(column, i), b_value(column, i));
        }
        return bytes;
    }
    [[nodiscard]] double product(std::size_t row, std::size_t column) const {
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i)
            sum += a_value(row, i) * b_value(column, i);
        return sum;
    }
};

// PTX ISA, "Register Fragments for wgmma.mma_async": value `i` of a thread.
std::size_t row_of(std::size_t thread, std::size_t i) {
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
std::size_t column_of(std::size_t thread, std::size_t i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

using Expected = std::function<double(std::size_t row, std::size_t column)>;

void check_sums(const std::vector<std::uint32_t>& out, std::size_t n, Element d, const Expected& expected) {
    const std::size_t per = per_register(d);
    const unsigned bits = bits_of(d);
    for (std::size_t thread = 0; thread < 128; ++thread) {
        for (std::size_t i = 0; i < n / 2; ++i) {
            const std::uint64_t word = out[thread * kMost + i / per] >> i % per * bits;
            const std::size_t row = row_of(thread, i);
            const std::size_t column = column_of(thread, i);
            CAPTURE(row);
            CAPTURE(column);
            REQUIRE(element_value(d, word & (bits == 32 ? 0xffffffff : 0xffff)) == expected(row, column));
        }
    }
}

std::string form(std::size_t n, std::size_t k, const std::string& types) {
    return "m64n" + text_of(n) + "k" + text_of(k) + "." + types;
}

// Patterns that lie one behind the other, the ones along M or N first, with a gap that no other stride has.
Layout layout(int swizzle, bool k_major, std::size_t rows, std::size_t size = 2) {
    const std::size_t span = std::size_t{256} >> swizzle;
    if (swizzle == 0) return {0, k_major, size, k_major ? rows * 16 + 128 : rows * 16 + 256, 128};
    if (k_major) return {swizzle, true, size, 0, 8 * span};
    // N-major: patterns of `span` bytes and 8 rows of K; those of the next 8 rows come last.
    return {swizzle, false, size, 16 * span, 8 * span};
}

Matrices matrices(int swizzle, bool a_k_major, bool b_k_major, std::size_t n) {
    Matrices m;
    m.n = n;
    m.a = layout(swizzle, a_k_major, 64);
    m.b = layout(swizzle, b_k_major, n);
    return m;
}

std::vector<std::uint32_t> multiplied(const Matrices& m, const std::string& types, const std::string& rest,
                                      const std::string& name = "%d", std::size_t count = 0) {
    const std::size_t registers_used = count == 0 ? m.n / 2 : count;
    return run(kernel(kFence + mma(form(m.n, m.k, types), registers(name, registers_used), rest) + kCommit +
                      wait() + store(name, registers_used)),
               m.image(), m.a.at_address(m.a_start), m.b.at_address(m.b_start));
}

}  // namespace

TEST_CASE("interpreter: wgmma of matrices in each layout of shared memory") {
    for (const int swizzle : {0, 1, 2, 3}) {
        for (const bool a_k_major : {true, false}) {
            for (const bool b_k_major : {true, false}) {
                for (const std::size_t n : {std::size_t{8}, std::size_t{64}, std::size_t{136},
                                            swizzle == 1 ? std::size_t{192} : std::size_t{256}}) {
                    CAPTURE(swizzle);
                    CAPTURE(a_k_major);
                    CAPTURE(b_k_major);
                    CAPTURE(n);
                    const Matrices m = matrices(swizzle, a_k_major, b_k_major, n);
                    const std::string majors =
                        std::string(a_k_major ? "0" : "1") + ", " + (b_k_major ? "0" : "1");
                    const auto out = multiplied(m, "f32.bf16.bf16", "%all, 1, 1, " + majors);
                    check_sums(out, n, Element::f32, [&](auto r, auto c) { return m.product(r, c); });
                }
            }
        }
    }
}

TEST_CASE("interpreter: wgmma of each type") {
    struct Row {
        const char* types;
        Element element;
        Element sum;
        const char* rest;
    };
    for (const Row& row :
         std::initializer_list<Row>{{"f32.f16.f16", Element::f16, Element::f32, "%all, 1, 1, 0, 0"},
                                    {"f16.f16.f16", Element::f16, Element::f16, "%all, 1, 1, 0, 0"},
                                    {"f32.bf16.bf16", Element::bf16, Element::f32, "%all, 1, 1, 0, 0"},
                                    {"f32.tf32.tf32", Element::tf32, Element::f32, "%all, 1, 1"},
                                    {"f32.e4m3.e4m3", Element::e4m3, Element::f32, "%all, 1, 1"},
                                    {"f16.e5m2.e5m2", Element::e5m2, Element::f16, "%all, 1, 1"},
                                    {"s32.s8.s8", Element::s8, Element::s32, "%all"},
                                    {"s32.satfinite.s8.s8", Element::s8, Element::s32, "%all"}}) {
        CAPTURE(row.types);
        Matrices m = matrices(1, true, true, 32);
        m.element = row.element;
        m.a.size = m.b.size = bits_of(row.element) / 8;
        m.k = 32 / m.a.size;
        std::string types = row.types;
        if (types.find("satfinite") != std::string::npos) types = "s32.s8.s8.satfinite";
        const bool floats = row.sum == Element::f32;
        const auto out =
            multiplied(m, types, row.rest, floats ? "%d" : "%e", m.n / 2 / per_register(row.sum));
        check_sums(out, m.n, row.sum, [&](auto r, auto c) { return m.product(r, c); });
    }
}

TEST_CASE("interpreter: wgmma adds, negates, and takes A from registers") {
    const Matrices m = matrices(1, true, false, 64);
    const std::uint64_t a = m.a.at_address(0);
    const std::uint64_t b = m.b.at_address(m.b_start);
    const std::string f = form(64, 16, "f32.bf16.bf16");
    const std::string d = registers("%d", 32);
    const auto check = [&](const std::string& products, double factor,
                           std::vector<std::uint32_t> before = {}) {
        const auto out =
            run(kernel(kFence + products + kCommit + wait() + store("%d", 32)), m.image(), a, b, before);
        check_sums(out, 64, Element::f32, [&](auto r, auto c) { return factor * m.product(r, c); });
    };
    const std::string plain = mma(f, d, "%all, 1, 1, 0, 1");
    check(plain + plain + plain, 3);
    check(plain + mma(f, d, "!%all, 1, 1, 0, 1"), 1);
    check(mma(f, d, "%all, -1, 1, 0, 1"), -1);
    check(mma(f, d, "%all, 1, -1, 0, 1"), -1);
    check(mma(f, d, "%all, -1, -1, 0, 1"), 1);
    check(plain + kCommit + plain + kCommit + wait(1) + plain, 3);
    check("setmaxnreg.inc.sync.aligned.u32 232;\n" + plain, 1);
    // PTX ISA, "Register Fragments": A of 16 bits, four registers of two.
    std::vector<std::uint32_t> before(128 * kMost);
    for (std::size_t thread = 0; thread < 128; ++thread) {
        for (std::size_t i = 0; i < 8; ++i) {
            const std::size_t row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
            const std::size_t k = thread % 4 * 2 + i % 2 + i / 4 * 8;
            before[thread * kMost + i / 2] |=
                static_cast<std::uint32_t>(bits_for(Element::bf16, a_value(row, k))) << 16 * (i % 2);
        }
    }
    check(mma(f, d, "%all, 1, 1, 1", registers("%a", 4)), 1, before);
}

TEST_CASE("interpreter: wgmma that goes along K within the swizzle's rows") {
    // 64 of K in rows of 128 bytes: each step starts 32 bytes later.
    Matrices m = matrices(1, true, true, 128);
    m.k = 64;
    m.b_start = 16384;
    std::string products;
    for (int step = 0; step < 4; ++step)
        products += mma(form(128, 16, "f32.bf16.bf16"), registers("%d", 64), "%all, 1, 1, 0, 0") +
                    "add.u64 %da, %da, 2; add.u64 %db, %db, 2;\n";
    const auto out = run(kernel(kFence + products + kCommit + wait() + store("%d", 64)), m.image(),
                         m.a.at_address(0), m.b.at_address(m.b_start));
    check_sums(out, 128, Element::f32, [&](auto r, auto c) { return m.product(r, c); });
}
