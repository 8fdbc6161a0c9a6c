// Names of wheels and source distributions.
#include <algorithm>

#include "base/text.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix {
namespace {

bool is_part(std::string_view text, std::string_view further) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               further.find(c) != std::string_view::npos;
    });
}

// "cp312.cp313": one tag or several.
bool split_tags(std::string_view text, std::vector<std::string>& tags) {
    tags = text::split(text, '.');
    return std::all_of(tags.begin(), tags.end(), [](const std::string& tag) { return is_part(tag, "_"); });
}

}  // namespace

std::optional<WheelName> parse_wheel_name(std::string_view file) {
    if (file.size() > 512 || !file.ends_with(".whl")) return std::nullopt;
    const auto parts = text::split(file.substr(0, file.size() - 4), '-');
    if (parts.size() != 5 && parts.size() != 6) return std::nullopt;
    WheelName name;
    name.distribution = parts[0];
    name.version = parts[1];
    if (parts.size() == 6) name.build = parts[2];
    // A build tag starts with a digit, so that it cannot be taken for a python tag.
    if (parts.size() == 6 &&
        (!is_part(name.build, "_.") || name.build.front() < '0' || name.build.front() > '9')) {
        return std::nullopt;
    }
    const auto tags = parts.size() - 3;
    if (!is_part(name.distribution, "_.") || !is_part(name.version, "_.+!") ||
        !split_tags(parts[tags], name.pythons) || !split_tags(parts[tags + 1], name.abis) ||
        !split_tags(parts[tags + 2], name.platforms)) {
        return std::nullopt;
    }
    return name;
}

std::string normalised_project(std::string_view name) {
    std::string out;
    for (const char c : text::lower(name)) {
        const bool separator = c == '-' || c == '_' || c == '.';
        if (!separator) {
            out += c;
        } else if (!out.ends_with('-')) {
            out += '-';
        }
    }
    return out;
}

std::optional<std::string> sdist_version(std::string_view file, std::string_view project) {
    for (const std::string_view ending : {".tar.gz", ".zip", ".tar.bz2"}) {
        if (!file.ends_with(ending)) continue;
        const auto stem = file.substr(0, file.size() - ending.size());
        // Older names keep the '-' of the project's name: the version starts after the one that leaves the
        // name.
        for (auto dash = stem.find('-'); dash != std::string_view::npos; dash = stem.find('-', dash + 1)) {
            const auto version = stem.substr(dash + 1);
            if (normalised_project(stem.substr(0, dash)) == normalised_project(project) &&
                is_part(version, "_.+!-"))
                return std::string(version);
        }
    }
    return std::nullopt;
}

}  // namespace cudamatrix
