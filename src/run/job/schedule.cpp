#include "run/job/schedule.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

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
                const bool interrupted =
                    schedule.cancellation != nullptr && schedule.cancellation->requested();
                if (stopped || interrupted || next == count) return;
                index = next++;
            }
            if (!job(index) && !schedule.keep_going) {
                const std::lock_guard lock(mutex);
                stopped = true;
            }
        }
    };
    const auto threads = std::min<std::size_t>(std::max(1u, schedule.jobs), count);
    if (threads <= 1) {
        work();
        return next;
    }
    std::vector<std::thread> pool;
    for (std::size_t i = 0; i < threads; ++i)
        pool.emplace_back(work);
    for (auto& thread : pool)
        thread.join();
    return next;
}

}  // namespace cudamatrix::job
