#include "run/job/schedule.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <queue>
#include <set>

#include "base/parallel.hpp"

namespace cudamatrix::job {
namespace {

// Which steps are ready, in the order of the list; knows nothing of time and threads.
class Queue {
  public:
    Queue(std::span<const Node> steps, const std::vector<unsigned>& slots)
        : steps_(steps), ends_(steps.size(), StepEnd::not_started), behind_(steps.size()) {
        for (const auto& node : steps)
            pools_.resize(std::max(pools_.size(), node.pool + 1));
        for (std::size_t i = 0; i < pools_.size(); ++i)
            pools_[i].free = i < slots.size() ? std::max(1U, slots[i]) : 1U;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            waits_for_.push_back(steps[i].after.size());
            for (const auto before : steps[i].after)
                behind_[before].push_back(i);
            if (steps[i].after.empty()) pools_[steps[i].pool].ready.insert(i);
        }
        open_ = steps.size();
    }

    // The first that can run now.
    std::optional<std::size_t> take() {
        Pool* from = nullptr;
        for (auto& pool : pools_) {
            if (pool.free == 0 || pool.ready.empty()) continue;
            if (from == nullptr || *pool.ready.begin() < *from->ready.begin()) from = &pool;
        }
        if (from == nullptr) return std::nullopt;
        --from->free;
        return from->ready.extract(from->ready.begin()).value();
    }

    void end(std::size_t step, bool good) {
        ends_[step] = good ? StepEnd::done : StepEnd::failed;
        ++pools_[steps_[step].pool].free;
        --open_;
        for (const auto next : behind_[step]) {
            if (!good)
                block(next);
            else if (--waits_for_[next] == 0 && ends_[next] == StepEnd::not_started)
                pools_[steps_[next].pool].ready.insert(next);
        }
    }

    // Without any that is left: neither ready nor running nor behind one that is.
    [[nodiscard]] bool is_over() const { return open_ == 0; }
    [[nodiscard]] std::vector<StepEnd> ends() && { return std::move(ends_); }

    // How many can run at a time.
    [[nodiscard]] std::size_t width() const {
        std::vector<std::size_t> in_pool(pools_.size());
        for (const auto& node : steps_)
            ++in_pool[node.pool];
        std::size_t all = 0;
        for (std::size_t i = 0; i < pools_.size(); ++i)
            all += std::min<std::size_t>(in_pool[i], pools_[i].free);
        return all;
    }

  private:
    struct Pool {
        unsigned free = 1;
        std::set<std::size_t> ready;
    };

    void block(std::size_t step) {
        if (ends_[step] == StepEnd::blocked) return;
        ends_[step] = StepEnd::blocked;
        --open_;
        for (const auto next : behind_[step])
            block(next);
    }

    std::span<const Node> steps_;
    std::vector<StepEnd> ends_;
    std::vector<std::vector<std::size_t>> behind_;
    std::vector<std::size_t> waits_for_;
    std::vector<Pool> pools_;
    std::size_t open_ = 0;
};

}  // namespace

std::vector<StepEnd> run_steps(std::span<const Node> steps, const Schedule& schedule,
                               const std::function<bool(std::size_t)>& work) {
    Queue queue(steps, schedule.slots);
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false;
    const auto worker = [&] {
        std::unique_lock lock(mutex);
        for (;;) {
            if (stopped || queue.is_over()) return;
            if (interrupted(schedule.cancellation)) {
                stopped = true;
                changed.notify_all();
                return;
            }
            const auto step = queue.take();
            if (!step) {
                changed.wait(lock);
                continue;
            }
            lock.unlock();
            const bool good = work(*step);
            lock.lock();
            queue.end(*step, good);
            if (!good && !schedule.keep_going) stopped = true;
            changed.notify_all();
        }
    };
    on_threads(queue.width(), worker);
    return std::move(queue).ends();
}

double time_needed(std::span<const Node> steps, const std::vector<unsigned>& slots,
                   std::span<const double> seconds) {
    Queue queue(steps, slots);
    using Running = std::pair<double, std::size_t>;  // when it ends, which
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
    double now = 0;
    for (;;) {
        while (const auto step = queue.take())
            running.emplace(now + std::max(0.0, seconds[*step]), *step);
        if (running.empty()) return now;
        now = running.top().first;
        const auto step = running.top().second;
        running.pop();
        queue.end(step, true);
    }
}

}  // namespace cudamatrix::job
