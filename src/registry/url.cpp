#include "registry/http.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace cudamatrix::url {
namespace {

// "/a/./b/../c" as "/a/c" (RFC 3986, 5.2.4); `path` has no query.
std::string without_dots(std::string_view path) {
    std::vector<std::string> kept;
    auto steps = text::split(path.substr(1), '/');
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool last = i + 1 == steps.size();
        if (steps[i] == "." || steps[i] == "..") {
            if (steps[i] == ".." && !kept.empty()) kept.pop_back();
            if (last) kept.emplace_back();
        } else {
            kept.push_back(std::move(steps[i]));
        }
    }
    return "/" + text::join(kept, "/");
}

}  // namespace

std::optional<Parts> parse(std::string_view text) {
    const auto bad = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '\\'; };
    if (std::any_of(text.begin(), text.end(), bad)) return std::nullopt;
    const auto colon = text.find("://");
    if (colon == std::string_view::npos) return std::nullopt;
    Parts parts;
    parts.scheme = text::lower(text.substr(0, colon));
    if (parts.scheme != "http" && parts.scheme != "https") return std::nullopt;
    auto rest = text.substr(colon + 3);
    const auto hash = rest.find('#');
    if (hash != std::string_view::npos) parts.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
    const auto slash = rest.find_first_of("/?");
    auto authority = rest.substr(0, slash);
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        parts.user_info = authority.substr(0, at);
        authority.remove_prefix(at + 1);
    }
    if (authority.empty() || authority.front() == ':') return std::nullopt;
    parts.authority = text::lower(authority);
    parts.path = slash == std::string_view::npos ? "" : std::string(rest.substr(slash));
    if (!parts.path.starts_with('/')) parts.path.insert(0, 1, '/');
    return parts;
}

std::optional<std::string> join(std::string_view base, std::string_view reference) {
    if (parse(reference)) return std::string(reference);
    const auto from = parse(base);
    // A colon in the first part of the path would be another scheme (file:, data:).
    if (!from || reference.substr(0, reference.find_first_of("/?#")).find(':') != std::string_view::npos)
        return std::nullopt;
    const auto user = from->user_info.empty() ? "" : from->user_info + "@";
    if (reference.starts_with("//")) {
        auto text = from->scheme + ":" + std::string(reference);
        return parse(text) ? std::optional(text) : std::nullopt;
    }
    const auto tail_at = std::min(reference.find_first_of("?#"), reference.size());
    const auto path = reference.substr(0, tail_at);
    const auto base_path = std::string_view(from->path).substr(0, from->path.find('?'));
    std::string whole(path);
    if (path.empty()) {
        whole = base_path;
    } else if (!path.starts_with('/')) {
        whole = std::string(base_path.substr(0, base_path.rfind('/') + 1)) + whole;
    }
    auto text = from->scheme + "://" + user + from->authority + without_dots(whole) +
                std::string(reference.substr(tail_at));
    return parse(text) ? std::optional(text) : std::nullopt;
}

std::string shown(std::string_view text) {
    const auto parts = parse(text);
    if (!parts) return "(no http or https URL)";
    return text::printable(parts->origin() + parts->path.substr(0, parts->path.find('?')));
}

}  // namespace cudamatrix::url
