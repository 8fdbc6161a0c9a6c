#include "base/mirrors.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {

namespace {

std::string_view without_slashes(std::string_view prefix) {
    while (prefix.ends_with('/'))
        prefix.remove_suffix(1);
    return prefix;
}

}  // namespace

std::string mirrored(std::string_view text, const Mirrors& mirrors) {
    const std::pair<std::string, std::string>* best = nullptr;
    for (const auto& mirror : mirrors) {
        const auto prefix = without_slashes(mirror.first);
        if (prefix.empty() || !text.starts_with(prefix)) continue;
        const auto rest = text.substr(prefix.size());
        if (!rest.empty() && rest.find_first_of("/?#") != 0) continue;
        if (best == nullptr || best->first.size() < mirror.first.size()) best = &mirror;
    }
    if (best == nullptr) return std::string(text);
    return fmt::format("{}{}", without_slashes(best->second),
                       text.substr(without_slashes(best->first).size()));
}

std::string mirror_of(const Mirrors& mirrors, std::string_view name) {
    const auto found =
        std::find_if(mirrors.begin(), mirrors.end(), [&](const auto& entry) { return entry.first == name; });
    return found == mirrors.end() ? std::string() : found->second;
}

}  // namespace cudamatrix
