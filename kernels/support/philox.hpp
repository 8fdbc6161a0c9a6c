#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cudamatrix::suite {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): the i-th number
/// follows from seed and i alone, so inputs are the same in every program, on every machine and in any order.
class Philox {
  public:
    explicit Philox(std::uint64_t seed)
        : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

    /// Four 32-bit numbers for one counter.
    [[nodiscard]] std::array<std::uint32_t, 4> block(std::array<std::uint32_t, 4> counter) const {
        std::array<std::uint32_t, 2> key = key_;
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
            const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
            counter = {
                static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
            key[0] += 0x9E3779B9;
            key[1] += 0xBB67AE85;
        }
        return counter;
    }

    /// The i-th 32-bit number of a stream.
    [[nodiscard]] std::uint32_t bits(std::uint64_t i, std::uint32_t stream) const {
        const std::uint64_t counter = i / 4;
        return block({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), stream,
                      0})[i % 4];
    }

    /// The i-th float of a stream, uniform in (-1, 1), never 0 and of full precision.
    [[nodiscard]] float uniform(std::uint64_t i, std::uint32_t stream) const {
        const auto odd = static_cast<std::int32_t>((bits(i, stream) >> 7) | 1U);  // odd, below 2^25
        return static_cast<float>(odd - (1 << 24)) / static_cast<float>(1 << 24);
    }

    /// The same as a double, of two of the stream's numbers.
    [[nodiscard]] double uniform64(std::uint64_t i, std::uint32_t stream) const {
        return full_precision(bits(2 * i, stream), bits(2 * i + 1, stream));
    }
    [[nodiscard]] static double full_precision(std::uint32_t high, std::uint32_t low) {
        const auto odd =
            static_cast<std::int64_t>(((std::uint64_t{high} << 32 | low) >> 10) | 1U);  // odd, below 2^54
        constexpr std::int64_t kMiddle = std::int64_t{1} << 53;
        return static_cast<double>(odd - kMiddle) / static_cast<double>(kMiddle);
    }

  private:
    std::array<std::uint32_t, 2> key_;
};

/// FNV-1a of a test's id: its seed.
[[nodiscard]] inline std::uint64_t seed_of(std::string_view id) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : id)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace cudamatrix::suite
