// Runs a list of independent jobs on a few threads, and tells how far they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

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

/// Progress lines with their time. Safe from several threads.
class Ticker {
  public:
    explicit Ticker(Progress sink) : sink_(std::move(sink)) {}

    /// "[ 0:12] line": minutes and seconds since the start. Control characters are replaced.
    void say(std::string_view line);
    [[nodiscard]] double seconds() const;

  private:
    Progress sink_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace cudamatrix::job
