#include "kernels/interpreter/number_format.hpp"

#include <algorithm>

namespace cudamatrix::suite::ptx {
long double rounded(long double size, Rounding rounding, bool negative) {
    const long double down = std::floor(size);
    const long double rest = size - down;
    if (rest == 0) return down;
    switch (rounding) {
        case Rounding::zero:
            return down;
        case Rounding::down:
            return negative ? down + 1 : down;
        case Rounding::up:
            return negative ? down : down + 1;
        case Rounding::away:
            return rest >= 0.5L ? down + 1 : down;
        default:
            if (rest != 0.5L) return rest > 0.5L ? down + 1 : down;
            return std::fmod(down, 2.0L) == 0 ? down : down + 1;
    }
}

std::uint64_t encode(long double value, const Format& format, Rounding rounding, std::uint64_t nan) {
    if (std::isnan(value)) return nan;
    const bool negative = std::signbit(value);
    const int fraction = format.digits - 1;
    const std::uint64_t sign = negative ? std::uint64_t{1} << (fraction + format.exponent_bits) : 0;
    const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << fraction;
    const long double size = std::fabs(value);
    if (std::isinf(value)) return sign | infinity;
    if (size == 0) return sign;
    int exponent = 0;
    std::frexp(size, &exponent);
    --exponent;  // size = 1.x * 2^exponent
    const int scale = std::max(exponent, format.least);
    const auto units =
        static_cast<std::uint64_t>(rounded(std::ldexp(size, fraction - scale), rounding, negative));
    // The hidden digit of a normal number adds one to the exponent field; so does a carry out of the
    // fraction.
    const std::uint64_t field = static_cast<std::uint64_t>(scale - format.least) << fraction;
    const std::uint64_t bits = scale > format.most ? infinity : field + units;
    if (bits < infinity) return sign | bits;
    const bool to_infinity = rounding == Rounding::nearest || rounding == Rounding::away ||
                             (rounding == Rounding::up && !negative) ||
                             (rounding == Rounding::down && negative);
    return sign | (to_infinity ? infinity : infinity - 1);
}

double decode_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction != 0 ? std::nan("") : HUGE_VAL;
    return (bits & 0x8000) != 0 ? -value : value;
}

double decode_bfloat(std::uint16_t bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return static_cast<double>(value);
}

// Without infinities: only the largest code is NaN (PTX ISA, "Alternate Floating-Point Data Formats").
double decode_e4m3(std::uint8_t bits) {
    const int exponent = bits >> 3 & 15;
    const int fraction = bits & 7;
    double value = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
    if ((bits & 0x7f) == 0x7f) value = std::nan("");
    return (bits & 0x80) != 0 ? -value : value;
}

/// The upper half of an f16.
double decode_e5m2(std::uint8_t bits) {
    return decode_half(static_cast<std::uint16_t>(bits << 8));
}

// Neither infinities nor NaNs.
double decode_e2m1(std::uint8_t bits) {
    const int exponent = bits >> 1 & 3;
    const int fraction = bits & 1;
    const double value = exponent == 0 ? std::ldexp(fraction, -1) : std::ldexp(2 + fraction, exponent - 2);
    return (bits & 8) != 0 ? -value : value;
}

double decode_ue8m0(std::uint8_t bits) {
    return bits == 0xff ? std::nan("") : std::ldexp(1.0, bits - 127);
}

std::uint8_t encode_e4m3(double value) {
    // One more bit of exponent than there is: 256 to 448 have the codes that infinities have elsewhere.
    constexpr Format kWide{4, -6, 8, 5};
    constexpr double kMost = 448;
    if (std::isnan(value)) return 0x7f;
    const double size = std::fmin(std::fabs(value), kMost);
    const auto bits = encode(static_cast<long double>(size), kWide, Rounding::nearest, 0);
    return static_cast<std::uint8_t>(bits | (std::signbit(value) ? 0x80U : 0U));
}

std::uint8_t encode_e5m2(double value) {
    constexpr Format kFormat{3, -14, 15, 5};
    constexpr double kMost = 57344;
    const double size = std::fmin(std::fabs(value), kMost);
    const double clamped = std::isnan(value) ? value : std::copysign(size, value);
    return static_cast<std::uint8_t>(
        encode(static_cast<long double>(clamped), kFormat, Rounding::nearest, 0x7f));
}

}  // namespace cudamatrix::suite::ptx
