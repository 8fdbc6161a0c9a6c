// What differs between two locks, in lines for a person.
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "render/lock/lock_file.hpp"

namespace cudamatrix {
namespace {

using Flat = std::map<std::string, std::string>;

// "g++-11" -> "11.3.0-11": one entry for each thing that is pinned.
Flat flat(const ImagePins* pins) {
    Flat out;
    if (pins == nullptr) return out;
    for (const auto& [name, member, wanted] : kAptLists) {
        for (const auto& [package, version] : pins->*member)
            out[package] = version;
    }
    for (const auto& [name, member, wanted] : kWheelLists) {
        for (const auto& wheel : pins->*member)
            out["wheel " + wheel.name] = fmt::format("{} ({})", wheel.version, wheel.sha256.substr(0, 12));
    }
    return out;
}

Flat flat(const BasePins* base) {
    Flat out;
    if (base == nullptr) return out;
    out["bootstrap tar"] = base->sha256.substr(0, 12);
    for (const auto& [package, version] : base->packages)
        out[package] = version;
    return out;
}

Flat flat(const RegistryBase* base) {
    return base == nullptr ? Flat{} : Flat{{"digest", base->digest}};
}

void compare(const std::string& what, const Flat& before, const Flat& after,
             std::vector<std::string>& lines) {
    if (before.empty() && !after.empty()) {
        const auto digest = after.find("digest");
        lines.push_back(digest == after.end()
                            ? fmt::format("{}: {} pinned", what, text::count(after.size(), "package"))
                            : fmt::format("{}: {} pinned", what, digest->second));
        return;
    }
    for (const auto& [name, version] : after) {
        const auto old = before.find(name);
        if (old == before.end()) lines.push_back(fmt::format("{}: {} {} is new", what, name, version));
        if (old != before.end() && old->second != version)
            lines.push_back(fmt::format("{}: {} {} -> {}", what, name, old->second, version));
    }
    for (const auto& [name, version] : before) {
        if (after.count(name) == 0) lines.push_back(fmt::format("{}: {} {} is gone", what, name, version));
    }
}

template <class Pins>
void compare_all(const std::map<std::string, Pins, std::less<>>& before,
                 const std::map<std::string, Pins, std::less<>>& after, std::vector<std::string>& lines) {
    const auto at = [](const auto& map, const std::string& key) {
        const auto found = map.find(key);
        return found == map.end() ? nullptr : &found->second;
    };
    for (const auto& [key, pins] : after)
        compare(key, flat(at(before, key)), flat(&pins), lines);
    for (const auto& [key, pins] : before) {
        if (at(after, key) == nullptr) lines.push_back(fmt::format("{}: no longer pinned", key));
    }
}

// A condition of nvidia/cuda's has up to two thousand characters.
std::string shortened(const std::string& text) {
    constexpr std::size_t longest = 60;
    if (text.empty()) return "none";
    return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

// The digest of a base is said where it is pinned.
void compare_configurations(const Lock& before, const Lock& after, std::vector<std::string>& lines) {
    for (const auto& [name, image] : after.configurations) {
        const bool is_base = after.references.contains(name);
        const auto* old = before.configuration(name);
        if (old == nullptr) {
            if (!is_base || before.references.contains(name))
                lines.push_back(fmt::format("{}: configuration of {} recorded", name, image.digest));
            continue;
        }
        const auto say = [&lines, &key = name](std::string_view what, const std::string& from,
                                               const std::string& to) {
            if (from != to)
                lines.push_back(fmt::format("{}: {} {} -> {}", key, what, shortened(from), shortened(to)));
        };
        if (!is_base && old->digest != image.digest)
            lines.push_back(fmt::format("{}: digest {} -> {}", name, old->digest, image.digest));
        say("architectures", text::join(old->arches, ", "), text::join(image.arches, ", "));
        say("CUDA", old->cuda, image.cuda);
        say("requirement", old->condition, image.condition);
        say("requirement on aarch64", old->condition_aarch64, image.condition_aarch64);
    }
    for (const auto& [name, image] : before.configurations) {
        if (!after.configurations.contains(name))
            lines.push_back(fmt::format("{}: configuration no longer recorded", name));
    }
}

void compare_snapshots(const Lock& before, const Lock& after, std::vector<std::string>& lines) {
    for (const auto& [archive, time] : after.snapshots) {
        const auto old = before.snapshots.find(archive);
        if (old == before.snapshots.end()) {
            lines.push_back(fmt::format("{}: snapshot {} pinned", archive, time));
        } else if (old->second != time) {
            lines.push_back(fmt::format("{}: snapshot {} -> {}", archive, old->second, time));
        }
    }
    for (const auto& [archive, time] : before.snapshots) {
        if (!after.snapshots.contains(archive))
            lines.push_back(fmt::format("{}: snapshot {} is gone: the live archive", archive, time));
    }
}

// One line for all cells: `check --against-lock` has one for each.
void compare_verdicts(const Lock& before, const Lock& after, std::vector<std::string>& lines) {
    if (before.verdicts == after.verdicts) return;
    if (!after.verdicts) {
        lines.emplace_back("verdicts: no longer recorded");
        return;
    }
    if (!before.verdicts) {
        lines.push_back(fmt::format("verdicts: {} recorded", text::count(after.verdicts->size(), "cell")));
        return;
    }
    std::size_t kept = 0;
    std::size_t moved = 0;
    std::size_t reasons = 0;
    for (const auto& [cell, now] : *after.verdicts) {
        const auto old = before.verdicts->find(cell);
        if (old == before.verdicts->end()) continue;
        ++kept;
        if (old->second.verdict != now.verdict) {
            ++moved;
        } else if (old->second.rules != now.rules) {
            ++reasons;
        }
    }
    std::vector<std::string> parts;
    const auto say = [&](std::size_t count, std::string_view what) {
        if (count != 0) parts.push_back(fmt::format("{} {}", text::count(count, "cell"), what));
    };
    say(moved, "moved");
    say(reasons, "decided by other rules");
    say(after.verdicts->size() - kept, "new");
    say(before.verdicts->size() - kept, "gone");
    lines.push_back("verdicts: " + text::join(parts, ", "));
}

}  // namespace

std::vector<std::string> lock_changes(const Lock& before, const Lock& after) {
    std::vector<std::string> lines;
    compare_all(before.bases, after.bases, lines);
    compare_all(before.references, after.references, lines);
    compare_all(before.images, after.images, lines);
    compare_configurations(before, after, lines);
    compare_snapshots(before, after, lines);
    compare_verdicts(before, after, lines);
    std::ranges::sort(lines);
    return lines;
}

}  // namespace cudamatrix
