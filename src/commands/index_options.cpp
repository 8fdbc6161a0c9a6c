#include "commands/index_options.hpp"

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "commands/common.hpp"
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

}  // namespace

void add_connection(const Arguments& app, std::vector<std::string>& mirrors, std::string& ca_bundle) {
    app.add_option("--mirror", mirrors,
                   "FROM=TO: URLs that start with FROM, or images of that registry, are asked at TO")
        .type_name("FROM=TO");
    app.add_option(
           "--ca-bundle", ca_bundle,
           "PEM file of the site; default: PIP_CERT, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE")
        .type_name("FILE");
}

void add_index_options(const Arguments& app, IndexOptions& options, measure::IndexRequest& request) {
    app.add_option("--index", request.index,
                   "The index (PEP 503 or 691); default: the one that pip would ask")
        .type_name("URL");
    app.add_option("--out", request.out, "Folder for the rows, an overlay for --facts, and for what was seen")
        .type_name("DIR")
        .show_default();
    add_facts_folder(app, request.facts);
    add_connection(app, options.mirrors, options.ca_bundle);
    app.add_option("--jobs", request.jobs, "Wheels that are read at once").between(1, 32).show_default();
    add_format(app, options.format, report::names_of(report::measure_formats()));
}

Result<HttpOptions> http_options(const std::vector<std::string>& mirrors, const std::string& ca_bundle,
                                 const World& world) {
    CM_TRY_ASSIGN(auto map, mirrors_of(mirrors));
    HttpOptions settings;
    settings.environment = world.environment;
    settings.ca_bundle = ca_bundle;
    settings.mirrors = std::move(map);
    settings.cancellation = world.cancellation;
    return settings;
}

Result<std::unique_ptr<Http>> open_http(const std::vector<std::string>& mirrors, const std::string& ca_bundle,
                                        const World& world) {
    CM_TRY_ASSIGN(auto settings, http_options(mirrors, ca_bundle, world));
    return Http::open(std::move(settings));
}

Status complete(measure::IndexRequest& request, const World& world) {
    request.default_index = request.index.empty();
    if (request.default_index) {
        CM_TRY_ASSIGN(request.index, default_index(world.environment, world.cancellation));
    }
    request.today = world.today;
    request.progress = [](std::string_view line) { tell(fmt::format("{}\n", line)); };
    return Done{};
}

}  // namespace cudamatrix
