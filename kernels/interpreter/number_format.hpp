#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

/// Floating-point formats by their numbers of bits, and rounding into them.
namespace cudamatrix::suite::ptx {

enum class Rounding : std::uint8_t { nearest, zero, down, up, away };

struct Format {
    int digits;  ///< of the significand, the hidden one included
    int least;   ///< exponent of the smallest normal number
    int most;    ///< exponent of the largest number
    int exponent_bits;
};
inline constexpr Format kHalf{11, -14, 15, 5};
inline constexpr Format kBfloat{8, -126, 127, 8};
inline constexpr Format kSingle{24, -126, 127, 8};
inline constexpr Format kDouble{53, -1022, 1023, 11};
inline constexpr Format kTensorSingle{11, -126, 127, 8};  ///< tf32, without the 13 low bits of its register

/// The bits of `value` rounded once (PTX ISA, "Rounding Modifiers"); NaN becomes `nan`. `away` rounds ties
/// away from zero.
[[nodiscard]] std::uint64_t encode(long double value, const Format& format, Rounding rounding,
                                   std::uint64_t nan);

/// `size`, which is not negative, as an integer; `negative` is the sign of the number that it is the size of.
[[nodiscard]] long double rounded(long double size, Rounding rounding, bool negative);

/// NaNs that f32 instructions make are all the same.
inline constexpr std::uint32_t kSingleNan = 0x7fffffff;
inline float canonical(float value) {
    float nan = 0;
    std::memcpy(&nan, &kSingleNan, sizeof nan);
    return value == value ? value : nan;
}
inline double canonical(double value) {
    return value;
}

/// .ftz: subnormal numbers are zeros.
template <typename T>
T flushed(T value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

/// PTX ISA, "min": a NaN only when both are, -0 below +0.
template <typename T>
T smaller(T a, T b, bool nan_wins) {
    if (std::isnan(a)) return nan_wins || std::isnan(b) ? a : b;
    if (std::isnan(b)) return nan_wins ? b : a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
}

/// Exact.
[[nodiscard]] double decode_half(std::uint16_t bits);
[[nodiscard]] double decode_bfloat(std::uint16_t bits);
[[nodiscard]] double decode_e4m3(std::uint8_t bits);
[[nodiscard]] double decode_e5m2(std::uint8_t bits);
[[nodiscard]] double decode_e2m1(std::uint8_t bits);   ///< of the low four bits
[[nodiscard]] double decode_ue8m0(std::uint8_t bits);  ///< a power of two, or a NaN

// Rounded to nearest; what is too large, infinity too, becomes the largest number (PTX ISA, "cvt",
// .satfinite).
[[nodiscard]] std::uint8_t encode_e4m3(double value);
[[nodiscard]] std::uint8_t encode_e5m2(double value);

}  // namespace cudamatrix::suite::ptx
