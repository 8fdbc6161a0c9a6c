#include "registry/wheel_index.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "registry/http.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kLargestIndexPage = 64U << 20;
constexpr std::uint64_t kLargestHead = 1U << 16;

// What was kept, where it is whole and was kept for the same request.
std::optional<HttpResponse> kept(const std::filesystem::path& head, const std::filesystem::path& body,
                                 const std::string& asked, const HttpRequest& request) {
    std::error_code error;
    if (!std::filesystem::exists(head, error) || !std::filesystem::exists(body, error)) return std::nullopt;
    const auto text = file::read(head, kLargestHead);
    auto bytes = file::read(body, kLargestIndexPage);
    if (!text.ok() || !bytes.ok()) return std::nullopt;
    const auto json = parse_json(*text, head.string());
    if (!json.ok() || !json->is_object() || string_or(*json, "asked") != asked ||
        string_or(*json, "accept") != request.accept || string_or(*json, "etag").empty() ||
        string_or(*json, "sha256") != sha256(*bytes))
        return std::nullopt;
    HttpResponse response;
    response.status = 200;
    response.url = string_or(*json, "url");
    response.headers["etag"] = string_or(*json, "etag");
    response.headers["content-type"] = string_or(*json, "content-type");
    response.body = std::move(bytes).value();
    return response;
}

}  // namespace

Result<HttpResponse> PageCache::get(HttpConnection& connection, HttpRequest request) const {
    // Names the page on the disk: user names and passwords are never written, not even into a hash.
    const auto parts = url::parse(request.url);
    const auto asked = parts ? parts->text() : std::string();
    const auto head = folder_ / (sha256(asked) + ".json");
    const auto body = folder_ / (sha256(asked) + ".body");
    auto before = kept(head, body, asked, request);
    if (before) request.etag = before->header("etag");
    auto response = connection.get(request);
    if (!response.ok()) return response;
    if (before && response->status == 304) return std::move(*before);
    const auto etag = response->header("etag");
    if (response->status != 200 || etag.empty() || text::invalid_utf8(etag)) return response;
    CM_TRY(file::make_directories(folder_));
    const Json known{{"asked", asked},
                     {"accept", request.accept},
                     {"url", response->url},
                     {"etag", etag},
                     {"content-type", response->header("content-type")},
                     {"sha256", sha256(response->body)}};
    // The bytes first: a head that came before them would belong to the old ones.
    CM_TRY(file::write(body, response->body));
    CM_TRY(file::write(head, to_text(known)));
    return response;
}

namespace {

constexpr std::string_view kAccept =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";
constexpr std::string_view kNoIndex = "name the index by --index URL or PIP_INDEX_URL";

// What a run of pip prints; nothing where there is no pip, or it fails.
std::optional<std::string> ask_pip(const std::vector<std::string>& arguments, const Environment& environment,
                                   const Cancellation* cancellation) {
    static const std::array<std::vector<std::string>, 3> programs{
        {{"python3", "-m", "pip"}, {"pip"}, {"pip3"}}};
    for (const auto& program : programs) {
        Command command;
        command.argv = program;
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.environment = environment;
        // Its help is wrapped to the terminal, and would break a URL.
        command.environment["COLUMNS"] = "4000";
        command.environment["PIP_NO_COLOR"] = "1";
        command.environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
        command.time_limit = std::chrono::seconds(60);
        const auto outcome = run(command, cancellation);
        if (outcome.ok() && outcome->success()) return outcome->out;
    }
    return std::nullopt;
}

// "download.index-url='https://...'" of `pip config list`; the section of the command beats the global one.
std::string configured(const std::string& listing) {
    for (const std::string_view key : {"download.index-url=", "install.index-url=", "global.index-url="}) {
        for (const auto& line : text::split(listing, '\n')) {
            if (!line.starts_with(key)) continue;
            auto value = std::string_view(line).substr(key.size());
            if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"'))
                value = value.substr(1, value.size() - 2);
            return std::string(text::trim(value));
        }
    }
    return {};
}

// "--index-url <url>  Base URL of the Python Package Index (default https://...)".
std::string own_default(const std::string& help) {
    const auto option = help.find("--index-url");
    if (option == std::string::npos) return {};
    constexpr std::string_view before = "(default ";
    const auto at = help.find(before, option);
    if (at == std::string::npos) return {};
    const auto end = help.find(')', at);
    return end == std::string::npos ? "" : help.substr(at + before.size(), end - at - before.size());
}

bool is_part(std::string_view text, std::string_view further) {
    return !text.empty() && text::only(text, further);
}

// "cp312.cp313": one tag or several.
bool split_tags(std::string_view text, std::vector<std::string>& tags) {
    tags = text::split(text, '.');
    return std::all_of(tags.begin(), tags.end(), [](const std::string& tag) { return is_part(tag, "_"); });
}

}  // namespace

