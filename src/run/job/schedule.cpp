#include "run/job/schedule.hpp"

#include <algorithm>
#include <mutex>

#include "base/parallel.hpp"
#include "base/text.hpp"

namespace cudamatrix::job {

std::size_t run_jobs(std::size_t count, const Schedule& schedule,
                     const std::function<bool(std::size_t)>& job) {
    std::mutex mutex;
    std::size_t next = 0;
    bool stopped = false;
    const auto work = [&] {
        for (;;) {
            std::size_t index = 0;
            {
                const std::lock_guard lock(mutex);
                if (stopped || interrupted(schedule.cancellation) || next == count) return;
                index = next++;
            }
            if (!job(index) && !schedule.keep_going) {
                const std::lock_guard lock(mutex);
                stopped = true;
            }
        }
    };
    on_threads(std::min<std::size_t>(std::max(1u, schedule.jobs), count), work);
    return next;
}

double Ticker::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Ticker::say(std::string_view line) {
    if (!sink_) return;
    const auto elapsed = static_cast<long>(seconds());
    const std::lock_guard lock(mutex_);
    sink_(fmt::format("[{:2}:{:02}] {}", elapsed / 60, elapsed % 60, text::printable(line)));
}

}  // namespace cudamatrix::job
