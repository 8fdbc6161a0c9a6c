// Which files of an index belong together, and which of them is opened.
#include "look/measure/rows.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/store.hpp"

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
    const auto found = std::ranges::find_if(release.wheels, [&](const IndexFile& wheel) {
        return sources.count(fmt::format("wheel:{} sha256:{}", wheel.name, wheel.sha256)) != 0;
    });
    return found == release.wheels.end() ? nullptr : &*found;
}

// CPython with a lock beats free-threaded, x86_64 beats aarch64, then the newest python.
const IndexFile& newest_file(const Release& release) {
    const auto rank = [](const IndexFile& file) {
        const auto pythons = pythons_of({file});
        const auto name = parse_wheel_name(file.name);
        const auto digits = pythons.empty() ? "" : without_suffix(pythons.back());
        const auto version = pep440::Version::parse(digits.empty() ? "0" : digits);
        const bool threaded = !pythons.empty() && pythons.back().ends_with('t');
        return std::tuple(!threaded, name && linux_arch(*name) != "aarch64", version ? version->part(1) : 0);
    };
    return *std::ranges::max_element(
        release.wheels, [&](const IndexFile& a, const IndexFile& b) { return rank(a) < rank(b); });
}

void add(std::vector<Release>& releases, const std::string& version, const std::string& arch,
         const IndexFile& file) {
    auto found = std::ranges::find_if(
        releases, [&](const Release& release) { return release.version == version && release.arch == arch; });
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
        release.chosen = known != nullptr ? *known : newest_file(release);
    }
    std::ranges::sort(releases, [](const Release& a, const Release& b) {
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
        if (std::ranges::find(arches, arch) == arches.end()) continue;
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

namespace {

// "312" of "cp312"; nothing for python 2, PyPy and py3.
std::optional<std::string> cpython_digits(std::string_view tag) {
    if (!tag.starts_with("cp3") || tag.size() < 4) return std::nullopt;
    const auto digits = tag.substr(2);
    const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    return all ? std::optional(std::string(digits)) : std::nullopt;
}

bool is_free_threaded(const WheelName& name) {
    return std::ranges::any_of(
        name.abis, [](const std::string& abi) { return abi.starts_with("cp") && abi.ends_with("t"); });
}

constexpr std::string_view kSystems[] = {"linux", "macos", "musl", "windows"};

// Of 64-bit x86 and ARM, which are what torch has wheels for.
bool is_for(const WheelName& name, std::string_view system) {
    return std::ranges::any_of(name.platforms, [&](const std::string& platform) {
        if (platform == "any") return true;
        if (system == "macos") return platform.starts_with("macosx");
        if (system == "windows") return platform == "win_amd64" || platform == "win_arm64";
        if (!platform.ends_with("x86_64") && !platform.ends_with("aarch64")) return false;
        if (system == "musl") return platform.starts_with("musllinux");
        return platform.starts_with("manylinux") || platform.starts_with("linux");
    });
}

// "py3", "cp312", "cp313t", "cp39-abi3".
void add_tags(const WheelName& name, std::vector<std::string>& out) {
    const bool stable = std::ranges::find(name.abis, "abi3") != name.abis.end();
    for (const auto& tag : name.pythons) {
        if (tag.starts_with("py3")) out.push_back(tag);
        if (const auto digits = cpython_digits(tag))
            out.push_back(tag + (stable ? "-abi3" : is_free_threaded(name) ? "t" : ""));
    }
}

void sort_unique(std::vector<std::string>& values) {
    std::ranges::sort(values,
                      [](const std::string& a, const std::string& b) { return facts::natural_less(a, b); });
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::string linux_arch(const WheelName& name) {
    for (const auto& platform : name.platforms) {
        if (platform == "any") return "any";
        if (!platform.starts_with("manylinux") && !platform.starts_with("linux")) continue;
        for (const std::string_view arch : {"x86_64", "aarch64"}) {
            if (platform.ends_with(arch)) return std::string(arch);
        }
    }
    return {};
}

std::vector<std::string> pythons_of(const std::vector<IndexFile>& wheels) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        const auto name = parse_wheel_name(wheel.name);
        if (!name) continue;
        for (const auto& tag : name->pythons) {
            if (const auto digits = cpython_digits(tag))
                out.push_back("3." + digits->substr(1) + (is_free_threaded(*name) ? "t" : ""));
        }
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> abis_of(const std::vector<IndexFile>& wheels, std::string_view arch) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        const auto name = parse_wheel_name(wheel.name);
        if (!name) continue;
        const auto own = linux_arch(*name);
        if (own != arch && own != "any") continue;
        add_tags(*name, out);
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> abis_on(const std::vector<IndexFile>& wheels, std::string_view system) {
    std::vector<std::string> out;
    for (const auto& wheel : wheels) {
        if (const auto name = parse_wheel_name(wheel.name); name && is_for(*name, system))
            add_tags(*name, out);
    }
    sort_unique(out);
    return out;
}

std::vector<std::string> systems_of(const std::vector<IndexFile>& wheels) {
    std::vector<std::string> out;
    // What CPython 3 does not take is no wheel.
    for (const auto system : kSystems) {
        if (!abis_on(wheels, system).empty()) out.emplace_back(system);
    }
    return out;
}

std::string glibc_of(std::string_view file, const Facts& facts) {
    const auto name = parse_wheel_name(file);
    if (!name) return {};
    std::vector<std::string> floors;
    for (const auto& platform : name->platforms) {
        for (const auto& row : facts.rows("manylinux_tags")) {
            if (row.text("kept") == "true" && platform.starts_with(fmt::format("{}_", row.text("tag"))))
                floors.emplace_back(row.text("glibc"));
        }
        if (platform.starts_with("manylinux_")) {
            const auto parts = text::split(platform, '_');
            if (parts.size() > 3) floors.push_back(parts[1] + "." + parts[2]);
        }
    }
    sort_unique(floors);
    return floors.empty() ? "" : floors.front();
}

std::string without_suffix(std::string_view python) {
    while (!python.empty() && (python.back() < '0' || python.back() > '9'))
        python.remove_suffix(1);
    return std::string(python);
}

}  // namespace cudamatrix::measure
