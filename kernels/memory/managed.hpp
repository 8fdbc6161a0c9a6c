#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// mem.managed: host and GPU change the same memory in turn, by the same pointer.
namespace cudamatrix::suite {

inline constexpr const char* kManagedId = "mem.managed";
inline constexpr int kManagedFaultRounds = 2;     ///< pages come when they are touched
inline constexpr int kManagedPrefetchRounds = 2;  ///< pages are sent for before
inline constexpr std::size_t kManagedLength = (std::size_t{256} << 10) + 3;
inline constexpr int kManagedThreads = 256;
inline constexpr int kManagedBlocks = 32;

/// What a kernel, and then the host, make of a value in a round.
CUDAMATRIX_BODY std::uint32_t managed_on_gpu(std::uint32_t value, std::uint32_t round) {
    return value * 1664525U + round + 1U;
}
CUDAMATRIX_BODY std::uint32_t managed_on_host(std::uint32_t value, std::uint32_t round) {
    return (value << 7U | value >> 25U) ^ (round + 77U);
}

struct ManagedOutputs {
    bool managed = false;     ///< has the device managed memory?
    bool concurrent = false;  ///< at any time, and by prefetch?
    /// What the host found after each kernel, with a guard, before it changed it.
    std::vector<std::vector<std::uint32_t>> rounds;
    RunFlag flag;
};

/// As the host writes it first: values, and a guard.
[[nodiscard]] std::vector<std::uint32_t> managed_input();
/// How many rounds such a device can do.
[[nodiscard]] int managed_rounds(const ManagedOutputs& outputs);
[[nodiscard]] Record managed_check(const ManagedOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
