#include "commands/index_options.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/image_reference.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/value.hpp"
#include "report/formats.hpp"

namespace cudamatrix {
namespace {

Result<Mirrors> mirrors_of(const std::vector<std::string>& texts) {
    Mirrors mirrors;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        const auto from = text.substr(0, equals);
        const auto to = equals == std::string::npos ? std::string() : text.substr(equals + 1);
        const bool urls = url::parse(from) && url::parse(to);
        const bool registries = from.find("://") == std::string::npos && !from.empty() && !to.empty();
        if (!urls && !registries)
            return input_failure(
                "invalid --mirror: expected a pair of URLs or registries",
                "write --mirror https://index.example.org=https://mirror.example.org/python, or --mirror "
                "docker.io=registry.example.org/hub");
        mirrors.emplace_back(from, to);
    }
    return mirrors;
}

void note_packages(const Value& value, const Facts& facts, measure::MeasureRequest& packages) {
    for (const auto& [written, version] : value.items) {
        const auto name = pep440::canonical_name(written);
        if (version == kCompanionVersion || lookup::package_release(facts, name, version)) continue;
        packages.exactly[name].insert(version);
    }
}

void note_image(const Value& value, const Facts& facts, measure::MeasureRequest& images) {
    auto reference = lookup::image_reference(value.text);
    if (reference.pinned || lookup::image_repository(facts, reference.repository)) return;
    if (reference.tag.empty()) reference.tag = "latest";
    if (lookup::other_image(facts, reference)) return;
    const auto text = reference.repository + ":" + reference.tag;
    if (std::ranges::find(images.packages, text) == images.packages.end()) images.packages.push_back(text);
}

// Releases of torch, by how the matrix writes them. 2.9 is the newest 2.9.x, so all of those are looked at.
using TorchRequests = std::map<std::string, measure::MeasureRequest>;

void note_torch(const Value& value, const Facts& facts, TorchRequests& requests) {
    const auto torch = lookup::torch(facts, value.text, "x86_64");
    if (!torch || torch->release) return;
    const auto number = value.text.substr(0, value.text.find('+'));
    auto& request = requests[number];
    request.is_torch = true;
    request.packages = {"torch"};
    if (torch->exact.size() < 3) {
        request.versions = "==" + number + ".*";
    } else {
        // An index of one variant names it in its files, the default index does not.
        request.exactly["torch"].insert({number, value.text});
    }
}

// What the matrix names in any of its cells, and no fact describes.
std::vector<measure::MeasureRequest> missing(const Matrix& matrix, const Facts& facts) {
    measure::MeasureRequest packages, images;
    images.is_image = true;
    TorchRequests torch;
    const auto note = [&](Field field, const Value& value) {
        if (field == Field::packages) note_packages(value, facts, packages);
        if (field == Field::image) note_image(value, facts, images);
        if (field == Field::torch) note_torch(value, facts, torch);
    };
    for (const auto& axis : matrix.axes) {
        for (const auto& row : axis.rows) {
            for (std::size_t i = 0; i < row.size(); ++i)
                note(axis.fields[i], row[i]);
        }
    }
    for (const auto& [field, value] : matrix.set)
        note(field, value);
    for (const auto& cell : matrix.include) {
        for (const auto& [field, value] : cell)
            note(field, value);
    }
    for (const auto& [name, versions] : packages.exactly)
        packages.packages.push_back(name);
    std::vector<measure::MeasureRequest> requests{packages, images};
    for (const auto& [number, request] : torch)
        requests.push_back(request);
    return requests;
}

// The folder of --facts, and where what is seen is kept.
struct Folders {
    std::string overlay;
    std::filesystem::path store;
};

void say(const std::string& message, const World& world) {
    fmt::print(stderr, "{}", render(Diagnostic::warning("--look: " + message), {}, world.colour_err));
}

// Measures what each request asks for; what cannot be found out is said on stderr.
Status look_for(std::vector<measure::MeasureRequest> requests, const Mirrors& mirrors, const Folders& folders,
                const Facts& facts, const World& world) {
    HttpOptions settings;
    settings.environment = world.environment;
    settings.mirrors = mirrors;
    settings.cancellation = world.cancellation;
    CM_TRY_ASSIGN(auto http, Http::open(std::move(settings)));
    for (auto& request : requests) {
        if (request.packages.empty()) continue;
        request.out = folders.store.string();
        request.facts = folders.overlay;
        CM_TRY(complete(request, world));
        const auto measured = measure::measure(request, facts, *http);
        if (!measured.ok()) {
            if (measured.failure().code == ExitCode::interrupted) return measured.failure();
            say(measured.failure().diagnostics.front().message, world);
            continue;
        }
        for (const auto& lost : measured->not_measured)
            say(lost, world);
        for (const auto& row : measured->left_out)
            say("left out: " + row, world);
    }
    return Done{};
}

}  // namespace

