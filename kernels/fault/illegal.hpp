#pragma once

#include <cstddef>

#include "kernels/support/process.hpp"
#include "kernels/support/record.hpp"

/// fault.illegal: an illegal access is reported, stays with its process, and leaves the next one alone.
namespace cudamatrix::suite {

inline constexpr const char* kIllegalId = "fault.illegal";
inline constexpr int kIllegalAddress = 700;  ///< cudaErrorIllegalAddress
inline constexpr std::size_t kIllegalSums = 4099;
inline constexpr int kIllegalThreads = 128;
inline constexpr int kIllegalBlocks = 8;
inline constexpr std::size_t kIllegalLater = 4;  ///< calls after the one that reported it

// What the child says that adds vectors: "sums right 0", or the check that does not hold instead of "right".
inline constexpr const char* kSums = "sums";
inline constexpr const char* kRight = "right";

/// From how the two children ended and what they said. `following` is a child that was started afterwards.
[[nodiscard]] Record illegal_check(const ProcessResult& faulting, const ProcessResult& following,
                                   const char* backend);

}  // namespace cudamatrix::suite
