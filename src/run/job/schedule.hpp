// Runs steps that wait for one another, as many at a time as each pool has slots.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/process.hpp"

namespace cudamatrix::job {

/// What a step waits for, and what it takes while it runs.
struct Node {
    std::vector<std::size_t> after;  ///< steps before it in the list; each has to succeed
    std::size_t pool = 0;            ///< it takes one of Schedule::slots[pool]
};

struct Schedule {
    std::vector<unsigned> slots{1};  ///< steps at a time, by pool; 0 counts as 1
    bool keep_going = true;          ///< a step that fails keeps none from starting but those behind it
    const Cancellation* cancellation = nullptr;
};

enum class StepEnd {
    not_started,  ///< after an interrupt, or a failure without keep_going
    blocked,      ///< one of those that it waits for has failed
    failed,
    done
};

/// Calls work(i) for each step, at most once, of those that are ready the first first. It returns whether it
/// succeeded. All that were started have ended when this returns.
[[nodiscard]] std::vector<StepEnd> run_steps(std::span<const Node> steps, const Schedule& schedule,
                                             const std::function<bool(std::size_t step)>& work);

/// Seconds until the last of the steps ends, if each takes `seconds[i]` (0: it is done) and the first that is
/// ready starts as soon as its pool has a slot.
[[nodiscard]] double time_needed(std::span<const Node> steps, const std::vector<unsigned>& slots,
                                 std::span<const double> seconds);

}  // namespace cudamatrix::job
