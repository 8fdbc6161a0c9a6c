#include "knowledge/facts/lookup.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/store.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::lookup {
namespace {

// The newest row of `table` whose version in `column` is covered by `wanted` ("12" covers 12.9, "2.6"
// covers 2.6.0), and that `fits` takes.
template <class Fits>
std::optional<Row> newest_covered(const Facts& facts, std::string_view table, std::string_view column,
                                  const Version& wanted, const Fits& fits) {
    std::optional<Row> best;
    std::optional<Version> best_version;
    for (const auto& row : facts.rows(table)) {
        auto version = Version::parse(row.text(column));
        if (!version || !wanted.covers(*version) || !fits(row)) continue;
        if (best_version && *version <= *best_version) continue;
        best = row;
        best_version = std::move(version);
    }
    return best;
}

std::string id(std::string_view prefix, std::string_view key) {
    return std::string(prefix) + std::string(key);
}

// What `pip install "torch==2.6.*"` gets: of the releases that the default index has, the newest that was not
// yanked. 1.8.2 (long-term support) was never there.
std::optional<Row> newest_torch(const Facts& facts, const Version& wanted) {
    const auto served = [](const Row& row) { return row.has("default_variant"); };
    auto out = newest_covered(facts, "torch_releases", "torch", wanted,
                              [&](const Row& row) { return served(row) && !is_yanked_build(facts, row); });
    return out ? out : newest_covered(facts, "torch_releases", "torch", wanted, served);
}

// The wheel that the default index serves for `release` on `arch`.
std::optional<Row> default_wheel(const Facts& facts, std::string_view release, std::string_view arch) {
    for (const auto& row : facts.rows("torch_wheels")) {
        if (row.text("torch") == release && row.text("arch") == arch && row.text("default_index") == "true")
            return row;
    }
    return std::nullopt;
}

}  // namespace

Version required_version(const Row& row, std::string_view column) {
    return *Version::parse(row.text(column));
}

std::optional<Cuda> cuda(const Facts& facts, std::string_view text) {
    auto version = Version::parse(text);
    if (!version || !version->suffix().empty()) return std::nullopt;
    Cuda out{*version, {}, facts.row(id("cuda-", text))};
    if (!out.release) {
        if (version->size() > 2) return std::nullopt;
        out.release =
            newest_covered(facts, "cuda_releases", "cuda", *version, [](const Row&) { return true; });
    }
    if (out.release) out.exact = *Version::parse(out.release->text("cuda"));
    out.toolkit = facts.row(id("cuda-toolkit-", out.exact.major_minor()));
    if (!out.release && !out.toolkit) return std::nullopt;
    return out;
}

std::optional<Driver> driver(const Facts& facts, std::string_view text) {
    auto version = Version::parse(driver_number(text));
    if (!version || !version->suffix().empty()) return std::nullopt;
    Driver out{*version, version->size() == 1, facts.row(id("driver-r", std::to_string(version->major())))};
    if (out.bare_branch && out.branch && out.branch->has("newest")) {
        out.exact = Version::parse(out.branch->text("newest")).value_or(*version);
    }
    return out;
}

bool is_wsl(std::string_view platform) {
    const auto name = text::lower(platform);
    return name == "wsl2" || name == "wsl";
}

std::optional<Row> gpu(const Facts& facts, std::string_view name) {
    return facts.named(name);
}

std::vector<std::string> gpu_names(const Facts& facts) {
    std::vector<std::string> names;
    for (const auto& row : facts.rows("gpus")) {
        names.emplace_back(row.text("name"));
        for (const auto alias : row.list("aliases"))
            names.emplace_back(alias);
    }
    return names;
}

std::optional<Torch> torch(const Facts& facts, std::string_view text, std::string_view arch) {
    const auto plus = text.find('+');
    const auto number = text.substr(0, plus);
    auto version = Version::parse(number);
    if (!version || !version->suffix().empty()) return std::nullopt;
    Torch out{
        *version, plus == text.npos ? std::string() : std::string(text.substr(plus + 1)), false, {}, {}};
    out.release = facts.row(id("torch-", number));
    if (!out.release && version->size() < 3) out.release = newest_torch(facts, *version);
    if (!out.release) return out;

    const auto release = out.release->text("torch");
    out.exact = Version::parse(release).value_or(*version);
    const auto by_default = default_wheel(facts, release, arch);
    if (out.variant.empty() && by_default) out.variant = by_default->text("variant");
    // The release names the default of its main platform; elsewhere only a wheel that says so is one.
    if (out.variant.empty() && arch == "x86_64") out.variant = out.release->text("default_variant");
    if (by_default) {
        out.index_default = by_default->text("variant") == out.variant;
    } else {
        out.index_default =
            arch == "x86_64" && !out.variant.empty() && out.release->text("default_variant") == out.variant;
    }
    out.wheel = facts.row(fmt::format("torch-{}+{}-{}", release, out.variant, arch));
    if (!out.wheel) out.absent = facts.row(fmt::format("no-torch-{}+{}-{}", release, out.variant, arch));
    return out;
}

std::optional<Row> os(const Facts& facts, std::string_view slug) {
    return facts.row(id("os-", slug));
}

std::optional<Row> python(const Facts& facts, std::string_view text) {
    const auto version = Version::parse(text);
    if (!version || version->size() < 2) return std::nullopt;
    return facts.row(id("python-", version->major_minor()));
}

