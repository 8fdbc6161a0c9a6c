#include "commands/refresh.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/image_reference.hpp"
#include "base/mirrors.hpp"
#include "base/text.hpp"
#include "measure/image_news.hpp"
#include "measure/overlay.hpp"
#include "measure/toolkit.hpp"
#include "registry/inflate.hpp"
#include "registry/oci.hpp"
#include "registry/page_cache.hpp"
#include "registry/url.hpp"

namespace cudamatrix {
namespace {

namespace fs = std::filesystem;

const std::string kToolkit(measure::kToolkitPackage);
constexpr std::size_t kMostArchive = 256U << 20;

// A wheel that was looked for, and whether it stands on the default index.
struct Wanted {
    measure::Task task;
    bool default_index = false;
};

class Refresh {
  public:
    Refresh(const RefreshOptions& options, const World& world, const Facts& facts, Http& http)
        : options_(options),
          world_(world),
          facts_(facts),
          http_(http),
          connection_(http),
          registry_(http),
          cache_(fs::path(options.out) / kPagesFolder) {}

    Status look(const std::string& index) {
        if (asked("torch")) take(index, "torch", "", true);
        if (asked(kToolkit)) take(index, kToolkit, "", false);
        for (const auto& package : measure::known_packages(facts_)) {
            if (asked(package)) take(index, package, "", false);
            if (stopped()) return interrupted();
        }
        for (const auto& row : facts_.rows("wheel_indexes")) {
            const auto name = std::string(row.text("name"));
            if (asked("torch") && row.has("url") && name != "cpu")
                take(std::string(row.text("url")), "torch", name, true);
            if (stopped()) return interrupted();
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
            const bool named = !options_.only.empty() && asked(name);
            if (named || (options_.only.empty() && row.has("family"))) images(name, row);
            if (stopped()) return interrupted();
        }
        return stopped() ? interrupted() : Status(Done{});
    }

    Status measure_all() {
        auto memory = measure::Memory::open(fs::path(options_.out) / kMeasuredFile);
        if (!memory.ok()) return std::move(memory).failure();
        std::vector<measure::Task> tasks;
        for (const auto& each : wanted_)
            tasks.push_back(each.task);
        const auto seen = measure::look_into_all(http_, tasks, **memory, options_.jobs, show_progress);
        if (stopped()) return interrupted();
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (!seen[i].look.ok()) {
                report_.not_measured.push_back(seen[i].look.failure().diagnostics.front().message);
            } else if (auto added = add_rows(wanted_[i], *seen[i].look); !added.ok()) {
                report_.not_measured.push_back(added.failure().diagnostics.front().message);
            }
        }
        std::vector<measure::MeasuredRow> rows;
        for (const auto& each : report_.rows)
            rows.push_back(each.row);
        auto left_out = measure::write_overlay(options_.out, std::move(rows), world_.today, options_.facts);
        if (!left_out.ok()) return std::move(left_out).failure();
        report_.left_out = std::move(left_out).value();
        return Done{};
    }

    [[nodiscard]] Refreshed report() {
        report_.bytes = http_.transferred();
        report_.requests = http_.requests();
        return std::move(report_);
    }

  private:
    [[nodiscard]] bool asked(const std::string& project) const {
        return options_.only.empty() ||
               std::find(options_.only.begin(), options_.only.end(), project) != options_.only.end();
    }
    [[nodiscard]] bool stopped() const {
        return world_.cancellation != nullptr && world_.cancellation->requested();
    }
    [[nodiscard]] static Failure interrupted() {
        return {ExitCode::interrupted, {Diagnostic::error("interrupted")}};
    }

    // A host that has not answered is not asked again in this run: it would be as slow each time.
    [[nodiscard]] bool given_up(const std::string& url, const std::string& what) {
        if (silent_.count(origin_of(url)) == 0) return false;
        report_.not_reached.push_back({what, fmt::format("{} did not answer before", url::shown(url))});
        return true;
    }
    [[nodiscard]] std::string origin_of(const std::string& url) const {
        const auto parts = url::parse(mirrored(url, http_.options().mirrors));
        return parts ? parts->origin() : std::string();
    }
    void lost(const std::string& url, const std::string& what, const Failure& failure) {
        if (failure.code == ExitCode::environment && answered_.count(origin_of(url)) == 0)
            silent_.insert(origin_of(url));
        report_.not_reached.push_back({what, failure.diagnostics.front().message});
    }

    void take(const std::string& index, const std::string& project, const std::string& variant, bool torch) {
        const auto what = variant.empty() ? project : fmt::format("{} ({})", project, variant);
        if (given_up(index, what)) return;
        fmt::print(stderr, "refresh: {}\n", what);
        const auto files = project_files(connection_, index, project, &cache_);
        if (!files.ok()) return lost(index, what, files.failure());
        answered_.insert(origin_of(index));
        ++report_.places;
        auto news = torch                 ? measure::torch_news(*files, variant, facts_)
                    : project == kToolkit ? measure::toolkit_news(*files, facts_)
                                          : measure::package_news(*files, project, facts_);
        report_.changes.insert(report_.changes.end(), news.changes.begin(), news.changes.end());
        for (auto& row : news.rows)
            report_.rows.push_back(measure::compare(std::move(row), facts_));
        for (auto& task : news.tasks)
            wanted_.push_back({std::move(task), variant.empty()});
    }

