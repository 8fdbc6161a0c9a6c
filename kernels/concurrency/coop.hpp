#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// con.coop: all blocks of a launch exchange values, and grid.sync alone keeps the order.
namespace cudamatrix::suite {

inline constexpr const char* kCoopId = "con.coop";
inline constexpr int kCoopRounds = 12;  ///< with grid.sync between them
inline constexpr int kCoopThreads = 128;
inline constexpr int kCoopFewest = 2;  ///< blocks: one alone has nobody to wait for
/// What a row holds that no round wrote.
inline constexpr std::uint32_t kCoopBlank = 0xa5a5a5a5;
inline constexpr int kTooLarge = 720;  ///< cudaErrorCooperativeLaunchTooLarge

/// Row r + 1 is what round r made of row r, of values that other blocks made; row 0 is the input, and a row
/// that stays blank is behind the last.
struct CoopOutputs {
    std::vector<std::uint32_t> rows;
    RunFlag flag;
    int blocks = 0;        ///< as many as the device runs at once
    int one_too_many = 0;  ///< what the launch with one block more gave
};

/// Where round `round` reads value `i` of the new row from in the one before it.
CUDAMATRIX_BODY unsigned coop_source(unsigned i, unsigned round, unsigned length) {
    return (2 * length - 1 - i + round * kCoopThreads) % length;
}
/// What a round makes of a value: from no other round's result, and from no other value, does the same come.
CUDAMATRIX_BODY unsigned coop_next(unsigned value, unsigned round) {
    return value * 1664525U + round + 1U;
}

/// Row 0 for so many blocks, and all others blank.
[[nodiscard]] CoopOutputs coop_blank(int blocks);
/// Every row against the one that follows from the input.
[[nodiscard]] Record coop_check(const CoopOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
