#include "run/doctor/doctor.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

struct Probe {
    std::string_view name;  ///< of what it looks at, where it does not answer
    Lines (*lines)(const Context&);
};

// THE list of probes, in the order of the report.
constexpr std::array kProbes{Probe{"driver", driver_lines},
                             Probe{"kernel-module", module_lines},
                             Probe{"libraries", library_lines},
                             Probe{"device-nodes", device_node_lines},
                             Probe{"cuda-driver", cuda_driver_lines},
                             Probe{"gpu", gpu_lines},
                             Probe{"gpu-health", gpu_health_lines},
                             Probe{"toolkit", toolkit_lines},
                             Probe{"cgroups", cgroup_lines},
                             Probe{"cdi", cdi_lines},
                             Probe{"engine", engine_lines},
                             Probe{"disk", disk_lines},
                             Probe{"shared-memory", shared_memory_lines},
                             Probe{"library-path", library_path_lines},
                             Probe{"environment", environment_lines},
                             Probe{"network", network_lines},
                             Probe{"python", python_lines}};

// What threads leave for the one that waits: it goes on without those that stay away.
template <class T>
struct Awaited {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::optional<T>> results;
    std::size_t done = 0;
};

// The results of each of `count` calls that came before the end.
template <class T>
std::vector<std::optional<T>> all_until(std::chrono::steady_clock::time_point end, std::size_t count,
                                        const std::function<T(std::size_t)>& call) {
    auto awaited = std::make_shared<Awaited<T>>();
    awaited->results.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto answer = [awaited, call, i] {
            auto result = call(i);
            const std::lock_guard lock(awaited->mutex);
            awaited->results[i] = std::move(result);
            ++awaited->done;
            awaited->changed.notify_one();
        };
        try {
            std::thread(answer).detach();
        } catch (const std::system_error&) {
            answer();  // no thread is to be had: one after the other
        }
    }
    std::unique_lock lock(awaited->mutex);
    awaited->changed.wait_until(lock, end, [&] { return awaited->done == count; });
    std::vector<std::optional<T>> out;  // a late thread still finds its place in the other
    for (auto& result : awaited->results)
        out.push_back(std::move(result));
    return out;
}

}  // namespace

std::optional<Space> space_of(const std::filesystem::path& folder) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) return std::nullopt;
    return Space{space.capacity, space.available};
}

Examined examine(const std::shared_ptr<const Subject>& subject) {
    const auto end = std::chrono::steady_clock::now() + subject->limit;
    const auto answers = subject->suite(subject->machine);
    const auto late = [&](std::string_view name) {
        return DoctorLine{std::string(name),
                          Health::warn,
                          fmt::format("no answer within {} s", subject->limit.count()),
                          {},
                          {}};
    };
    auto looked =
        all_until<probe::Host>(end, 1, [subject](std::size_t) { return probe::look_at(subject->machine); });
    Examined out;
    if (!looked[0]) {
        out.lines.push_back(late("machine"));
        return out;
    }
    out.host = *std::move(looked[0]);
    add_gpus_of(answers, out.host);
    const auto context = std::make_shared<const Context>(Context{subject, out.host, answers});
    auto lines = all_until<Lines>(end, kProbes.size(), [context](std::size_t i) {
        const auto& only = context->subject->only;
        const bool wanted = only.empty() || std::ranges::count(only, kProbes[i].name) != 0;
        return wanted ? kProbes[i].lines(*context) : Lines();
    });
    for (std::size_t i = 0; i < kProbes.size(); ++i) {
        if (!lines[i]) {
            out.lines.push_back(late(kProbes[i].name));
            continue;
        }
        out.lines.insert(out.lines.end(), std::make_move_iterator(lines[i]->begin()),
                         std::make_move_iterator(lines[i]->end()));
    }
    return out;
}

}  // namespace cudamatrix::doctor
