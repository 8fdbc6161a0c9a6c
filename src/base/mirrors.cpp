#include "base/mirrors.hpp"

#include <algorithm>

namespace cudamatrix {

std::string mirrored(std::string_view text, const Mirrors& mirrors) {
    const std::pair<std::string, std::string>* best = nullptr;
    for (const auto& mirror : mirrors) {
        std::string_view prefix = mirror.first;
        while (prefix.ends_with('/'))
            prefix.remove_suffix(1);
        if (prefix.empty() || !text.starts_with(prefix)) continue;
        const auto rest = text.substr(prefix.size());
        if (!rest.empty() && rest.front() != '/' && rest.front() != '?' && rest.front() != '#') continue;
        if (best == nullptr || best->first.size() < mirror.first.size()) best = &mirror;
    }
    if (best == nullptr) return std::string(text);
    std::string_view from = best->first;
    std::string_view to = best->second;
    while (from.ends_with('/'))
        from.remove_suffix(1);
    while (to.ends_with('/'))
        to.remove_suffix(1);
    return std::string(to) + std::string(text.substr(from.size()));
}

std::string mirror_of(const Mirrors& mirrors, std::string_view name) {
    const auto found =
        std::find_if(mirrors.begin(), mirrors.end(), [&](const auto& entry) { return entry.first == name; });
    return found == mirrors.end() ? std::string() : found->second;
}

}  // namespace cudamatrix
