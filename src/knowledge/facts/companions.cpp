#include "knowledge/facts/companions.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"

namespace cudamatrix::lookup {
namespace {

// What torch cannot work with, as package_numpy_abi says it.
bool breaks_with(const Facts& facts, const pep440::Version& numpy, const pep440::Version& torch) {
    const auto rows = facts.rows("package_numpy_abi");
    return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
        if (row.text("package") != "torch") return false;
        const auto torches = pep440::Specifiers::parse(row.text("versions"));
        const auto numpies = pep440::Specifiers::parse(row.text("numpy"));
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
        const auto release = facts.row(fmt::format("package-{}-{}", package, row.text("version")));
        Rank rank{row.has("torch"), !release || !is_yanked(*release), required_version(row, "version")};
        if (highest && !(*highest < rank)) continue;
        best = row;
        highest = std::move(rank);
    }
    return best;
}

std::optional<Row> numpy_companion(const Facts& facts, std::string_view python, const Version& torch) {
    const auto release = pep440::Version::parse(torch.text());
    const auto tag = "cp" + text::replace_all(python, ".", "");
    std::optional<Row> best;
    std::optional<pep440::Version> newest;
    for (const auto& row : package_releases(facts, "numpy")) {
        auto version = pep440::Version::parse(row.text("version"));
        const auto tags = row.list("abi");
        if (!release || !version || std::find(tags.begin(), tags.end(), tag) == tags.end()) continue;
        const bool kept = !is_yanked(row), best_kept = best && !is_yanked(*best);
        if (best_kept && !kept) continue;
        if ((newest && kept == best_kept && *version <= *newest) || breaks_with(facts, *version, *release))
            continue;
        best = row;
        newest = std::move(version);
    }
    return best;
}

}  // namespace cudamatrix::lookup
