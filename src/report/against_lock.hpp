// `check --against-lock`: the verdicts of today beside those that `lock` recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/diff/verdict_changes.hpp"
#include "base/diagnostic.hpp"
#include "base/result.hpp"
#include "render/lock/lock_file.hpp"
#include "report/inputs.hpp"

namespace cudamatrix::report {

struct AgainstLock {
    const CheckReport& check;
    std::string lock;            ///< path of the lock file
    std::string facts;           ///< hash of the facts then
    diff::VerdictChanges cells;  ///< since the lock
    /// Errors about images and services: `lock` refuses a matrix that has one, so each is news.
    std::vector<const Diagnostic*> errors = {};

    [[nodiscard]] bool is_news() const { return !cells.moved.empty() || !errors.empty(); }
};

/// Input failures: a lock without verdicts, and one that knows none of the cells, for nothing would be
/// compared. `path` is the lock's.
[[nodiscard]] Result<AgainstLock> compare_verdicts(const CheckReport& check, const Lock& lock,
                                                   std::string_view path);

/// Each cell that moved with its reason, the errors, the new and the gone ones, and a line of counts.
[[nodiscard]] std::string against_lock_text(const AgainstLock& report);
[[nodiscard]] std::string against_lock_json(const AgainstLock& report);

}  // namespace cudamatrix::report
