// `check --against-lock`: the verdicts of today beside those that `lock` recorded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "render/lock/lock_file.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

/// The verdict of every cell, and where it is not accepted the rules that decided it: what `lock` records.
[[nodiscard]] RecordedVerdicts verdicts_to_record(const Matrix& matrix, const Judgement& judgement);

/// A cell whose verdict is another one than was recorded.
struct MovedVerdict {
    std::string cell;
    RecordedVerdict before, now;
    std::vector<std::string> because;  ///< the findings that decide it now, one line each; none: accepted
    bool worse = false;
};

struct AgainstLock {
    const CheckReport& check;
    std::string lock;                 ///< path of the lock file
    std::string facts;                ///< hash of the facts then
    std::vector<MovedVerdict> moved;  ///< in the order of the file, as `fresh`
    std::vector<std::string> fresh;   ///< cells that the lock does not know: no verdict of theirs moved
    std::vector<std::string> gone;    ///< cells of the lock that the matrix has no more
    std::size_t same = 0;             ///< cells with the verdict that was recorded
    /// Errors about images and services: `lock` refuses a matrix that has one, so each is news.
    std::vector<const Diagnostic*> errors = {};

    [[nodiscard]] bool is_news() const { return !moved.empty() || !errors.empty(); }
};

/// Input failures: a lock without verdicts, and one that knows none of the cells, for nothing would be
/// compared. `path` is the lock's.
[[nodiscard]] Result<AgainstLock> compare_verdicts(const CheckReport& check, const Lock& lock,
                                                   std::string_view path);

/// Each cell that moved with its reason, the errors, the new and the gone ones, and a line of counts.
[[nodiscard]] std::string against_lock_text(const AgainstLock& report);
[[nodiscard]] std::string against_lock_json(const AgainstLock& report);

}  // namespace cudamatrix::report
