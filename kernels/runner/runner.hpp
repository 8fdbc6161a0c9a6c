#pragma once

#include <cstdio>
#include <optional>
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

/// Of "2 run --cell a -- run --cell b -- run --cell c" what stands in place 2, counted from 0: "run --cell
/// c". Arrays of batch systems and indexed jobs give every machine the same command and a number of its own.
/// Nothing and an error where the first word is no such number.
[[nodiscard]] std::optional<std::vector<std::string>> picked(const std::vector<std::string>& args,
                                                             std::string& error);

/// Runs the tests of the registry and prints one JSON line each on `out`, after a line with the plan and
/// before one with the totals. `self` is the path of this program, which the host tests are children of.
[[nodiscard]] int run_suite(const Context& context, const std::string& self, std::FILE* out);

}  // namespace cudamatrix::suite
