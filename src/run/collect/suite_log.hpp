// A log of any origin, and the lines of the suite in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudamatrix::collect {

/// What the suite printed for one cell, once: a plan, results, totals. A cell that was started again after an
/// end without totals, or after its totals, has a further attempt.
struct SuiteAttempt {
    std::string run;
    std::string cell;
    /// Its lines as they are, with their numbers in the file; they point into the text.
    std::vector<std::pair<std::size_t, std::string_view>> lines;
    bool planned = false;
};

struct SuiteLog {
    std::vector<SuiteAttempt> attempts;  ///< in the order in which they begin
    std::size_t foreign = 0;        ///< lines that are no JSON object of the suite; empty ones do not count
    std::size_t first_foreign = 0;  ///< number of the first of them
};

/// Lines of several cells may stand in any order among one another. `text` outlives what is given.
[[nodiscard]] SuiteLog read_suite_log(std::string_view text);

}  // namespace cudamatrix::collect
