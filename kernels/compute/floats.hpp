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
        return philox.uniform64(i, stream);
    }
}

}  // namespace cudamatrix::suite
