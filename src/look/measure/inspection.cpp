#include "look/measure/inspection.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "look/scan/wheel.hpp"
#include "registry/http.hpp"

namespace cudamatrix::measure {
namespace {

constexpr std::uint64_t kLargestCache = 1u << 30;

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// The libraries of the wheel that the task asks for.
Result<scan::Scan> scan_libraries(HttpConnection& connection, const Task& task, const Progress& progress,
                                  std::uint64_t& bytes) {
    const auto& file = task.release.chosen;
    const auto* cancellation = connection.http().options().cancellation;
    CM_TRY_ASSIGN(auto source, HttpSource::open(connection, file.url));
    scan::Options options{{true, {}}, cancellation};
    if (!task.libraries.empty())
        options.wanted = [&](const std::string& path) { return task.libraries.count(name_of(path)) != 0; };
    options.progress = [&](const std::string& line) {
        progress(fmt::format("measure: {}, {}", text::printable(file.name), line));
    };
    auto scan =
        scan::scan_wheel(*source, file.name, task.libraries.empty() ? file.sha256 : std::string(), options);
    bytes += source->transferred();
    if (cudamatrix::interrupted(cancellation))
        return Failure{ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    if (!scan.ok()) return scan;
    for (const auto& library : scan->libraries) {
        if (!library.error.empty())
            return input_failure(fmt::format("{}: {}: {}", text::printable(file.name),
                                             text::printable(library.path), text::printable(library.error)));
    }
    return scan;
}

// The list that a wheel without one would have: what most kernels of its main library are compiled for. A
// few, of other projects, are for more GPUs than torch is. Empty: no such library was read.
std::string arch_list_of(const scan::Scan& scan) {
    for (const auto name : kMainLibraries) {
        const auto main = std::ranges::find_if(scan.libraries, [&](const scan::Library& library) {
            return library.path == fmt::format("torch/lib/{}", name);
        });
        if (main == scan.libraries.end() || !main->has_kernels()) continue;
        std::uint64_t most = 0;
        for (const auto& target : main->targets)
            most = std::max(most, target.kernels ? target.entries : 0);
        std::vector<std::string> entries;
        for (const auto& target : main->targets) {
            const bool is_sass = target.kind == fatbin::Kind::sass;
            if (!target.kernels || target.entries * 2 < most ||
                (!is_sass && target.kind != fatbin::Kind::ptx))
                continue;
            entries.push_back((is_sass ? "sm_" : "compute_") +
                              text::replace_all(fatbin::to_text(target.arch), ".", ""));
        }
        return text::join(entries, " ");
    }
    return {};
}

// Has this wheel been asked all that the task asks?
bool answers(const WheelInfo& info, const Task& task) {
    if (!info.compiler) return false;
    return !task.workshop || !info.compiler->has_ptxas || !info.compiler->targets.empty();
}

// Were the libraries read that the task asks for?
bool answers_held(const WheelInfo& info, const Task& task) {
    return info.library_code && (!info.some_libraries || !task.libraries.empty());
}

Inspection inspect(HttpConnection& connection, const Task& task, InspectionCache& inspected,
                   const Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    const auto& file = task.release.chosen;
    if (file.sha256.empty()) {
        return {input_failure(fmt::format("{}: the index gives no sha256, and a row needs one as its source",
                                          text::printable(file.name))),
                false,
                {}};
    }
    auto known = inspected.recall(file.sha256, task.torch);
    const bool wants_libraries = task.held && !(known && answers_held(*known, task));
    const bool wants_compiler = task.compiler && !(known && answers(*known, task));
    if (known) known->file = file.name;  // the same bytes may stand there under another name
    if (known && !wants_libraries && !wants_compiler) return {std::move(*known), true, {}};
    auto info = known ? Result<WheelInfo>(std::move(*known)) : inspect_wheel(connection, file, task.torch);
    const auto* cancellation = connection.http().options().cancellation;
    std::uint64_t bytes = 0;
    if (info.ok() && wants_libraries) {
        // Without CUDA there is nothing to find, and nothing is read.
        info->library_code.emplace();
        if (!info->cuda.empty()) {
            const auto scan = scan_libraries(connection, task, progress, bytes);
            if (!scan.ok()) return {scan.failure(), false, {}};
            info->library_code = code_of(*scan);
            if (auto list = arch_list_of(*scan); !info->arch && !list.empty()) info->arch = std::move(list);
        }
        info->some_libraries = !task.libraries.empty();
    }
    if (info.ok() && wants_compiler) {
        auto says = ask_compiler(connection, file, task.workshop, cancellation, bytes);
        if (!says.ok()) return {says.failure(), false, {}};
        info->compiler = std::move(says).value();
    }
    if (info.ok()) info->bytes += bytes;
    if (info.ok()) {
        if (auto kept = inspected.add(info.value()); !kept.ok()) info = kept.failure();
    }
    const auto took = std::chrono::steady_clock::now() - start;
    return {std::move(info), false, std::chrono::duration_cast<std::chrono::milliseconds>(took)};
}

std::string progress_line(std::size_t done, std::size_t all, const Task& task, const Inspection& seen) {
    const auto line = fmt::format("[{}/{}] {}: ", done, all, text::printable(task.release.chosen.name));
    if (!seen.info.ok()) return line + text::printable(seen.info.failure().diagnostics.front().message);
    if (seen.remembered) return line + "known";
    return line + fmt::format("{}, {:.1f} s", text::human_bytes(seen.info->bytes),
                              static_cast<double>(seen.took.count()) / 1000);
}

}  // namespace

Result<std::unique_ptr<InspectionCache>> InspectionCache::open(const std::filesystem::path& path) {
    std::unique_ptr<InspectionCache> inspected(new InspectionCache(path));
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return inspected;
    CM_TRY_ASSIGN(const auto text, file::read(path, kLargestCache));
    for (const auto& line : text::split(text, '\n')) {
        if (line.empty()) continue;
        const auto json = parse_json(line, path.string());
        if (!json.ok()) continue;  // the last line of a run that was killed
        if (auto info = wheel_info_from(json.value())) inspected->wheels_[info->sha256] = std::move(*info);
    }
    return inspected;
}

std::optional<WheelInfo> InspectionCache::recall(const std::string& sha256, bool torch) const {
    const std::lock_guard lock(mutex_);
    const auto found = wheels_.find(sha256);
    if (found == wheels_.end() || (torch && found->second.build.empty())) return std::nullopt;
    return found->second;
}

Status InspectionCache::add(const WheelInfo& info) {
    const std::lock_guard lock(mutex_);
    wheels_[info.sha256] = info;
    // A line of its own even behind a torn one.
    return file::append(path_, "\n" + to_text(to_json(info), false));
}

Result<std::vector<MeasuredRow>> rows_of(const Task& task, const WheelInfo& info, bool default_index,
                                         const Facts& facts, std::vector<std::string>* other_libraries) {
    if (!task.torch) {
        CM_TRY_ASSIGN(auto row, package_row(task.release, info, task.package));
        return std::vector{std::move(row)};
    }
    auto rows = torch_rows(task.release, info, default_index, facts);
    if (!rows.ok() || other_libraries == nullptr) return rows;
    auto libraries = library_rows(rows->front(), info, facts, *other_libraries);
    rows->insert(rows->end(), std::move_iterator(libraries.begin()), std::move_iterator(libraries.end()));
    return rows;
}

std::vector<Inspection> inspect_wheels(Http& http, const std::vector<Task>& tasks, InspectionCache& inspected,
                                       unsigned jobs, const Progress& progress) {
    std::vector<Inspection> seen(tasks.size(), Inspection{input_failure("interrupted"), false, {}});
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;
    std::mutex mutex;
    const auto work = [&] {
        HttpConnection connection(http);
        for (auto i = next++; i < tasks.size(); i = next++) {
            if (interrupted(http.options().cancellation)) return;
            auto one = inspect(connection, tasks[i], inspected, [&](std::string_view line) {
                const std::lock_guard lock(mutex);
                progress(line);
            });
            const std::lock_guard lock(mutex);
            seen[i] = std::move(one);
            progress(progress_line(++done, tasks.size(), tasks[i], seen[i]));
        }
    };
    on_threads(std::min<std::size_t>(jobs, tasks.size()), work);
    return seen;
}

namespace {

// The newest row of a library of that name: what it is for is the same in every release.
std::optional<Row> row_about(const Facts& facts, std::string_view library) {
    std::optional<Row> out;
    for (const auto& row : facts.rows("torch_libraries")) {
        if (row.text("library") == library) out = row;
    }
    return out;
}

// What a library runs by: a PTX that one of its relocatable parts lacks is no code path.
std::vector<std::string> runs_by(const fatbin::Offer& offer, fatbin::Kind kind) {
    std::set<fatbin::Code> codes = offer.loaded;
    if (!offer.parts.empty()) {
        for (const auto& code : offer.parts.begin()->first) {
            if (std::ranges::all_of(offer.parts, [&](const auto& part) {
                    return std::ranges::find(part.first, code) != part.first.end();
                }))
                codes.insert(code);
        }
    }
    std::vector<std::string> out;
    for (const auto& code : codes) {
        const auto arch = fatbin::to_text(code.arch);
        if (code.kind == kind && (out.empty() || out.back() != arch)) out.push_back(arch);
    }
    return out;
}

}  // namespace

std::vector<LibraryCode> code_of(const scan::Scan& scan) {
    std::vector<LibraryCode> libraries;
    for (const auto& library : scan.libraries) {
        LibraryCode each{library.path, runs_by(library.offer, fatbin::Kind::sass),
                         runs_by(library.offer, fatbin::Kind::ptx)};
        if (!each.sass.empty() || !each.ptx.empty()) libraries.push_back(std::move(each));
    }
    return libraries;
}

Result<std::vector<LibraryCode>> library_code(HttpConnection& connection, const Task& task,
                                              const Progress& progress, std::uint64_t& bytes) {
    CM_TRY_ASSIGN(const auto scan, scan_libraries(connection, task, progress, bytes));
    return code_of(scan);
}

std::vector<MeasuredRow> library_rows(const MeasuredRow& wheel, const WheelInfo& info, const Facts& facts,
                                      std::vector<std::string>& others) {
    std::vector<MeasuredRow> rows;
    if (!info.library_code) return rows;
    const auto value = [&](std::string_view column) { return wheel.cell(column)->values.front(); };
    for (const auto& library : *info.library_code) {
        const auto name = name_of(library.path);
        const auto known = row_about(facts, name);
        if (!known) {
            others.push_back(library.path);
            continue;
        }
        // Where the purpose is known from is a source of the new row, too; the wheels of other rows are not.
        Cell source{"source", wheel.cell("source")->values, false};
        for (const auto each : known->list("source")) {
            if (!each.starts_with("wheel:")) source.values.emplace_back(each);
        }
        source.is_list = source.values.size() > 1;
        rows.push_back({"torch_libraries",
                        fmt::format("{}-{}", wheel.id, name),
                        {{"torch", {value("torch")}, false},
                         {"variant", {value("variant")}, false},
                         {"arch", {value("arch")}, false},
                         {"library", {name}, false},
                         {"purpose", {std::string(known->text("purpose"))}, false},
                         {"sass", library.sass, true},
                         {"ptx", library.ptx, true},
                         std::move(source),
                         {"confidence", {"measured"}, false}}});
    }
    return rows;
}

}  // namespace cudamatrix::measure
