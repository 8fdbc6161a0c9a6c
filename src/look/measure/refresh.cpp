#include "look/measure/refresh.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "look/measure/archive.hpp"
#include "look/measure/gathered.hpp"
#include "look/measure/overlay.hpp"
#include "look/measure/toolkit.hpp"
#include "registry/inflate.hpp"
#include "registry/oci.hpp"
#include "registry/page_cache.hpp"
#include "registry/url.hpp"

namespace cudamatrix::measure {
namespace {

namespace fs = std::filesystem;

const std::string kToolkit(kToolkitPackage);
constexpr std::size_t kMostArchive = 256U << 20;

// A wheel that was looked for, and whether it stands on the default index.
struct Wanted {
    Task task;
    bool default_index = false;
};

class Refresh {
  public:
    Refresh(const RefreshRequest& request, const Facts& facts, Http& http)
        : request_(request),
          facts_(facts),
          http_(http),
          connection_(http),
          registry_(http),
          cache_(fs::path(request.out) / kPagesFolder),
          gathered_(facts, http, request) {}

    Status ask_places() {
        const auto& index = request_.index;
        if (asked("torch")) take(index, "torch", "", true);
        if (asked(kToolkit)) take(index, kToolkit, "", false);
        for (const auto& package : known_packages(facts_)) {
            if (asked(package)) take(index, package, "", false);
            if (gathered_.stopped()) return interrupted();
        }
        for (const auto& row : facts_.rows("wheel_indexes")) {
            const auto name = std::string(row.text("name"));
            if (asked("torch") && row.has("url") && name != "cpu")
                take(std::string(row.text("url")), "torch", name, true);
            if (gathered_.stopped()) return interrupted();
        }
        std::set<std::string> systems;
        for (const auto& row : facts_.rows("toolkit_sources")) {
            if (row.text("cuda_from") == "archive" && asked(std::string(row.text("package"))))
                systems.emplace(row.text("os"));
        }
        for (const auto& os : systems)
            archive(os);
        // The others hold the same images again.
        for (const auto& row : facts_.rows("image_repositories")) {
            const auto name = std::string(row.text("repository"));
            const bool named = !request_.only.empty() && asked(name);
            if (named || (request_.only.empty() && row.has("family")))
                refresh_images(row, facts_, http_, registry_, gathered_);
            if (gathered_.stopped()) return interrupted();
        }
        return gathered_.stopped() ? interrupted() : Status(Done{});
    }

    Status measure_all() {
        CM_TRY_ASSIGN(auto inspected, InspectionCache::open(fs::path(request_.out) / kMeasuredFile));
        std::vector<Task> tasks;
        for (const auto& each : wanted_)
            tasks.push_back(each.task);
        const auto seen = inspect_wheels(http_, tasks, *inspected, request_.jobs, request_.progress);
        if (gathered_.stopped()) return interrupted();
        auto& report = gathered_.report;
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (!seen[i].info.ok()) {
                report.not_measured.push_back(seen[i].info.failure().diagnostics.front().message);
            } else if (auto added = add_rows(wanted_[i], *seen[i].info); !added.ok()) {
                report.not_measured.push_back(added.failure().diagnostics.front().message);
            }
        }
        std::vector<MeasuredRow> rows;
        for (const auto& each : report.rows)
            rows.push_back(each.row);
        CM_TRY_ASSIGN(const auto left_out,
                      write_overlay(request_.out, std::move(rows), request_.today, request_.facts));
        report.left_out.insert(report.left_out.end(), left_out.begin(), left_out.end());
        return Done{};
    }

    [[nodiscard]] measure::Refreshed report() {
        gathered_.report.bytes = http_.transferred();
        gathered_.report.requests = http_.requests();
        return std::move(gathered_.report);
    }

