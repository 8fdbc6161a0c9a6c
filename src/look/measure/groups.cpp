// Which files of an index belong together, and which of them is opened.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/tags.hpp"

namespace cudamatrix::measure {
namespace {

// Sources of the rows of `table`.
std::set<std::string_view> known_sources(const Facts& facts, std::string_view table) {
    std::set<std::string_view> out;
    const auto* rows = facts.table(table);
    if (rows == nullptr) return out;
    for (const auto& row : rows->rows) {
        const auto sources = row.list("source");
        out.insert(sources.begin(), sources.end());
    }
    return out;
}

// The wheel that a known row was read from, so that measuring again compares like with like.
const IndexFile* known_source(const Group& group, const std::set<std::string_view>& sources) {
    const auto found = std::find_if(group.wheels.begin(), group.wheels.end(), [&](const IndexFile& wheel) {
        return sources.count(fmt::format("wheel:{} sha256:{}", wheel.name, wheel.sha256)) != 0;
    });
    return found == group.wheels.end() ? nullptr : &*found;
}

// CPython with a lock beats free-threaded, x86_64 beats aarch64, then the newest python.
const IndexFile& newest(const Group& group) {
    const auto rank = [](const IndexFile& file) {
        const auto pythons = pythons_of({file});
        const auto name = parse_wheel_name(file.name);
        const auto digits = pythons.empty() ? "" : without_suffix(pythons.back());
        const auto version = pep440::Version::parse(digits.empty() ? "0" : digits);
        const bool threaded = !pythons.empty() && pythons.back().ends_with('t');
        return std::tuple(!threaded, name && linux_arch(*name) != "aarch64", version ? version->part(1) : 0);
    };
    return *std::max_element(group.wheels.begin(), group.wheels.end(),
                             [&](const IndexFile& a, const IndexFile& b) { return rank(a) < rank(b); });
}

void add(std::vector<Group>& groups, const std::string& version, const std::string& arch,
         const IndexFile& file) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
        return group.version == version && group.arch == arch;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{version, arch, {}, false, {}, {}});
    const auto name = parse_wheel_name(file.name);
    if (name && linux_arch(*name).empty()) {
        found->elsewhere.push_back(file);
    } else if (name) {
        found->wheels.push_back(file);
    } else {
        found->sdist = true;
    }
}

void choose(std::vector<Group>& groups, const Facts& facts, std::string_view table) {
    const auto sources = known_sources(facts, table);
    for (auto& group : groups) {
        if (group.wheels.empty()) continue;
        const auto* known = known_source(group, sources);
        group.chosen = known != nullptr ? *known : newest(group);
    }
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        const auto first = pep440::Version::parse(a.version);
        const auto second = pep440::Version::parse(b.version);
        if (first && second && !(*first == *second)) return *first < *second;
        return std::tie(a.version, a.arch) < std::tie(b.version, b.arch);
    });
}

}  // namespace

std::vector<Group> torch_groups(const std::vector<IndexFile>& files, const std::vector<std::string>& arches,
                                const Facts& facts) {
    std::vector<Group> groups;
    for (const auto& file : files) {
        const auto name = parse_wheel_name(file.name);
        if (!name || normalised_project(name->distribution) != "torch") continue;
        const auto arch = linux_arch(*name);
        if (std::find(arches.begin(), arches.end(), arch) == arches.end()) continue;
        if (pep440::Version::parse(name->version)) add(groups, name->version, arch, file);
    }
    choose(groups, facts, "torch_wheels");
    return groups;
}

std::vector<Group> package_groups(const std::vector<IndexFile>& files, std::string_view package,
                                  const Facts& facts) {
    std::vector<Group> groups;
    for (const auto& file : files) {
        const auto name = parse_wheel_name(file.name);
        if (name && normalised_project(name->distribution) == package &&
            pep440::Version::parse(name->version)) {
            add(groups, name->version, "", file);
        }
        if (const auto version = sdist_version(file.name, package);
            version && pep440::Version::parse(*version))
            add(groups, *version, "", file);
    }
    choose(groups, facts, "package_releases");
    return groups;
}

}  // namespace cudamatrix::measure
