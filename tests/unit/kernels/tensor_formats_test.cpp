// Rounding to the formats of tensor cores: every value of each, and what lies between them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/interpreter/number_format.hpp"
#include "kernels/tensor/formats.hpp"

using namespace cudamatrix::suite;

namespace {

// A format of `mantissa` bits by its definition (IEEE 754-2019, 3.4), from bits that begin with the sign.
double defined(std::uint32_t bits, int exponent_bits, int mantissa) {
    const auto exponent = static_cast<int>(bits >> mantissa & ((1U << exponent_bits) - 1));
    const double fraction = bits & ((1U << mantissa) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const double sign = (bits >> (exponent_bits + mantissa)) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
    return sign * std::ldexp(fraction + std::ldexp(1.0, mantissa), exponent - bias - mantissa);
}

struct Format {
    int exponent_bits;
    int mantissa;
    std::uint32_t (*round)(float);  // to the format's bits
};

// How many values do not come out as they are, or have a neighbourhood that is rounded to something else.
// Counted, since doctest takes its time for each check.
int wrong_values(const Format& format) {
    const std::uint32_t sign = 1U << (format.exponent_bits + format.mantissa);
    const std::uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.mantissa;
    const auto value = [&](std::uint32_t bits) {
        return defined(bits, format.exponent_bits, format.mantissa);
    };
    int wrong = 0;
    const auto expect = [&](double from, std::uint32_t bits) {
        const auto single = static_cast<float>(from);
        if (format.round(single) != bits) ++wrong;
        if (format.round(-single) != (bits | sign)) ++wrong;
    };
    for (std::uint32_t bits = 0; bits < infinity; ++bits) {
        const double here = value(bits);
        // What would come behind the largest number decides what is rounded to infinity.
        const double step = bits + 1 == infinity ? here - value(bits - 1) : value(bits + 1) - here;
        const double middle = here + step / 2;
        const auto up = static_cast<float>(middle);
        expect(here, bits);
        if (std::isinf(up) || static_cast<double>(up) != middle) continue;  // no float lies there
        expect(middle, (bits & 1U) == 0 ? bits : bits + 1);
        expect(std::nextafter(up, 0.0F), bits);
        expect(std::nextafter(up, std::numeric_limits<float>::infinity()), bits + 1);
    }
    expect(std::numeric_limits<double>::infinity(), infinity);
    expect(static_cast<double>(std::numeric_limits<float>::max()), infinity);
    return wrong;
}

}  // namespace

TEST_CASE("formats: each half value is what its bits say, and back") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const double expected = defined(bits, 5, 10);
        const float value = f16_value(half);
        if (std::isnan(expected)) {
            if (!std::isnan(value) || !std::isnan(f16_value(f16_bits(value)))) ++wrong;
        } else if (static_cast<double>(value) != expected || f16_bits(value) != half) {
            ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("formats: each bfloat16 value is what its bits say, and back") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const auto stored = static_cast<std::uint16_t>(bits);
        const double expected = defined(bits, 8, 7);
        const float value = bf16_value(stored);
        if (std::isnan(expected)) {
            if (!std::isnan(value) || !std::isnan(bf16_value(bf16_bits(value)))) ++wrong;
        } else if (static_cast<double>(value) != expected || bf16_bits(value) != stored) {
            ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("formats: what lies between two values goes to the nearer one, the middle to the even one") {
    CHECK(wrong_values({5, 10, [](float x) { return std::uint32_t{f16_bits(x)}; }}) == 0);
    CHECK(wrong_values({8, 7, [](float x) { return std::uint32_t{bf16_bits(x)}; }}) == 0);
    CHECK(wrong_values({8, 10, [](float x) { return bits_of(round_to_tf32(x)) >> 13; }}) == 0);
    // The test itself sees other roundings.
    CHECK(wrong_values({8, 7, [](float x) { return bits_of(x) >> 16; }}) > 10000);
    CHECK(wrong_values({8, 7, [](float x) { return (bits_of(x) + 0x8000) >> 16; }}) > 10000);
    CHECK(wrong_values({8, 10, [](float x) { return std::uint32_t{bits_of(x) + 0x1000} >> 13; }}) > 10000);
}

TEST_CASE("formats: 8 bits are read and rounded as the interpreter does") {
    struct Format {
        Fp8 format;
        double (*decode)(std::uint8_t);
        std::uint8_t (*encode)(double);
    };
    for (const Format& one : {Format{kE4m3, ptx::decode_e4m3, ptx::encode_e4m3},
                              Format{kE5m2, ptx::decode_e5m2, ptx::encode_e5m2}}) {
        int wrong = 0;
        for (int bits = 0; bits <= 0xff; ++bits) {
            const auto stored = static_cast<std::uint8_t>(bits);
            if ((stored & 0x7f) > one.format.largest) continue;  // NaN and infinity
            const float value = fp8_value(stored, one.format);
            if (static_cast<double>(value) != one.decode(stored) || fp8_bits(value, one.format) != stored)
                ++wrong;
        }
        // From one float to the next where ties are, and beyond the largest number.
        for (std::uint32_t bits = 0x35000000; bits < 0x48000000; bits += 0x3fff) {
            for (const float value : {float_of(bits), -float_of(bits), float_of(bits & 0xfff80000),
                                      float_of(bits | 0x80000), float_of((bits & 0xfff00000) | 0x80000)}) {
                if (fp8_bits(value, one.format) != one.encode(static_cast<double>(value))) ++wrong;
            }
        }
        CHECK(wrong == 0);
    }
    CHECK(fp8_bits(1e30F, kE4m3) == 0x7e);
    CHECK(fp8_bits(-1e30F, kE5m2) == 0xfb);
    CHECK(fp8_bits(-0.0F, kE4m3) == 0x80);
}

TEST_CASE("formats: nothing is left below what a format drops") {
    for (const float value : {0.1F, -3.7F, 1e-39F, 3e38F, 65519.0F}) {
        CHECK((bits_of(round_to_tf32(value)) & 0x1fffU) == 0);
        CHECK(round_to_tf32(round_to_tf32(value)) == round_to_tf32(value));
    }
    CHECK(f16_bits(65519.0F) == 0x7bff);
    CHECK(f16_bits(65520.0F) == 0x7c00);
    CHECK(f16_bits(-1e30F) == 0xfc00);
    CHECK(f16_bits(1e-30F) == 0);
    CHECK(f16_bits(-0.0F) == 0x8000);
}

TEST_CASE("formats: not a number stays so, with any of its bits") {
    for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
        const float value = float_of(bits);
        CHECK(std::isnan(f16_value(f16_bits(value))));
        CHECK(std::isnan(bf16_value(bf16_bits(value))));
        CHECK(std::isnan(round_to_tf32(value)));
    }
}
