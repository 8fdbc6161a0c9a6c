#include "look/scan/library.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "fatbin/container.hpp"
#include "fatbin/object_files.hpp"

namespace cudamatrix::scan {
namespace {

using Key = std::tuple<bool, int, std::uint16_t, fatbin::Arch, int, int>;

Key key_of(const Target& target) {
    return {!target.kernels, static_cast<int>(target.kind), target.raw_kind, target.arch, target.isa.major,
            target.isa.minor};
}

void add_section(std::vector<std::string>& sections, std::string_view name) {
    if (name.empty() || (!sections.empty() && sections.back() == name)) return;
    if (std::ranges::find(sections, name) == sections.end()) sections.emplace_back(name);
}

// Of one entry.
Target target_of(const fatbin::Entry& entry, bool kernels) {
    return {entry.kind,    entry.raw_kind,
            entry.arch,    entry.isa,
            kernels,       1,
            entry.payload, entry.compressed ? 1U : 0U};
}

void add(std::map<Key, Target>& targets, const Target& more) {
    const auto [found, is_new] = targets.try_emplace(key_of(more), more);
    if (is_new) return;
    found->second.entries += more.entries;
    found->second.bytes += more.bytes;
    found->second.compressed += more.compressed;
}

}  // namespace

std::vector<std::string> Library::architectures(fatbin::Kind kind) const {
    std::set<fatbin::Arch> archs;
    for (const auto& target : targets) {
        if (target.kind == kind && target.kernels) archs.insert(target.arch);
    }
    std::vector<std::string> out;
    for (const auto& arch : archs)
        out.push_back(fatbin::to_text(arch));
    return out;
}

bool Library::has_kernels() const {
    return std::ranges::any_of(targets, [](const Target& target) { return target.kernels; });
}

Library summarise(std::string path, std::uint64_t size, const fatbin::Contents& contents,
                  const std::vector<bool>& with_code) {
    Library library;
    library.path = std::move(path);
    library.size = size;
    library.entries = contents.entries.size();
    library.containers = contents.containers;
    library.hidden_containers = contents.hidden;
    library.members = contents.members;
    library.members_with_code = contents.members_with_code;
    library.error = contents.error;
    library.containers_without_kernels = static_cast<std::uint64_t>(std::ranges::count(with_code, false));

    library.offer = fatbin::offer_of(contents, with_code);
    std::map<Key, Target> targets;
    for (const fatbin::Entry& entry : contents.entries) {
        // Entries before a fault belong to no whole container: what they are is known, what they lack is not.
        const bool kernels = entry.container >= with_code.size() || with_code[entry.container];
        add(targets, target_of(entry, kernels));
        library.bytes += entry.payload;
        add_section(library.sections, entry.section);
    }
    for (const auto& [key, target] : targets)
        library.targets.push_back(target);
    return library;
}

void add(Library& into, const Library& member) {
    into.entries += member.entries;
    into.bytes += member.bytes;
    into.containers += member.containers;
    into.containers_without_kernels += member.containers_without_kernels;
    into.hidden_containers += member.hidden_containers;
    for (const std::string& section : member.sections)
        add_section(into.sections, section);
    into.offer.loaded.insert(member.offer.loaded.begin(), member.offer.loaded.end());
    for (const auto& [code, count] : member.offer.parts) {
        if (!code.empty()) into.offer.parts[code] += count;  // link-time code: as in fatbin::offer_of
    }
    std::map<Key, Target> targets;
    for (const Target& target : into.targets)
        add(targets, target);
    for (const Target& target : member.targets)
        add(targets, target);
    into.targets.clear();
    for (const auto& [key, target] : targets)
        into.targets.push_back(target);
}

Library read_library(std::string path, fatbin::Bytes file, const Depth& depth) {
    const auto read = [&](bool everywhere) {
        const fatbin::Contents contents = everywhere ? fatbin::read_deep(file) : fatbin::read(file);
        auto library = summarise(path, file.size, contents, fatbin::containers_with_code(contents));
        library.searched = everywhere;
        return library;
    };
    auto library = read(depth.everywhere);
    return !depth.everywhere && depth.look_again && depth.look_again(library) ? read(true) : library;
}

bool may_hold_code(fatbin::Bytes beginning) {
    return fatbin::looks_like_elf(beginning) || fatbin::looks_like_archive(beginning) ||
           (beginning.size >= 4 && beginning.number<std::uint32_t>(0) == fatbin::kContainerMagic);
}

}  // namespace cudamatrix::scan