Result<std::vector<IndexFile>> project_files(HttpConnection& connection, std::string_view index,
                                             std::string_view project, const PageCache* cache) {
    while (index.ends_with('/'))
        index.remove_suffix(1);
    const auto address = fmt::format("{}/{}/", index, text::normalised_project(project));
    const HttpRequest request{address, std::string(kAccept), std::nullopt, 64u << 20};
    CM_TRY_ASSIGN(auto response,
                  cache == nullptr ? connection.get(request) : cache->get(connection, request));
    if (response.status == 404)
        return input_failure(fmt::format("{} has no project {}", url::shown(index),
                                         text::printable(text::normalised_project(project))),
                             "check the name, and name the index that has it (--index URL)");
    if (response.status != 200)
        return environment_failure(
            fmt::format("{}: {}", url::shown(address), describe_status(response.status)));
    return parse_project_page(response.body, response.header("content-type"), response.url);
}

Result<std::string> default_index(const Environment& environment, const Cancellation* cancellation) {
    const auto set = environment.find("PIP_INDEX_URL");
    if (set != environment.end() && !set->second.empty()) return set->second;
    const auto listing = ask_pip({"config", "list"}, environment, cancellation);
    if (!listing)
        return environment_failure("there is no pip here that could be asked for its default index",
                                   std::string(kNoIndex));
    if (auto index = configured(*listing); !index.empty()) return index;
    const auto help = ask_pip({"download", "--help"}, environment, cancellation);
    auto index = help ? own_default(*help) : "";
    if (!url::parse(index))
        return environment_failure("pip of this machine does not say which index it asks",
                                   std::string(kNoIndex));
    return index;
}

std::optional<WheelName> parse_wheel_name(std::string_view file) {
    if (file.size() > 512 || !file.ends_with(".whl")) return std::nullopt;
    const auto parts = text::split(file.substr(0, file.size() - 4), '-');
    if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
    WheelName name;
    name.distribution = parts[0];
    name.version = parts[1];
    if (parts.size() == 6) {
        name.build = parts[2];  // starts with a digit, so that it cannot be taken for a python tag
        if (!is_part(name.build, "_.") || !text::is_digit(name.build.front())) return std::nullopt;
    }
    const auto tags = parts.size() - 3;
    if (!is_part(name.distribution, "_.") || !is_part(name.version, "_.+!") ||
        !split_tags(parts[tags], name.pythons) || !split_tags(parts[tags + 1], name.abis) ||
        !split_tags(parts[tags + 2], name.platforms)) {
        return std::nullopt;
    }
    return name;
}

std::optional<std::string> sdist_version(std::string_view file, std::string_view project) {
    for (const std::string_view ending : {".tar.gz", ".zip", ".tar.bz2"}) {
        if (!file.ends_with(ending)) continue;
        const auto stem = file.substr(0, file.size() - ending.size());
        // Older names keep the '-' of the project's name: the version starts after the one that leaves the
        // name.
        for (auto dash = stem.find('-'); dash != std::string_view::npos; dash = stem.find('-', dash + 1)) {
            const auto version = stem.substr(dash + 1);
            if (text::normalised_project(stem.substr(0, dash)) == text::normalised_project(project) &&
                is_part(version, "_.+!-"))
                return std::string(version);
        }
    }
    return std::nullopt;
}

}  // namespace cudamatrix
