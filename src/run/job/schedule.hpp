// Runs a list of independent jobs on a few threads.
#pragma once

#include <cstddef>
#include <functional>

#include "base/process.hpp"

namespace cudamatrix::job {

struct Schedule {
    unsigned jobs = 1;       ///< at a time
    bool keep_going = true;  ///< a job that fails does not keep later ones from starting
    const Cancellation* cancellation = nullptr;
};

/// Calls job(0) .. job(count - 1), each at most once, started in that order. A job returns whether it
/// succeeded. After an interrupt, or after a failure without keep_going, no further job starts. Gives the
/// number of jobs that were started; they are a prefix of the list, and all have ended when this returns.
[[nodiscard]] std::size_t run_jobs(std::size_t count, const Schedule& schedule,
                                   const std::function<bool(std::size_t index)>& job);

}  // namespace cudamatrix::job
