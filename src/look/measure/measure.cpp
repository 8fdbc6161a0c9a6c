#include "look/measure/measure.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "look/measure/rows.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> arches_of(const std::string& text) {
    auto arches = text::split(text, ',');
    for (const auto& arch : arches) {
        if (arch != "x86_64" && arch != "aarch64")
            return input_failure(
                fmt::format("invalid --arch '{}': expected x86_64 or aarch64", text::printable(arch)));
    }
    return arches;
}

bool lacks_requires(const Row& row) {
    return row.text("confidence") == "measured" && !row.has("requires");
}

// The packages that were named, or with --missing alone all that have a row which was listed but not opened.
std::vector<std::string> packages_of(const MeasureRequest& request, const Facts& facts) {
    if (request.is_torch) return {"torch"};
    std::vector<std::string> names;
    for (const auto& name : request.packages)
        names.push_back(pep440::canonical_name(name));
    if (names.empty()) {
        for (const auto& row : facts.table("package_releases")->rows) {
            if (lacks_requires(row)) names.emplace_back(row.text("package"));
        }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

bool is_one_of(const std::map<std::string, std::set<std::string>>& releases, std::string_view package,
               const pep440::Version& version) {
    const auto found = releases.find(std::string(package));
    return found != releases.end() && std::ranges::any_of(found->second, [&](const std::string& text) {
               const auto each = pep440::Version::parse(text);
               return each && *each == version;
           });
}

bool wanted(const MeasureRequest& request, const pep440::Specifiers& versions, const Release& release,
            std::string_view package, const Facts& facts) {
    const auto version = pep440::Version::parse(release.version);
    if (!version || release.wheels.empty() || !versions.admits(version->without_local())) return false;
    if (!request.exactly.empty()) return is_one_of(request.exactly, package, *version);
    if (request.missing) {
        const auto row = lookup::package_release(facts, package, release.version);
        return row && lacks_requires(*row);
    }
    return !version->is_prerelease() && !yanked_because(release);
}

// "oddpkg <1", "torch 97.0.0 for x86_64 or aarch64".
std::string asked_for(const MeasureRequest& request, const std::vector<std::string>& packages) {
    std::vector<std::string> asked;
    for (const auto& package : packages) {
        const auto exactly = request.exactly.find(package);
        const auto versions = exactly == request.exactly.end()
                                  ? request.versions
                                  : text::join({exactly->second.begin(), exactly->second.end()}, " or ");
        asked.push_back(versions.empty() ? package : fmt::format("{} {}", package, versions));
    }
    auto out = text::join(asked, ", ");
    if (request.is_torch) out += " for " + text::replace_all(request.arch, ",", " or ");
    return text::printable(out);
}

bool has_task(const std::vector<Task>& tasks, std::string_view package, const std::string& version,
              std::string_view arch) {
    const auto wanted = pep440::Version::parse(version);
    return std::ranges::any_of(tasks, [&](const Task& task) {
        const auto there = pep440::Version::parse(task.release.version);
        return task.package == package && (arch.empty() || task.release.arch == arch) && there && wanted &&
               *there == *wanted;
    });
}

// Of one package the releases that were asked for and are not there.
void note_lacking(const MeasureRequest& request, const std::string& package, const std::vector<Task>& tasks,
                  Measured& measured) {
    const auto exactly = request.exactly.find(package);
    if (request.is_torch || exactly == request.exactly.end()) return;
    for (const auto& version : exactly->second) {
        if (has_task(tasks, package, version, {})) continue;
        measured.not_measured.push_back(
            text::printable(fmt::format("no release on the index fits {} {}", package, version)));
    }
}

// A build ("2.9.0+cu118") that the index of its variant does not list; of a release that no fact knows that
// says nothing.
void note_absent_build(const MeasureRequest& request, const std::string& build, const std::string& arch,
                       const Facts& facts, Measured& measured) {
    measured.not_measured.push_back(
        fmt::format("{} lists no torch {} for {}", url::shown(request.index), text::printable(build), arch));
    const auto plus = build.find('+');
    const auto release = build.substr(0, plus), variant = build.substr(plus + 1);
    if (!facts.row("torch-" + release)) return;
    MeasuredRow row{"absent_torch_builds",
                    fmt::format("no-torch-{}+{}-{}", release, variant, arch),
                    {scalar("torch", release), scalar("variant", variant), scalar("arch", arch),
                     scalar("source", request.absent_source), scalar("confidence", "measured")}};
    if (!request.absent_note.empty())
        row.cells.insert(row.cells.end() - 2, scalar("note", request.absent_note));
    measured.add(std::move(row), facts);
}

Status note_absent_builds(const MeasureRequest& request, const std::vector<Task>& tasks, const Facts& facts,
                          Measured& measured) {
    CM_TRY_ASSIGN(const auto arches, arches_of(request.arch));
    for (const auto& [package, versions] : request.exactly) {
        for (const auto& version : versions) {
            for (const auto& arch : arches) {
                if (version.find('+') != std::string::npos && !has_task(tasks, package, version, arch))
                    note_absent_build(request, version, arch, facts, measured);
            }
        }
    }
    return Done{};
}

// Libraries whose purpose a fact gives, and those that a wheel without a list of architectures goes by: of
// others no row can be made.
std::set<std::string, std::less<>> known_libraries(const Facts& facts) {
    std::set<std::string, std::less<>> out(kMainLibraries.begin(), kMainLibraries.end());
    for (const auto& row : facts.rows("torch_libraries"))
        out.emplace(row.text("library"));
    return out;
}

Result<std::vector<Task>> tasks_of(const MeasureRequest& request, const Facts& facts, Http& http,
                                   Measured& measured) {
    CM_TRY_ASSIGN(const auto versions, versions_of(request));
    CM_TRY_ASSIGN(const auto arches, arches_of(request.arch));
    HttpConnection connection(http);
    const PageCache cache(fs::path(request.out) / kPagesFolder);
    std::vector<Task> tasks;
    const auto libraries =
        request.known_libraries ? known_libraries(facts) : std::set<std::string, std::less<>>();
    for (const auto& package : packages_of(request, facts)) {
        const auto files = project_files(connection, request.index, package, &cache);
        if (!files.ok()) {
            if (request.packages.size() <= 1 && !request.missing) return files.failure();
            measured.not_measured.push_back(files.failure().diagnostics.front().message);
            continue;
        }
        auto releases = request.is_torch ? torch_releases(files.value(), arches, facts)
                                         : package_releases(files.value(), package, facts);
        for (auto& release : releases) {
            if (wanted(request, versions, release, package, facts))
                tasks.push_back(
                    {package, request.is_torch, std::move(release), request.held, false, {}, libraries});
        }
        note_lacking(request, package, tasks, measured);
    }
    return tasks;
}

// Wheels of torch and of other packages.
Status measure_packages(const MeasureRequest& request, const Facts& facts, Http& http,
                        InspectionCache& inspected, Measured& measured) {
    CM_TRY_ASSIGN(const auto tasks, tasks_of(request, facts, http, measured));
    if (!request.absent_source.empty()) {
        CM_TRY(note_absent_builds(request, tasks, facts, measured));
    }
    if (tasks.empty() && measured.not_measured.empty()) {
        if (request.may_lack) return Done{};
        return input_failure(
            fmt::format("no release on the index fits {}", asked_for(request, packages_of(request, facts))),
            "see --versions and --arch");
    }
    if (request.held) {
        give_large_blocks_back();
        const auto wheels = text::count(tasks.size(), "wheel");
        request.progress(request.known_libraries
                             ? fmt::format("measure: reading the GPU code of {}", wheels)
                             : fmt::format("measure: reading {} to the last byte", wheels));
    }
    const auto seen = inspect_wheels(http, tasks, inspected, request.jobs, request.progress);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!measured.note(seen[i])) continue;
        auto rows = rows_of(tasks[i], *seen[i].info, request.default_index, facts, &measured.other_libraries);
        if (!rows.ok()) {
            measured.not_measured.push_back(rows.failure().diagnostics.front().message);
            continue;
        }
        for (auto& row : *rows)
            measured.add(std::move(row), facts);
    }
    auto& others = measured.other_libraries;
    std::ranges::sort(others);
    others.erase(std::unique(others.begin(), others.end()), others.end());
    return Done{};
}

