#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/support/philox.hpp"

/// What tests that compute in float32 and in float64 share, by type.
namespace cudamatrix::suite {

template <typename T>
struct FloatOf;
template <>
struct FloatOf<float> {
    using Bits = std::uint32_t;
    static constexpr const char* kName = "f32";
};
template <>
struct FloatOf<double> {
    using Bits = std::uint64_t;
    static constexpr const char* kName = "f64";
};

template <typename T>
typename FloatOf<T>::Bits float_bits(T value) {
    typename FloatOf<T>::Bits bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// How many steps lie between two numbers; infinitely many where one is not finite. -0 and 0 are the same.
template <typename T>
double ulps_between(T a, T b) {
    using Bits = typename FloatOf<T>::Bits;
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    const Bits from = float_bits(std::fabs(a));
    const Bits to = float_bits(std::fabs(b));
    if (std::signbit(a) != std::signbit(b)) return static_cast<double>(from) + static_cast<double>(to);
    return static_cast<double>(from > to ? from - to : to - from);
}

/// The i-th number of a stream, uniform in (-1, 1), never 0 and of full precision.
template <typename T>
T uniform(const Philox& philox, std::uint64_t i, std::uint32_t stream) {
    if constexpr (sizeof(T) == sizeof(float)) {
        return philox.uniform(i, stream);
    } else {
        const std::uint64_t high = philox.bits(2 * i, stream);
        const std::uint64_t bits = high << 32 | philox.bits(2 * i + 1, stream);
        const auto odd = static_cast<std::int64_t>((bits >> 10) | 1U);  // odd, below 2^54
        constexpr std::int64_t kMiddle = std::int64_t{1} << 53;
        return static_cast<T>(odd - kMiddle) / static_cast<T>(kMiddle);
    }
}

}  // namespace cudamatrix::suite
