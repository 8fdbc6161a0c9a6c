#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/compute/check.hpp"

/// The number formats that tensor cores multiply. Rounding is to nearest, ties to even (IEEE
/// 754-2019, 4.3.1), whatever the toolkit's headers offer to host code: they differ from CUDA 11.2 to 13.
namespace cudamatrix::suite {

/// `bits` without the lowest `dropped` ones; the sign bit is not among `bits`.
inline std::uint32_t round_bits(std::uint32_t bits, unsigned dropped) {
    const std::uint32_t below_half = (1U << (dropped - 1)) - 1;
    const std::uint32_t rounded = bits + below_half + ((bits >> dropped) & 1U);
    return rounded >> dropped << dropped;
}

/// A float with `dropped` fewer bits of mantissa and the same exponents. A NaN stays one.
inline float rounded_mantissa(float value, unsigned dropped) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t sign = bits & 0x80000000;
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return float_of(sign | 0x7fc00000);
    return float_of(sign | round_bits(magnitude, dropped));
}

inline float round_to_tf32(float value) {
    return rounded_mantissa(value, 13);
}

inline std::uint16_t bf16_bits(float value) {
    return static_cast<std::uint16_t>(bits_of(rounded_mantissa(value, 16)) >> 16);
}
inline float bf16_value(std::uint16_t bits) {
    return float_of(std::uint32_t{bits} << 16);
}

inline std::uint16_t f16_bits(float value) {
    const std::uint32_t sign = (bits_of(value) >> 16) & 0x8000;
    const std::uint32_t magnitude = bits_of(value) & 0x7fffffff;
    std::uint32_t result = 0;
    if (magnitude > 0x7f800000) {
        result = 0x7e00;
    } else if (magnitude >= 0x477ff000) {  // 65520: half a step above the largest
        result = 0x7c00;
    } else if (magnitude < 0x38800000) {  // below 2^-14 a step is 2^-24: that of floats from 0.5 on
        result = bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F);
    } else {
        result = (round_bits(magnitude, 13) - (112U << 23)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | result);
}
inline float f16_value(std::uint16_t bits) {
    const std::uint32_t sign = (std::uint32_t{bits} & 0x8000) << 16;
    const std::uint32_t exponent = (bits >> 10) & 31U;
    const std::uint32_t mantissa = bits & 0x3ffU;
    std::uint32_t magnitude = 0;
    if (exponent == 31) {
        magnitude = 0x7f800000 | mantissa << 13;
    } else if (exponent == 0) {
        magnitude = bits_of(static_cast<float>(mantissa) / static_cast<float>(1 << 24));
    } else {
        magnitude = (exponent + 112) << 23 | mantissa << 13;
    }
    return float_of(sign | magnitude);
}

/// Formats of 8 bits (OCP "8-bit Floating Point Specification", 2023), without NaN and infinity: what is too
/// large becomes the largest number.
struct Fp8 {
    int mantissa;  ///< its bits
    int bias;      ///< of the exponent
    std::uint8_t largest;
};
inline constexpr Fp8 kE4m3{3, 7, 0x7e};   // 448
inline constexpr Fp8 kE5m2{2, 15, 0x7b};  // 57344

inline float fp8_value(std::uint8_t bits, const Fp8& format) {
    const int exponent = (bits & 0x7f) >> format.mantissa;
    const int mantissa = bits & ((1 << format.mantissa) - 1);
    const int hidden = exponent == 0 ? 0 : 1 << format.mantissa;
    const int scale = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa;
    const float magnitude = std::ldexp(static_cast<float>(hidden + mantissa), scale);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

inline std::uint8_t fp8_bits(float value, const Fp8& format) {
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
    const float magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (magnitude >= fp8_value(format.largest, format)) return sign | format.largest;
    // Steps of the binade that it lies in; below the normal numbers they stay as they are there.
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int binade = std::max(exponent - 1 + format.bias, 1);
    const float steps = std::nearbyint(std::ldexp(magnitude, format.mantissa + format.bias - binade));
    const int bits = ((binade - 1) << format.mantissa) + static_cast<int>(steps);
    return static_cast<std::uint8_t>(sign | bits);
}

}  // namespace cudamatrix::suite