// Rows that contradict known ones only where the user takes them.
Status write_rows(const MeasureRequest& request, const Facts& facts, Measured& measured) {
    std::vector<MeasuredRow> rows;
    for (const auto& each : measured.rows) {
        if (request.fill) {
            rows.push_back(filled_row(each, facts));
        } else if (each.status != RowStatus::contradicted || request.accept) {
            rows.push_back(each.row);
        }
    }
    CM_TRY_ASSIGN(measured.left_out,
                  write_overlay(request.out, std::move(rows), request.today, request.facts));
    return Done{};
}

}  // namespace

void Measured::add(MeasuredRow row, const Facts& facts) {
    const auto twice =
        std::ranges::any_of(rows, [&](const Compared& other) { return other.row.id == row.id; });
    if (!twice) rows.push_back(compare(std::move(row), facts));
}

bool Measured::note(const Inspection& seen) {
    if (seen.remembered) ++remembered;
    if (!seen.info.ok()) not_measured.push_back(seen.info.failure().diagnostics.front().message);
    return seen.info.ok();
}

std::size_t Measured::count(RowStatus status) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [&](const Compared& row) { return row.status == status; }));
}

Result<pep440::Specifiers> versions_of(const MeasureRequest& request) {
    auto versions = pep440::Specifiers::parse(request.versions);
    if (versions) return *std::move(versions);
    return input_failure(
        fmt::format("invalid --versions '{}': expected a version specifier",
                    text::printable(request.versions)),
        fmt::format("write it as pip does: '{}'", request.is_toolkit ? ">=12,<14" : ">=1.13,<3"));
}

bool is_interrupted(const Http& http) {
    return interrupted(http.options().cancellation);
}

Result<Measured> measure(const MeasureRequest& request, const Facts& facts, Http& http) {
    CM_TRY(file::make_directories(request.out));
    CM_TRY_ASSIGN(auto inspected, InspectionCache::open(fs::path(request.out) / kMeasuredFile));
    Measured measured;
    const auto job = request.is_image     ? measure_images
                     : request.is_toolkit ? measure_toolkits
                                          : measure_packages;
    CM_TRY(job(request, facts, http, *inspected, measured));
    if (is_interrupted(http)) return Failure{ExitCode::interrupted, {}};
    measured.bytes = http.transferred();
    measured.requests = http.requests();
    CM_TRY(write_rows(request, facts, measured));
    return measured;
}

}  // namespace cudamatrix::measure
