#include "render/templates/context.hpp"

#include <algorithm>

#include "base/image_reference.hpp"
#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kLongest = 128;

using text::is_digit;
using text::is_lower;
using text::is_upper;

bool made_of(std::string_view text, std::string_view extra, bool upper) {
    return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), [&](char c) {
        return is_digit(c) || is_lower(c) || (upper && is_upper(c)) ||
               extra.find(c) != std::string_view::npos;
    });
}

bool starts_alphanumeric(std::string_view text) {
    return is_digit(text.front()) || is_lower(text.front()) || is_upper(text.front());
}

}  // namespace

bool is_apt_package(std::string_view text) {
    return made_of(text, "+.-", false) && (is_digit(text.front()) || is_lower(text.front()));
}

bool is_apt_version(std::string_view text) {
    return made_of(text, ".+:~-", true) && starts_alphanumeric(text);
}

bool is_rpm_package(std::string_view text) {
    return made_of(text, "+._-", true) && starts_alphanumeric(text);
}

bool is_rpm_version(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto rest = text.substr(colon + 1);
    return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_digit) &&
           made_of(rest, "._+~^-", true) && rest.find('-') != std::string_view::npos;
}

bool is_wheel_name(std::string_view text) {
    return made_of(text, "-", false) && text.front() != '-' && text.back() != '-' &&
           text.find("--") == std::string_view::npos;
}

bool is_wheel_version(std::string_view text) {
    return made_of(text, ".+!", false) && is_digit(text.front());
}

bool is_wheel_url(std::string_view text) {
    constexpr std::size_t kLongestUrl = 1024;
    const auto scheme = text.find("://");
    if (text.size() > kLongestUrl || scheme == std::string_view::npos) return false;
    if (text.substr(0, scheme) != "https" && text.substr(0, scheme) != "http") return false;
    const auto rest = text.substr(scheme + 3);
    const auto slash = rest.find('/');
    const auto legal = [](std::string_view extra) {
        return [extra](char c) {
            return is_digit(c) || is_lower(c) || is_upper(c) || extra.find(c) != std::string_view::npos;
        };
    };
    if (slash == 0 || slash == std::string_view::npos) return false;
    const auto host = rest.substr(0, slash);
    const auto path = rest.substr(slash);
    return std::all_of(host.begin(), host.end(), legal(".-:[]")) &&
           std::all_of(path.begin(), path.end(), legal("/._~+!%@=,-")) && path.ends_with(".whl");
}

bool is_tag_reference(std::string_view text) {
    const auto reference = parse_image_reference(text);
    return reference.ok() && !reference->tag.empty() && reference->digest.empty() &&
           reference->text() == text;
}

}  // namespace cudamatrix