  private:
    [[nodiscard]] bool asked(const std::string& project) const {
        return request_.only.empty() ||
               std::find(request_.only.begin(), request_.only.end(), project) != request_.only.end();
    }
    [[nodiscard]] static Failure interrupted() {
        return {ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    }

    void take(const std::string& index, const std::string& project, const std::string& variant, bool torch) {
        const auto what = variant.empty() ? project : fmt::format("{} ({})", project, variant);
        if (gathered_.given_up(index, what)) return;
        gathered_.log(what);
        const auto files = project_files(connection_, index, project, &cache_);
        if (!files.ok()) return gathered_.lost(index, what, files.failure());
        gathered_.reached(index);
        auto news = torch                 ? torch_news(*files, variant, facts_)
                    : project == kToolkit ? toolkit_news(*files, facts_)
                                          : package_news(*files, project, facts_);
        add_news(news);
        for (auto& task : news.tasks)
            wanted_.push_back({std::move(task), variant.empty()});
    }

    void add_news(const News& news) {
        gathered_.add(news.changes);
        for (const auto& row : news.rows)
            gathered_.add(row);
        auto& lines = gathered_.report.not_measured;
        lines.insert(lines.end(), news.not_measured.begin(), news.not_measured.end());
    }

    void archive(const std::string& os) {
        const auto row = facts_.row("os-" + os);
        const auto suite = row ? std::string(row->text("codename")) : std::string();
        const auto what = fmt::format("archive of {}", os);
        if (request_.archive.empty()) {
            gathered_.report.not_reached.push_back({what, "--archive names none"});
            return;
        }
        const auto url =
            fmt::format("{}/dists/{}/non-free/binary-amd64/Packages.gz", request_.archive, suite);
        if (suite.empty() || gathered_.given_up(url, what)) return;
        gathered_.log(what);
        HttpRequest request;
        request.url = url;
        request.as_stored = true;
        const auto response = cache_.get(connection_, request);
        if (!response.ok()) return gathered_.lost(url, what, response.failure());
        std::string text;
        const auto& body = response->body;
        Inflater inflater(Inflater::Format::gzip);
        const auto state = inflater.feed(
            {reinterpret_cast<const std::uint8_t*>(body.data()), body.size()}, [&](auto bytes) -> Status {
                text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                if (text.size() <= kMostArchive) return Done{};
                return input_failure("its list of packages is too long");
            });
        if (response->status != 200 || !state.ok() || *state != Inflater::State::ended) {
            gathered_.report.not_reached.push_back(
                {what, response->status != 200
                           ? fmt::format("{}: {}", url::shown(url), describe_status(response->status))
                           : fmt::format("{} is not a list of packages", url::shown(url))});
            return;
        }
        gathered_.reached(url);
        add_news(archive_news(text, os, facts_));
    }

    Status add_rows(const Wanted& wanted, const WheelInfo& info) {
        if (wanted.task.package == kToolkit) {
            CM_TRY_ASSIGN(const auto release, toolkit_release(info));
            gathered_.add(release_row(release));
            return Done{};
        }
        CM_TRY_ASSIGN(auto rows, rows_of(wanted.task, info, wanted.default_index, facts_, nullptr));
        if (wanted.task.torch && wanted.default_index) {
            CM_TRY_ASSIGN(auto one, package_row(wanted.task.release, info, wanted.task.package));
            rows.push_back(std::move(one));
        }
        for (const auto& row : rows) {
            auto* there = gathered_.add(row);
            if (there != nullptr && row.table == "torch_releases") add_variants(there->row, row);
        }
        return Done{};
    }

    const RefreshRequest& request_;
    const Facts& facts_;
    Http& http_;
    HttpConnection connection_;
    OciClient registry_;
    PageCache cache_;
    std::vector<Wanted> wanted_;
    Gathered gathered_;
};

}  // namespace

Result<Refreshed> refresh(const RefreshRequest& request, const Facts& facts, Http& http) {
    CM_TRY(file::make_directories(request.out));
    Refresh job(request, facts, http);
    CM_TRY(job.ask_places());
    CM_TRY(job.measure_all());
    return job.report();
}

}  // namespace cudamatrix::measure
