// The quarterly upgrade review of a matrix: what moved, what ends, what is newest, where to go, and what to
// do when an end is near.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/diff/diff.hpp"
#include "advise/review/calendar.hpp"
#include "advise/review/moves.hpp"
#include "advise/review/reasons.hpp"
#include "advise/review/requirements.hpp"
#include "advise/upgrade/outcome.hpp"
#include "base/result.hpp"

namespace cudamatrix::review {

/// The calendar reaches so far.
inline constexpr int kMonthsAhead = 12;
/// What ends within so many days is urgent.
inline constexpr int kUrgentDays = 60;
/// Newer values that are looked at for each of the matrix.
inline constexpr std::size_t kMoves = 4;

/// A week of the plan for what is urgent, or less where less time is left.
struct PlanStep {
    std::string from, to;  ///< YYYY-MM-DD, both included
    std::string title;
    std::vector<std::string> tasks;
    std::vector<std::vector<std::string>> commands;  ///< argument vectors
};

struct EmergencyPlan {
    std::vector<Event> because;
    std::string deadline;  ///< YYYY-MM-DD, the first end; empty: what vanishes may do so any day
    std::vector<PlanStep> steps;
};

struct Question {
    const Matrix& matrix;
    const Judgement& judgement;  ///< of the matrix, as of `today`
    const Facts& facts;
    const std::string& today;  ///< YYYY-MM-DD
    std::string since;         ///< YYYY-MM-DD: what happened behind it is told
    upgrade::Reread read;      ///< the matrix file with another text
    OnProgress on_progress;
};

struct Review {
    std::string today, since, horizon;  ///< YYYY-MM-DD
    std::vector<Event> happened;        ///< from `since` to `today`
    std::vector<ValueInUse> values;
    std::vector<Event> calendar;            ///< up to the horizon
    diff::VerdictChanges by_itself;         ///< up to the horizon, where nothing is done
    std::vector<Move> moves;                ///< of each value up to kMoves, the newest first
    std::vector<upgrade::Outcome> ways;     ///< hold, next, ambitious
    std::vector<Requirement> requirements;  ///< of the stacks that work
    std::vector<Chosen> chosen;
    std::vector<Rejected> rejected;
    std::vector<ImageToCopy> copies;
    std::vector<FactRef> aged;  ///< behind findings and values, looked up too long ago; each once
    std::optional<EmergencyPlan> emergency;
};

/// Asks the rules about every cell, as it is and as it could be. Fails as plan_for and carried_out do; an
/// interrupt is a failure.
[[nodiscard]] Result<Review> review_of(const Question& question);

}  // namespace cudamatrix::review