std::optional<Row> package_release(const Facts& facts, std::string_view package, std::string_view version) {
    if (auto row = facts.row(fmt::format("package-{}-{}", package, version))) return row;
    for (const auto& release : facts.package_releases(package)) {
        if (release.text == version) return release.row;
    }
    return std::nullopt;
}

bool is_shared(const Row& release) {
    return release.has("also");
}

bool is_about_system(const Row& row, std::string_view system) {
    const auto systems = row.list("systems");
    return systems.empty() || contains(systems, system);
}

bool is_yanked(const Row& release) {
    return release.text("yanked") == "true" || release.text("off_index") == "true";
}

bool is_yanked_build(const Facts& facts, const Row& wheel) {
    const auto release = package_release(facts, "torch", wheel.text("torch"));
    return release && is_yanked(*release);
}

std::optional<Row> toolkit_source(const Facts& facts, std::string_view family, std::string_view os,
                                  const Version& cuda, std::string_view from) {
    std::optional<Row> best;
    for (const auto& row : facts.rows("toolkit_sources")) {
        if (row.text("family") != family || (row.has("os") && !contains(row.list("os"), os))) continue;
        if (!from.empty() && row.text("cuda_from") != from) continue;
        const auto version = Version::parse(row.text("cuda"));
        if (!version || *version != cuda) continue;
        // A package of the distribution is smaller and patched by it; wheels serve where there is none.
        if (!best || row.text("cuda_from") == "archive") best = row;
    }
    return best;
}

std::optional<Row> cuda_libraries(const Facts& facts, const Version& cuda, std::string_view from,
                                  std::string_view os) {
    const auto row = facts.row(fmt::format("libraries-{}-{}", from, cuda.text()));
    return row && (!row->has("os") || contains(row->list("os"), os)) ? row : std::nullopt;
}

std::string mirror_of_source(const Facts& facts, const Mirrors& mirrors, std::string_view name) {
    if (auto named = mirror_of(mirrors, name); !named.empty()) return named;
    const auto row = facts.row(fmt::format("archive-{}", name));
    if (!row || !row->has("url")) return {};
    auto there = mirrored(row->text("url"), mirrors);
    return there == row->text("url") ? std::string() : there;
}

std::string mirror_of_torch_index(const Facts& facts, const Mirrors& mirrors, std::string_view variant) {
    if (const auto named = mirror_of(mirrors, "pytorch"); !named.empty())
        return fmt::format("{}/{}", named, variant);
    const auto row = facts.row(fmt::format("index-{}", variant));
    if (!row || !row->has("url")) return {};
    auto there = mirrored(row->text("url"), mirrors);
    return there == row->text("url") ? std::string() : there;
}

namespace {

// What torch for Linux, of which images are, cannot work with, as package_numpy_abi says it.
bool breaks_with(const Facts& facts, const pep440::Version& numpy, const pep440::Version& torch) {
    const auto rows = facts.rows("package_numpy_abi");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        if (row.text("package") != "torch" || !is_about_system(row, "linux")) return false;
        const auto& torches = pep440::Specifiers::of_fact(row.text("versions"));
        const auto& numpies = pep440::Specifiers::of_fact(row.text("numpy"));
        return torches && numpies && torches->admits(torch) && numpies->admits(numpy);
    });
}

}  // namespace

bool goes_with_torch(const Row& companion, const Version& torch) {
    if (const auto exact = Version::parse(companion.text("torch"))) return *exact == torch;
    if (companion.has("torch_min")) return torch >= required_version(companion, "torch_min");
    const auto built_for = companion.list("built_for");
    const bool newer = companion.text("works_with_newer") == "true";
    return std::any_of(built_for.begin(), built_for.end(), [&](std::string_view text) {
        const auto release = Version::parse(text);
        return release && (newer ? torch >= *release : torch == *release);
    });
}

std::optional<Row> torch_companion(const Facts& facts, std::string_view package, const Version& torch) {
    // Compared in this order: an exact demand, that nobody took it back, the version.
    struct Rank {
        bool exact = false, kept = false;
        Version version;
        bool operator<(const Rank& other) const {
            return std::tie(exact, kept, version) < std::tie(other.exact, other.kept, other.version);
        }
    };
    std::optional<Row> best;
    std::optional<Rank> highest;
    for (const auto& row : facts.rows("torch_companions")) {
        if (row.text("package") != package || !goes_with_torch(row, torch)) continue;
        const auto release = package_release(facts, package, row.text("version"));
        Rank rank{row.has("torch"), !release || !is_yanked(*release), required_version(row, "version")};
        if (highest && !(*highest < rank)) continue;
        best = row;
        highest = std::move(rank);
    }
    return best;
}

std::optional<PackageRelease> numpy_companion(const Facts& facts, std::string_view python,
                                              const Version& torch) {
    const auto release = pep440::Version::parse(torch.text());
    const auto tag = "cp" + text::replace_all(python, ".", "");
    std::optional<PackageRelease> best;
    for (const auto& each : facts.package_releases("numpy")) {
        if (!release || !contains(each.row.list("abi"), tag)) continue;
        const bool kept = !is_yanked(each.row), best_kept = best && !is_yanked(best->row);
        if (best_kept && !kept) continue;
        if (!breaks_with(facts, each.version, *release)) best = each;  // the newest comes last
    }
    return best;
}

}  // namespace cudamatrix::lookup
