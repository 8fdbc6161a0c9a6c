#pragma once

#include <string>

#include "kernels/exec/portable.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/record.hpp"

/// fault.assert: an assertion that does not hold on the device is reported, and what the kernel printed is
/// not lost.
namespace cudamatrix::suite {

inline constexpr const char* kAssertId = "fault.assert";
inline constexpr int kAssertCode = 710;  ///< cudaErrorAssert
inline constexpr unsigned kAssertThreads = 64;

/// What thread `t` prints: a number that only the kernel's own arithmetic gives.
CUDAMATRIX_BODY unsigned assert_number(unsigned t) {
    return (t + 1) * 2654435761U;
}

/// The line of thread `t`, without its end.
[[nodiscard]] std::string assert_line(unsigned t);

/// From how the child ended, what it said and what it printed.
[[nodiscard]] Record assert_check(const ProcessResult& child, const char* backend);

}  // namespace cudamatrix::suite
