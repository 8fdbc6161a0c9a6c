// The CUDA toolkit on an index: its releases, and what their compilers take.

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/measure.hpp"
#include "look/measure/toolkit.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

class Toolkits {
  public:
    Toolkits(const MeasureRequest& request, const Facts& facts, Http& http, InspectionCache& inspected,
             Measured& measured)
        : request_(request),
          facts_(facts),
          http_(http),
          inspected_(inspected),
          measured_(measured),
          connection_(http),
          pages_(fs::path(request.out) / kPagesFolder) {}

    Status run() {
        CM_TRY_ASSIGN(const auto versions, versions_of(request_));
        CM_TRY_ASSIGN(auto files, project_files(connection_, request_.index, kToolkitPackage, &pages_));
        const auto listed = package_releases(files, kToolkitPackage, facts_);
        const auto releases = read_releases(listed, versions);
        if (releases.empty() && measured_.not_measured.empty())
            return input_failure(
                fmt::format("no release on the index fits {}{}{}", kToolkitPackage,
                            request_.versions.empty() ? "" : " ", text::printable(request_.versions)),
                "see --versions");
        std::vector<ToolkitRelease> newest;
        for (const auto& release : newest_of_minors(releases)) {
            if (is_newest(listed, release)) newest.push_back(release);
        }
        read_compilers(newest);
        for (const auto& release : newest)
            add_toolkit(release);
        for (const auto& release : releases)
            measured_.add(release_row(release), facts_);
        return Done{};
    }

  private:
    std::vector<ToolkitRelease> read_releases(const std::vector<Release>& listed,
                                              const pep440::Specifiers& versions) {
        std::vector<Task> tasks;
        for (const auto& each : listed) {
            const auto version = pep440::Version::parse(each.version);
            if (!each.wheels.empty() && version && !version->is_prerelease() && versions.admits(*version))
                tasks.push_back({std::string(kToolkitPackage), false, each});
        }
        std::vector<ToolkitRelease> releases;
        for (const auto& seen : inspect_wheels(http_, tasks, inspected_, request_.jobs, request_.progress)) {
            if (!measured_.note(seen)) continue;
            auto release = toolkit_release(*seen.info);
            if (release.ok()) {
                releases.push_back(std::move(release).value());
            } else {
                measured_.not_measured.push_back(release.failure().diagnostics.front().message);
            }
        }
        return releases;
    }

    // The column `newest` is about all releases of the minor, whichever were asked for.
    static bool is_newest(const std::vector<Release>& listed, const ToolkitRelease& release) {
        const auto own = pep440::Version::parse(release.cuda);
        return std::ranges::none_of(listed, [&](const Release& each) {
            const auto other = pep440::Version::parse(each.version);
            return !each.wheels.empty() && other && !other->is_prerelease() &&
                   other->part(0) == own->part(0) && other->part(1) == own->part(1) &&
                   other->part(2) > own->part(2);
        });
    }

    [[nodiscard]] static std::string key(const Component& component) {
        return component.package + " " + component.version;
    }

    void want(const Component& component, bool execute, std::vector<Task>& tasks) {
        if (pages_read_.count(component.package) == 0)
            pages_read_.emplace(component.package,
                                project_files(connection_, request_.index, component.package, &pages_));
        const auto& files = pages_read_.at(component.package);
        if (!files.ok()) {
            measured_.not_measured.push_back(files.failure().diagnostics.front().message);
            return;
        }
        const auto wheel = component_wheel(*files, component, own_processor());
        if (!wheel) {
            measured_.not_measured.push_back(
                fmt::format("{}: the index has no wheel for {}", key(component), own_processor()));
            return;
        }
        Task task{component.package, false, {component.version, "", {*wheel}, false, *wheel}};
        task.compiler = true;
        if (execute) task.workshop = fs::path(request_.out) / "run";
        tasks.push_back(std::move(task));
    }

    void read_compilers(const std::vector<ToolkitRelease>& releases) {
        std::vector<Task> tasks;
        for (const auto& release : releases) {
            want(release.nvcc, request_.execute, tasks);
            if (release.headers) want(*release.headers, false, tasks);
        }
        // A program cannot be started while a child of another thread still holds it open for writing.
        const auto jobs = request_.execute ? 1 : request_.jobs;
        const auto seen = inspect_wheels(http_, tasks, inspected_, jobs, request_.progress);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (measured_.note(seen[i]))
                compilers_.emplace(key({tasks[i].package, tasks[i].release.version}), *seen[i].info);
        }
        std::error_code error;
        fs::remove(fs::path(request_.out) / "run", error);
    }

    void add_toolkit(const ToolkitRelease& release) {
        const auto compiler = compilers_.find(key(release.nvcc));
        const auto headers = release.headers ? compilers_.find(key(*release.headers)) : compilers_.end();
        if (compiler == compilers_.end() || (release.headers && headers == compilers_.end()))
            return;  // said already
        auto row = toolkit_row(release, compiler->second,
                               headers == compilers_.end() ? nullptr : &headers->second, facts_);
        if (row.ok()) {
            measured_.add(std::move(row).value(), facts_);
        } else {
            measured_.not_measured.push_back(row.failure().diagnostics.front().message);
        }
    }

    const MeasureRequest& request_;
    const Facts& facts_;
    Http& http_;
    InspectionCache& inspected_;
    Measured& measured_;
    HttpConnection connection_;
    PageCache pages_;
    std::map<std::string, Result<std::vector<IndexFile>>> pages_read_;
    std::map<std::string, WheelInfo> compilers_;
};

}  // namespace

Status measure_toolkits(const MeasureRequest& request, const Facts& facts, Http& http,
                        InspectionCache& inspected, Measured& measured) {
    return Toolkits(request, facts, http, inspected, measured).run();
}

}  // namespace cudamatrix::measure
