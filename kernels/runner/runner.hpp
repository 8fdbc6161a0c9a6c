#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "kernels/support/context.hpp"

namespace cudamatrix::suite {

/// Exit codes of `suite run`.
enum RunExit {
    kAllPassed = 0,
    kSomethingFailed = 1,  ///< a fail, crash or timeout; also no GPU where one is required
    kUsage = 2,
    kOnlyErrors = 3,        ///< something could not be judged, nothing failed
    kPassedWithoutGpu = 4,  ///< all that can be proved without a GPU holds
    kNothingRan = 5,
};

/// Runs the tests of the registry and prints one JSON line each on `out`, after a line with the plan and
/// before one with the totals. `self` is the path of this program, which the host tests are children of.
[[nodiscard]] int run_suite(const Context& context, const std::string& self, std::FILE* out);

}  // namespace cudamatrix::suite
