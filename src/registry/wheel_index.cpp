#include "registry/wheel_index.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "registry/page_cache.hpp"

namespace cudamatrix {
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
