#include "look/measure/job.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/file.hpp"
#include "base/text.hpp"
#include "look/measure/held.hpp"

namespace cudamatrix::measure {
namespace {

constexpr std::uint64_t kLargestMemory = 1u << 30;

// Has this wheel been asked all that the task asks?
bool answers(const Look& look, const Task& task) {
    if (!look.compiler) return false;
    return !task.workshop || !look.compiler->has_ptxas || !look.compiler->targets.empty();
}

Seen look_once(HttpConnection& connection, const Task& task, Memory& memory) {
    const auto start = std::chrono::steady_clock::now();
    const auto& file = task.group.chosen;
    if (file.sha256.empty()) {
        return {input_failure(fmt::format("{}: the index gives no sha256, and a row needs one as its source",
                                          text::printable(file.name))),
                false,
                {}};
    }
    auto known = memory.recall(file.sha256, task.torch);
    const bool wants_libraries = task.held && !(known && known->held);
    const bool wants_compiler = task.compiler && !(known && answers(*known, task));
    if (known) known->file = file.name;  // the same bytes may stand there under another name
    if (known && !wants_libraries && !wants_compiler) return {std::move(*known), true, {}};
    auto look = known ? Result<Look>(std::move(*known)) : look_into(connection, file, task.torch);
    const auto* cancellation = connection.http().options().cancellation;
    std::uint64_t bytes = 0;
    if (look.ok() && wants_libraries) {
        // Without CUDA there is nothing to find, and nothing is read.
        auto held = look->cuda.empty() ? Result<std::vector<HeldLibrary>>(std::vector<HeldLibrary>{})
                                       : held_by(connection, file, cancellation, bytes);
        if (!held.ok()) return {held.failure(), false, {}};
        look->held = std::move(held).value();
    }
    if (look.ok() && wants_compiler) {
        auto says = ask_compiler(connection, file, task.workshop, cancellation, bytes);
        if (!says.ok()) return {says.failure(), false, {}};
        look->compiler = std::move(says).value();
    }
    if (look.ok()) look->bytes += bytes;
    if (look.ok()) {
        if (auto kept = memory.add(look.value()); !kept.ok()) look = kept.failure();
    }
    const auto took = std::chrono::steady_clock::now() - start;
    return {std::move(look), false, std::chrono::duration_cast<std::chrono::milliseconds>(took)};
}

}  // namespace

Result<std::unique_ptr<Memory>> Memory::open(const std::filesystem::path& path) {
    std::unique_ptr<Memory> memory(new Memory(path));
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return memory;
    const auto text = file::read(path, kLargestMemory);
    if (!text.ok()) return text.failure();
    for (const auto& line : text::split(text.value(), '\n')) {
        if (line.empty()) continue;
        const auto json = parse_json(line, path.string());
        if (!json.ok()) continue;  // the last line of a run that was killed
        if (auto look = look_from(json.value())) memory->looks_[look->sha256] = std::move(*look);
    }
    return memory;
}

std::optional<Look> Memory::recall(const std::string& sha256, bool torch) const {
    const std::lock_guard lock(mutex_);
    const auto found = looks_.find(sha256);
    if (found == looks_.end() || (torch && found->second.build.empty())) return std::nullopt;
    return found->second;
}

Status Memory::add(const Look& look) {
    const std::lock_guard lock(mutex_);
    looks_[look.sha256] = look;
    // A line of its own even behind a torn one.
    std::ofstream out(path_, std::ios::app | std::ios::binary);
    out << "\n" << to_text(to_json(look), false);
    out.flush();
    if (!out) return environment_failure(fmt::format("cannot write {}", text::printable(path_.string())));
    return Done{};
}

Result<std::vector<MeasuredRow>> rows_of(const Task& task, const Look& look, bool default_index,
                                         const Facts& facts, std::vector<std::string>* other_libraries) {
    if (!task.torch) {
        auto row = package_row(task.group, look, task.package);
        if (!row.ok()) return row.failure();
        return std::vector{std::move(row).value()};
    }
    auto rows = torch_rows(task.group, look, default_index, facts);
    if (!rows.ok() || other_libraries == nullptr) return rows;
    auto libraries = library_rows(rows->front(), look, facts, *other_libraries);
    rows->insert(rows->end(), std::move_iterator(libraries.begin()), std::move_iterator(libraries.end()));
    return rows;
}

std::vector<Seen> look_into_all(Http& http, const std::vector<Task>& tasks, Memory& memory, unsigned jobs,
                                const Progress& progress) {
    std::vector<Seen> seen(tasks.size(), Seen{input_failure("interrupted"), false, {}});
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;
    std::mutex mutex;
    const auto work = [&] {
        HttpConnection connection(http);
        for (auto i = next++; i < tasks.size(); i = next++) {
            const auto* cancellation = http.options().cancellation;
            if (cancellation != nullptr && cancellation->requested()) return;
            auto one = look_once(connection, tasks[i], memory);
            const std::lock_guard lock(mutex);
            seen[i] = std::move(one);
            progress(++done, tasks.size(), tasks[i], seen[i]);
        }
    };
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min<std::size_t>(jobs, tasks.size()); ++i)
        workers.emplace_back(work);
    for (auto& worker : workers)
        worker.join();
    return seen;
}

}  // namespace cudamatrix::measure