    void archive(const std::string& os) {
        const auto row = facts_.row("os-" + os);
        const auto suite = row ? std::string(row->text("codename")) : std::string();
        const auto what = fmt::format("archive of {}", os);
        if (options_.archive.empty()) {
            report_.not_reached.push_back({what, "--archive names none"});
            return;
        }
        const auto url =
            fmt::format("{}/dists/{}/non-free/binary-amd64/Packages.gz", options_.archive, suite);
        if (suite.empty() || given_up(url, what)) return;
        fmt::print(stderr, "refresh: {}\n", what);
        HttpRequest request;
        request.url = url;
        request.as_stored = true;
        const auto response = cache_.get(connection_, request);
        if (!response.ok()) return lost(url, what, response.failure());
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
            report_.not_reached.push_back(
                {what, response->status != 200
                           ? fmt::format("{}: {}", url::shown(url), describe_status(response->status))
                           : fmt::format("{} is no list of packages", url::shown(url))});
            return;
        }
        ++report_.places;
        const auto news = measure::archive_news(text, os, facts_);
        report_.changes.insert(report_.changes.end(), news.changes.begin(), news.changes.end());
    }

    void images(const std::string& name, const Row& repository) {
        const auto reference = parse_image_reference(name);
        const auto place = reference.ok() ? place_of(*reference, http_.options().mirrors)
                                          : Result<ImagePlace>(reference.failure());
        if (!place.ok()) return lost(name, name, place.failure());
        const auto origin = place->origin();
        if (given_up(origin, name)) return;
        fmt::print(stderr, "refresh: {}\n", name);
        const auto tags = registry_.tags(*reference);
        if (!tags.ok()) return lost(origin, name, tags.failure());
        answered_.insert(origin_of(origin));
        ++report_.places;
        const auto news = measure::image_news(*tags, repository, facts_);
        report_.changes.insert(report_.changes.end(), news.changes.begin(), news.changes.end());
        for (const auto& group : news.groups) {
            if (stopped()) return;
            auto tagged = *reference;
            tagged.tag = group.read;
            fmt::print(stderr, "refresh: {}\n", tagged.text());
            const auto image = measure::see_image(registry_, tagged);
            auto rows = image.ok() ? measure::image_rows(group, repository, *image, facts_)
                                   : Result<std::vector<measure::MeasuredRow>>(image.failure());
            if (!rows.ok()) {
                report_.not_measured.push_back(rows.failure().diagnostics.front().message);
                continue;
            }
            // What the images of a release demand is one row of several groups.
            for (auto& row : *rows) {
                const bool there =
                    std::any_of(report_.rows.begin(), report_.rows.end(),
                                [&](const measure::Compared& other) { return other.row.id == row.id; });
                if (!there) report_.rows.push_back(measure::compare(std::move(row), facts_));
            }
        }
    }

    Status add_rows(const Wanted& wanted, const measure::Look& look) {
        std::vector<measure::MeasuredRow> rows;
        const bool toolkit = wanted.task.package == kToolkit;
        if (toolkit) {
            const auto release = measure::toolkit_release(look);
            if (!release.ok()) return release.failure();
            rows.push_back(measure::release_row(*release));
        }
        if (wanted.task.torch) {
            auto several = measure::torch_rows(wanted.task.group, look, wanted.default_index, facts_);
            if (!several.ok()) return several.failure();
            rows = std::move(several).value();
        }
        if (!toolkit && (!wanted.task.torch || wanted.default_index)) {
            auto one = measure::package_row(wanted.task.group, look, wanted.task.package);
            if (!one.ok()) return one.failure();
            rows.push_back(std::move(one).value());
        }
        for (auto& row : rows) {
            const auto there =
                std::find_if(report_.rows.begin(), report_.rows.end(),
                             [&](const measure::Compared& other) { return other.row.id == row.id; });
            if (there == report_.rows.end()) {
                report_.rows.push_back(measure::compare(std::move(row), facts_));
            } else if (row.table == "torch_releases") {
                measure::add_variants(there->row, row);
            }
        }
        return Done{};
    }

    const RefreshOptions& options_;
    const World& world_;
    const Facts& facts_;
    Http& http_;
    HttpConnection connection_;
    OciClient registry_;
    PageCache cache_;
    std::set<std::string> answered_;  ///< origins
    std::set<std::string> silent_;
    std::vector<Wanted> wanted_;
    Refreshed report_;
};

}  // namespace

Result<Refreshed> refresh(const RefreshOptions& options, const std::string& index, const Facts& facts,
                          Http& http, const World& world) {
    Refresh job(options, world, facts, http);
    if (auto looked = job.look(index); !looked.ok()) return std::move(looked).failure();
    if (auto measured = job.measure_all(); !measured.ok()) return std::move(measured).failure();
    return job.report();
}

}  // namespace cudamatrix
