#pragma once

#include <cstdint>

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

/// The bits of `value` rounded once (PTX ISA, "Rounding Modifiers"); NaN becomes `nan`. `away` rounds ties
/// away from zero.
[[nodiscard]] std::uint64_t encode(long double value, const Format& format, Rounding rounding,
                                   std::uint64_t nan);

/// Exact.
[[nodiscard]] double decode_half(std::uint16_t bits);
[[nodiscard]] double decode_bfloat(std::uint16_t bits);

}  // namespace cudamatrix::suite::ptx
