#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// stress.leak: what a program makes and destroys is there again afterwards.
namespace cudamatrix::suite {

inline constexpr const char* kLeakId = "stress.leak";
inline constexpr int kLeakWarmUp = 20;
inline constexpr int kLeakCycles = 200;
inline constexpr int kLeakThreads = 128;
inline constexpr int kLeakBlocks = 4;
inline constexpr std::size_t kLeakWords = std::size_t{kLeakThreads} * kLeakBlocks;
inline constexpr std::size_t kLeakBytes = std::size_t{1} << 20;  ///< allocated on the device in a cycle
inline constexpr std::size_t kLeakPinnedBytes = std::size_t{64} << 10;  ///< and of the host
/// MiB. The driver hands out memory in pieces of 2 MiB, so that one of them may be held back for reuse.
inline constexpr double kLeakDeviceLimit = 2;
inline constexpr double kLeakHostLimit = 8;

/// What is free on the device and what the process holds, in bytes.
struct LeakSample {
    std::size_t free = 0;
    std::size_t host = 0;  ///< 0 = it could not be read
};

struct LeakFacts {
    std::array<LeakSample, 3> samples;  ///< after the warm-up, after half of the cycles, and after all
    int cycles = 0;                     ///< that came to their end, without those of the warm-up
    std::size_t wrong = 0;              ///< words that a cycle's kernel did not write as it must
    RunFlag flag;                       ///< of all kernels, those of the warm-up included
};

/// What the kernel of a cycle writes.
[[nodiscard]] std::uint32_t leak_word(std::size_t i, int cycle);
/// "VmRSS" in the text of /proc/self/status, in bytes; 0 when there is none.
[[nodiscard]] std::size_t resident_bytes(const std::string& status);
[[nodiscard]] std::size_t resident_bytes();
/// Device memory is lost only where both halves of the cycles lose some: another program on the GPU, or a
/// pool that grows once, takes it in one of them.
[[nodiscard]] Record leak_check(const LeakFacts& facts, const char* backend);

}  // namespace cudamatrix::suite
