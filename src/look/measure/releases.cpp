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
const IndexFile* known_source(const Release& release, const std::set<std::string_view>& sources) {
    const auto found =
        std::find_if(release.wheels.begin(), release.wheels.end(), [&](const IndexFile& wheel) {
            return sources.count(fmt::format("wheel:{} sha256:{}", wheel.name, wheel.sha256)) != 0;
        });
    return found == release.wheels.end() ? nullptr : &*found;
}

// CPython with a lock beats free-threaded, x86_64 beats aarch64, then the newest python.
const IndexFile& newest(const Release& release) {
    const auto rank = [](const IndexFile& file) {
        const auto pythons = pythons_of({file});
        const auto name = parse_wheel_name(file.name);
        const auto digits = pythons.empty() ? "" : without_suffix(pythons.back());
        const auto version = pep440::Version::parse(digits.empty() ? "0" : digits);
        const bool threaded = !pythons.empty() && pythons.back().ends_with('t');
        return std::tuple(!threaded, name && linux_arch(*name) != "aarch64", version ? version->part(1) : 0);
    };
    return *std::max_element(release.wheels.begin(), release.wheels.end(),
                             [&](const IndexFile& a, const IndexFile& b) { return rank(a) < rank(b); });
}

void add(std::vector<Release>& releases, const std::string& version, const std::string& arch,
         const IndexFile& file) {
    auto found = std::find_if(releases.begin(), releases.end(), [&](const Release& release) {
        return release.version == version && release.arch == arch;
    });
    if (found == releases.end())
        found = releases.insert(releases.end(), Release{version, arch, {}, false, {}, {}});
    const auto name = parse_wheel_name(file.name);
    if (name && linux_arch(*name).empty()) {
        found->elsewhere.push_back(file);
    } else if (name) {
        found->wheels.push_back(file);
    } else {
        found->sdist = true;
    }
}

void choose(std::vector<Release>& releases, const Facts& facts, std::string_view table) {
    const auto sources = known_sources(facts, table);
    for (auto& release : releases) {
        if (release.wheels.empty()) continue;
        const auto* known = known_source(release, sources);
        release.chosen = known != nullptr ? *known : newest(release);
    }
    std::sort(releases.begin(), releases.end(), [](const Release& a, const Release& b) {
        const auto first = pep440::Version::parse(a.version);
        const auto second = pep440::Version::parse(b.version);
        if (first && second && !(*first == *second)) return *first < *second;
        return std::tie(a.version, a.arch) < std::tie(b.version, b.arch);
    });
}

}  // namespace

std::vector<Release> torch_releases(const std::vector<IndexFile>& files,
                                    const std::vector<std::string>& arches, const Facts& facts) {
    std::vector<Release> releases;
    for (const auto& file : files) {
        const auto name = parse_wheel_name(file.name);
        if (!name || text::normalised_project(name->distribution) != "torch") continue;
        const auto arch = linux_arch(*name);
        if (std::find(arches.begin(), arches.end(), arch) == arches.end()) continue;
        if (pep440::Version::parse(name->version)) add(releases, name->version, arch, file);
    }
    choose(releases, facts, "torch_wheels");
    return releases;
}

std::vector<Release> package_releases(const std::vector<IndexFile>& files, std::string_view package,
                                      const Facts& facts) {
    std::vector<Release> releases;
    for (const auto& file : files) {
        const auto name = parse_wheel_name(file.name);
        if (name && text::normalised_project(name->distribution) == package &&
            pep440::Version::parse(name->version)) {
            add(releases, name->version, "", file);
        }
        if (const auto version = sdist_version(file.name, package);
            version && pep440::Version::parse(*version))
            add(releases, *version, "", file);
    }
    choose(releases, facts, "package_releases");
    return releases;
}

}  // namespace cudamatrix::measure
