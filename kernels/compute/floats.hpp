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
    static constexpr Bits kBlank = kBlankBits;
};
template <>
struct FloatOf<double> {
    using Bits = std::uint64_t;
    static constexpr const char* kName = "f64";
    static constexpr Bits kBlank = 0x7ff5a5a5a5a5a5a5;  ///< a signalling NaN, as kBlankBits is
};

template <typename T>
typename FloatOf<T>::Bits float_bits(T value) {
    typename FloatOf<T>::Bits bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// An output of n elements and its guard, all blank.
template <typename T>
std::vector<T> blank_floats(std::size_t n) {
    std::vector<T> output(n + kGuard);
    for (T& element : output)
        std::memcpy(&element, &FloatOf<T>::kBlank, sizeof element);
    return output;
}

/// Checks that no element is blank within n or touched beyond.
template <typename T>
void check_floats_written(Record& record, const std::vector<T>& output, std::size_t n) {
    std::size_t blank = 0;
    std::size_t touched = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const bool is_blank = float_bits(output[i]) == FloatOf<T>::kBlank;
        if (i < n && is_blank) ++blank;
        if (i >= n && !is_blank) ++touched;
    }
    const std::string name = FloatOf<T>::kName;
    record.check(name + "_all_written", blank == 0, std::to_string(blank) + " elements were never written");
    record.check(name + "_nothing_beyond", touched == 0 && output.size() == n + kGuard,
                 std::to_string(touched) + " elements beyond the end were written");
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
