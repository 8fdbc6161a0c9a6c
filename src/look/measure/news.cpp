#include "look/measure/news.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/rows.hpp"
#include "look/measure/toolkit.hpp"

namespace cudamatrix::measure {
namespace {

// Releases of one project that the facts have.
struct Known {
    std::string version;
    std::string arch;  ///< empty: whichever
    bool from_wheel = false;
    bool yanked = false;
    std::vector<std::string> sources = {};
    std::vector<std::string> pythons =
        {};  ///< or their tags, as the wheels of the release are for; empty: not known
};

std::vector<std::string> texts(facts::Values list) {
    return {list.begin(), list.end()};
}

bool names_a_wheel(const Row& row) {
    const auto sources = row.list("source");
    return std::ranges::any_of(sources, [](std::string_view source) { return source.starts_with("wheel:"); });
}

bool same(const std::string& a, const std::string& b) {
    const auto first = pep440::Version::parse(a), second = pep440::Version::parse(b);
    return first && second ? *first == *second : a == b;
}

// The release without what follows '+': an index for one variant puts it behind every version.
std::string plain(const std::string& version) {
    return version.substr(0, version.find('+'));
}

std::optional<pep440::Version> newest(const std::vector<Known>& known) {
    std::optional<pep440::Version> out;
    for (const auto& each : known) {
        auto version = pep440::Version::parse(each.version);
        if (version && (!out || *out < *version)) out = std::move(version);
    }
    return out;
}

void add_once(std::vector<Change>& changes, Change change) {
    const bool there = std::ranges::any_of(changes, [&](const Change& other) {
        return other.kind == change.kind && other.project == change.project &&
               other.version == change.version;
    });
    if (!there) changes.push_back(std::move(change));
}

// A wheel by whose hash the facts can be looked up, and that is another one now.
void add_swapped(const Release& release, const Known& known, const std::string& name, News& news) {
    for (const auto& source : known.sources) {
        const auto space = source.find(" sha256:");
        if (!source.starts_with("wheel:") || space == std::string::npos) continue;
        const auto file = source.substr(6, space - 6), sha256 = source.substr(space + 8);
        for (const auto& wheel : release.wheels) {
            if (wheel.name == file && !wheel.sha256.empty() && wheel.sha256 != sha256)
                add_once(news.changes, {Change::Kind::swapped, name, known.version,
                                        fmt::format("{} has the sha256 {}, the facts were read from {}", file,
                                                    wheel.sha256, sha256)});
        }
    }
}

// Whether the author took a release back, or no longer does. `package`: its row of package_releases, which
// was read from a wheel for x86_64 where there are several.
void add_news_of_yanked(const Release& release, const Known& known, const std::string& name,
                        const std::optional<Row>& package, News& news) {
    const auto now = yanked_because(release);
    if (now.has_value() == known.yanked || release.wheels.empty()) return;
    const bool says_all = package && release.arch != "aarch64";
    if (now) {
        add_once(news.changes, {Change::Kind::yanked, name, known.version, *now});
    } else if (says_all) {
        add_once(news.changes, {Change::Kind::changed, name, known.version, "no longer yanked"});
    }
    if (says_all && !lookup::is_shared(*package)) news.rows.push_back(yanked_row(*package, now));
}

// What changed of a release that the facts have; true where it is to be looked into again.
bool add_changes(const Release& release, const Known& known, const std::string& name,
                 const std::optional<Row>& package, bool torch, News& news) {
    add_swapped(release, known, name, news);
    add_news_of_yanked(release, known, name, package, news);
    // What shares a row with others and is yanked now gets one of its own.
    if (yanked_because(release)) return !known.yanked && package && lookup::is_shared(*package);
    if (known.pythons.empty() || release.wheels.empty()) return false;
    const auto now = torch ? pythons_of(release.wheels) : abis_of(release.wheels, "x86_64");
    if (now.empty() || now == known.pythons) return false;  // empty: tags that are not read here
    add_once(news.changes,
             {Change::Kind::changed, name, known.version,
              fmt::format("wheels for {}{}, the facts say {}", text::join(now, " "),
                          known.arch.empty() ? "" : " on " + known.arch, text::join(known.pythons, " "))});
    return true;
}

void add_vanished(const std::vector<Release>& releases, const std::vector<Known>& known,
                  const std::string& name, News& news) {
    for (const auto& each : known) {
        const bool there = std::ranges::any_of(releases, [&](const Release& release) {
            return same(plain(release.version), each.version) &&
                   (each.arch.empty() || release.arch == each.arch);
        });
        if (!there && each.from_wheel)
            add_once(news.changes, {Change::Kind::vanished, name, each.version,
                                    each.arch.empty() ? "" : "for " + each.arch});
    }
}

// `name`: of the project in the changes; `package`: of the tasks.
News news_of(std::vector<Release> releases, const std::vector<Known>& known, const std::string& name,
             const std::string& package, bool torch, const Facts& facts) {
    News news;
    add_vanished(releases, known, name, news);
    const auto last = newest(known);
    for (auto& release : releases) {
        const auto number = plain(release.version);
        const auto version = pep440::Version::parse(number);
        if (!version) continue;
        const auto found = std::ranges::find_if(known, [&](const Known& each) {
            return same(each.version, number) && (each.arch.empty() || each.arch == release.arch);
        });
        if (found != known.end()) {
            // Its row speaks of the default index.
            const auto row =
                name == package ? lookup::package_release(facts, package, found->version) : std::nullopt;
            if (add_changes(release, *found, name, row, torch, news))
                news.tasks.push_back({package, torch, std::move(release)});
            continue;
        }
        if (release.wheels.empty() || version->is_prerelease() || yanked_because(release) ||
            (last && *version < *last))
            continue;
        add_once(news.changes, {Change::Kind::fresh, name, number});
        news.tasks.push_back({package, torch, std::move(release)});
    }
    return news;
}

}  // namespace

std::string_view to_string(Change::Kind kind) {
    constexpr std::string_view names[] = {"new", "yanked", "vanished", "replaced", "changed", "swapped"};
    return names[static_cast<std::size_t>(kind)];
}

News torch_news(const std::vector<IndexFile>& files, std::string_view variant, const Facts& facts) {
    std::vector<Known> known;
    for (const auto& row : facts.rows("torch_wheels")) {
        const bool here =
            variant.empty() ? row.text("default_index") == "true" : row.text("variant") == variant;
        if (!here) continue;
        Known each{std::string(row.text("torch")), std::string(row.text("arch"))};
        // Rows of a variant are from the default index where that serves the same build.
        each.from_wheel = variant.empty() && names_a_wheel(row);
        const auto package = lookup::package_release(facts, "torch", each.version);
        each.yanked = package && lookup::is_yanked(*package);
        if (each.from_wheel) {
            each.sources = texts(row.list("source"));
            each.pythons = texts(row.list("pythons"));
            // Those of Python 2 are not looked at (pythons_of).
            std::erase_if(each.pythons, [](const std::string& python) { return !python.starts_with("3."); });
        }
        known.push_back(std::move(each));
    }
    const auto name = variant.empty() ? std::string("torch") : fmt::format("torch ({})", variant);
    return news_of(torch_releases(files, {"x86_64", "aarch64"}, facts), known, name, "torch", true, facts);
}

News package_news(const std::vector<IndexFile>& files, std::string_view package, const Facts& facts) {
    std::vector<Known> known;
    for (const auto& release : facts.package_releases(package)) {
        const auto& row = release.row;
        Known each{std::string(release.text), ""};
        each.from_wheel = names_a_wheel(row);
        each.yanked = lookup::is_yanked(row);
        if (each.from_wheel) {
            // The wheels of those that share a row are not written down.
            if (!lookup::is_shared(row)) each.sources = texts(row.list("source"));
            each.pythons = texts(row.list("abi"));
        }
        known.push_back(std::move(each));
    }
    return news_of(package_releases(files, package, facts), known, std::string(package), std::string(package),
                   false, facts);
}

News toolkit_news(const std::vector<IndexFile>& files, const Facts& facts) {
    News news;
    const std::string name(kToolkitPackage);
    auto releases = package_releases(files, name, facts);
    std::vector<Known> known;
    for (const auto& row : facts.rows("cuda_releases")) {
        Known each{std::string(row.text("cuda")), "", false, false, texts(row.list("source"))};
        // Some rows rest on other wheels than this one.
        each.from_wheel = std::ranges::any_of(each.sources, [](const std::string& source) {
            return source.starts_with("wheel:cuda_toolkit-");
        });
        known.push_back(std::move(each));
    }
    add_vanished(releases, known, name, news);
    for (auto& release : releases) {
        const auto version = pep440::Version::parse(release.version);
        if (!version || version->is_prerelease()) continue;
        // A meta package that was made again has a fourth number.
        const auto number = fmt::format("{}.{}.{}", version->part(0), version->part(1), version->part(2));
        const auto found =
            std::ranges::find_if(known, [&](const Known& each) { return same(each.version, number); });
        if (found != known.end()) {
            add_changes(release, *found, name, std::nullopt, false, news);
        } else if (!release.wheels.empty() && !yanked_because(release)) {
            add_once(news.changes, {Change::Kind::fresh, name, number});
            news.tasks.push_back({name, false, std::move(release)});
        }
    }
    return news;
}

std::vector<std::string> known_packages(const Facts& facts) {
    std::set<std::string> names;
    for (const auto& row : facts.rows("package_releases"))
        names.emplace(row.text("package"));
    names.erase("torch");
    return {names.begin(), names.end()};
}

}  // namespace cudamatrix::measure
