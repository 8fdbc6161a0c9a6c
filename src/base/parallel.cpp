#include "base/parallel.hpp"

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace cudamatrix {

Status parallel_for(std::size_t count, std::size_t least,
                    const std::function<Status(std::size_t begin, std::size_t end)>& work) {
    const auto most = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    const auto parts = std::clamp<std::size_t>(count / std::max<std::size_t>(1, least), 1, most);
    const auto begin_of = [&](std::size_t part) {
        return count / parts * part + std::min(part, count % parts);
    };
    std::vector<std::future<Status>> others;
    // A part for which there is no thread to be had runs here, when it is waited for.
    constexpr auto how = std::launch::async | std::launch::deferred;
    for (std::size_t part = 1; part < parts; ++part)
        others.push_back(std::async(how, work, begin_of(part), begin_of(part + 1)));
    auto done = work(0, begin_of(1));
    for (auto& other : others) {
        auto one = other.get();
        if (done.ok()) done = std::move(one);
    }
    return done;
}

void on_threads(std::size_t count, const std::function<void()>& work) {
    if (count == 0) return;
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < count; ++i)
            others.emplace_back(work);
    } catch (const std::system_error&) {
        // No further thread is to be had: those that are do it all.
    }
    work();
    for (auto& other : others)
        other.join();
}

}  // namespace cudamatrix