Result<std::filesystem::path> own_store(const World& world) {
    if (const auto cache = value_of(world.environment, {"XDG_CACHE_HOME"}); !cache.empty())
        return std::filesystem::path(cache) / "cudamatrix" / "facts";
    if (const auto home = value_of(world.environment, {"HOME"}); !home.empty())
        return std::filesystem::path(home) / ".cache" / "cudamatrix" / "facts";
    return environment_failure("--look has no place for what it sees: HOME is not set",
                               "set HOME or XDG_CACHE_HOME");
}

Result<Facts> facts_with_store(const std::string& overlay, const std::filesystem::path& store,
                               const World& world) {
    std::vector<std::filesystem::path> folders;
    if (!overlay.empty()) folders.emplace_back(overlay);
    std::error_code error;
    for (std::filesystem::directory_iterator it(store, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() != ".yaml") continue;
        folders.push_back(store);
        break;
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return environment_failure(
            fmt::format("your own facts in {} cannot be read: {}", store.string(), error.message()),
            "make it a folder that you may read, or set XDG_CACHE_HOME to another place");
    }
    if (folders.empty()) return Facts::embedded();
    return Facts::with_overlays(folders, world.today);
}

Status look(const std::string& overlay, const World& world, Loaded& loaded) {
    CM_TRY_ASSIGN(const auto store, own_store(world));
    CM_TRY_ASSIGN(loaded.facts, facts_with_store(overlay, store, world));
    CM_TRY(look_for(missing(loaded.matrix, loaded.facts), loaded.matrix.mirrors, {overlay, store},
                    loaded.facts, world));
    CM_TRY_ASSIGN(loaded.facts, facts_with_store(overlay, store, world));
    return Done{};
}

Status look_for_packages(const std::vector<solve::Need>& needs, const std::string& overlay,
                         const World& world, Facts& facts) {
    CM_TRY_ASSIGN(const auto store, own_store(world));
    CM_TRY_ASSIGN(facts, facts_with_store(overlay, store, world));
    std::vector<measure::MeasureRequest> requests;
    for (const auto& need : needs) {
        const auto known = facts.package_releases(need.package);
        if (std::ranges::any_of(
                known, [&](const PackageRelease& release) { return need.versions.admits(release.version); }))
            continue;
        auto& request = requests.emplace_back();
        request.packages = {need.package};
        request.versions = need.clauses;
    }
    if (requests.empty()) return Done{};
    CM_TRY(look_for(std::move(requests), {}, {overlay, store}, facts, world));
    CM_TRY_ASSIGN(facts, facts_with_store(overlay, store, world));
    return Done{};
}

void add_index_options(const Arguments& app, IndexOptions& options, measure::IndexRequest& request) {
    app.add_option("--index", request.index,
                   "The index (PEP 503 or 691); default: the one that pip would ask")
        .type_name("URL");
    app.add_option("--out", request.out, "Folder for the rows, an overlay for --facts, and for what was seen")
        .type_name("DIR")
        .show_default();
    add_facts_folder(app, request.facts);
    app.add_option("--mirror", options.mirrors,
                   "FROM=TO: URLs that start with FROM, or images of that registry, are asked at TO")
        .type_name("FROM=TO");
    app.add_option(
           "--ca-bundle", options.ca_bundle,
           "PEM file of the site; default: PIP_CERT, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE")
        .type_name("FILE");
    app.add_option("--jobs", request.jobs, "Wheels that are read at once").between(1, 32).show_default();
    add_format(app, options.format, report::names_of(report::measure_formats()));
}

Result<std::unique_ptr<Http>> open_http(const std::vector<std::string>& mirrors, const std::string& ca_bundle,
                                        const World& world) {
    CM_TRY_ASSIGN(auto map, mirrors_of(mirrors));
    HttpOptions settings;
    settings.environment = world.environment;
    settings.ca_bundle = ca_bundle;
    settings.mirrors = std::move(map);
    settings.cancellation = world.cancellation;
    return Http::open(std::move(settings));
}

Status complete(measure::IndexRequest& request, const World& world) {
    request.default_index = request.index.empty();
    if (request.default_index) {
        CM_TRY_ASSIGN(request.index, default_index(world.environment, world.cancellation));
    }
    request.today = world.today;
    request.progress = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
    return Done{};
}

}  // namespace cudamatrix
