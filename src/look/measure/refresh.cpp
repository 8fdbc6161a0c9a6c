#include "look/measure/refresh.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "look/measure/image_news.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/toolkit.hpp"
#include "registry/http.hpp"
#include "registry/inflate.hpp"
#include "registry/oci.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

// What a refresh has found so far, and which hosts answered it.

class Gathered {
  public:
    Gathered(const Facts& facts, Http& http, const IndexRequest& request)
        : facts_(facts), http_(http), request_(request) {}

    /// Whether the run was interrupted.
    [[nodiscard]] bool stopped() const { return is_interrupted(http_); }
    void log(const std::string& what) const { request_.progress("refresh: " + what); }

    /// A host that has not answered is not asked again in this run: it would be as slow each time. True, and
    /// a line of the report, where `url` is on such a one.
    [[nodiscard]] bool given_up(const std::string& url, const std::string& what);
    void lost(const std::string& url, const std::string& what, const Failure& failure);
    void reached(const std::string& url);

    void add(const std::vector<Change>& changes);
    /// Adds the row unless one of its id is there; gives that one then. The pointer holds until the next row.
    Compared* add(MeasuredRow row);

    measure::Refreshed report;

  private:
    [[nodiscard]] std::string origin_of(const std::string& url) const;

    const Facts& facts_;
    Http& http_;
    const IndexRequest& request_;
    std::set<std::string> answered_;  ///< origins
    std::set<std::string> silent_;
};

/// Lists the tags of a repository (a row of image_repositories), reads the configurations of what is new
/// there, and adds their rows.
void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    Gathered& gathered);

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
        return request_.only.empty() || std::ranges::find(request_.only, project) != request_.only.end();
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

namespace {

std::string where_of(const MeasuredRow& row) {
    const auto* source = row.cell("source");
    return source == nullptr ? std::string()
                             : source->values.front().substr(0, source->values.front().find(' '));
}

// What the images of a release demand (NVIDIA_REQUIRE_CUDA) is one row of several groups. Where two of them
// disagree no row can hold both.
void add_row(MeasuredRow row, const Facts& facts, Gathered& gathered) {
    const auto* first = gathered.add(row);
    if (first == nullptr) return;
    const auto second = compare(std::move(row), facts).row;
    for (const auto& column : differing_columns(first->row, second)) {
        gathered.report.left_out.push_back(fmt::format("row '{}': {} in {}, kept is {} of {}", second.id,
                                                       shown(second, column), where_of(second),
                                                       shown(first->row, column), where_of(first->row)));
    }
}

}  // namespace

bool Gathered::given_up(const std::string& url, const std::string& what) {
    if (silent_.count(origin_of(url)) == 0) return false;
    report.not_reached.push_back({what, fmt::format("{} did not answer before", url::shown(url))});
    return true;
}

void Gathered::lost(const std::string& url, const std::string& what, const Failure& failure) {
    if (failure.code == ExitCode::environment && answered_.count(origin_of(url)) == 0)
        silent_.insert(origin_of(url));
    report.not_reached.push_back({what, failure.diagnostics.front().message});
}

void Gathered::reached(const std::string& url) {
    answered_.insert(origin_of(url));
    ++report.places;
}

void Gathered::add(const std::vector<Change>& changes) {
    report.changes.insert(report.changes.end(), changes.begin(), changes.end());
}

Compared* Gathered::add(MeasuredRow row) {
    const auto there =
        std::ranges::find_if(report.rows, [&](const Compared& other) { return other.row.id == row.id; });
    if (there != report.rows.end()) return &*there;
    report.rows.push_back(compare(std::move(row), facts_));
    return nullptr;
}

std::string Gathered::origin_of(const std::string& url) const {
    const auto parts = url::parse(mirrored(url, http_.options().mirrors));
    return parts ? parts->origin() : std::string();
}

void refresh_images(const Row& repository, const Facts& facts, Http& http, OciClient& registry,
                    Gathered& gathered) {
    const auto name = std::string(repository.text("repository"));
    const auto reference = parse_image_reference(name);
    const auto place = reference.ok() ? place_of(*reference, http.options().mirrors)
                                      : Result<ImagePlace>(reference.failure());
    if (!place.ok()) return gathered.lost(name, name, place.failure());
    const auto origin = place->origin();
    if (gathered.given_up(origin, name)) return;
    gathered.log(name);
    const auto tags = registry.tags(*reference);
    if (!tags.ok()) return gathered.lost(origin, name, tags.failure());
    gathered.reached(origin);
    const auto news = image_news(*tags, repository, facts);
    gathered.add(news.changes);
    for (const auto& group : news.groups) {
        if (gathered.stopped()) return;
        auto tagged = *reference;
        tagged.tag = group.read;
        gathered.log(tagged.text());
        const auto image = see_image(registry, tagged);
        auto rows = image.ok() ? image_rows(group, repository, *image, facts)
                               : Result<std::vector<MeasuredRow>>(image.failure());
        if (!rows.ok()) {
            gathered.report.not_measured.push_back(rows.failure().diagnostics.front().message);
            continue;
        }
        for (auto& row : *rows)
            add_row(std::move(row), facts, gathered);
    }
}

}  // namespace cudamatrix::measure
