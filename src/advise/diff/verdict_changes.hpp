// Verdicts beside earlier ones: which cells moved, from what to what, and why.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/diff/replaced_cells.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix::diff {

/// The verdict of every cell, and where it is not accepted the rules that decided it: what `lock` records.
[[nodiscard]] RecordedVerdicts verdicts_to_record(const Matrix& matrix, const Judgement& judgement);

/// One side of a comparison.
struct Verdicts {
    RecordedVerdicts by_cell;
    std::vector<std::string> order;  ///< of the cells: that of the file, or of their ids
    std::span<const std::string_view> words = kVerdictWords;       ///< of verdicts, the best first
    CellsById cells = {};                                          ///< of a judged matrix
    const Judgement* judgement = nullptr;                          ///< that they are of
    DecidingStages deciding = {};                                  ///< of that matrix
    std::map<std::string, std::string, std::less<>> reasons = {};  ///< of a run's cells

    /// Why the cell's verdict is what it is, one line each; none where it is accepted, or where only rules
    /// are known.
    [[nodiscard]] std::vector<std::string> because(std::string_view cell) const;
};

/// Those of a judged matrix; both are looked at again where a reason is asked for.
[[nodiscard]] Verdicts judged_verdicts(const Matrix& matrix, const Judgement& judgement);
/// Those that a lock recorded.
[[nodiscard]] Verdicts recorded_verdicts(const RecordedVerdicts& recorded);

/// A cell whose verdict is another one than before.
struct MovedVerdict {
    std::string cell;
    RecordedVerdict before, now;
    std::vector<std::string> because;  ///< why it is what it is now
    bool worse = false;
};

/// A cell that there was not: no verdict of its moved.
struct FreshCell {
    std::string cell;
    RecordedVerdict verdict;
};

struct VerdictChanges {
    std::vector<MovedVerdict> moved;  ///< in the order of `now`, as `fresh`
    std::vector<FreshCell> fresh;
    std::vector<std::string> gone;            ///< cells that there are no more
    std::vector<ReplacedCell> replaced = {};  ///< neither new nor gone: another value made them others
    std::size_t same = 0;                     ///< cells with the verdict of before, by whatever rules
};

/// Cells that moved from and to the same, for the same reasons.
struct MovedGroup {
    RecordedVerdict before, now;
    std::vector<std::string> because;
    bool worse = false;
    std::vector<std::string> cells;
};
/// Worse ones first, else in the order of their first cells.
[[nodiscard]] std::vector<MovedGroup> grouped(const std::vector<MovedVerdict>& moved);

/// Where both sides are judged, cells that another value made others are compared with those that they were.
[[nodiscard]] VerdictChanges compare_verdicts(const Verdicts& before, const Verdicts& now);
/// The same by somebody who knows which cells those are.
[[nodiscard]] VerdictChanges compare_verdicts(const Verdicts& before, const Verdicts& now,
                                              std::vector<ReplacedCell> replaced);

}  // namespace cudamatrix::diff
