#include "advise/diff/diff.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace cudamatrix::diff {
namespace {

std::vector<std::string> pins_moved(Lock before, Lock now) {
    before.verdicts.reset();
    now.verdicts.reset();
    return lock_changes(before, now);
}

std::vector<SizeChange> sizes_moved(const Side& before, const Side& now) {
    const auto size = [](const Side& side, const std::string& image) {
        const auto found = side.bytes.find(image);
        return found == side.bytes.end() ? 0 : found->second;
    };
    std::set<std::string> images;
    for (const auto* side : {&before, &now}) {
        for (const auto& [image, bytes] : side->bytes)
            images.insert(image);
    }
    std::vector<SizeChange> out;
    for (const auto& image : images) {
        if (size(before, image) != size(now, image))
            out.push_back({image, size(before, image), size(now, image)});
    }
    return out;
}

// Says which side alone has a thing. True: both have it.
bool both(bool before, bool now, std::string_view what, Diff& diff) {
    if (before != now)
        diff.notes.push_back(
            fmt::format("{} has no {}: they are not compared", before ? diff.now : diff.before, what));
    diff.compared = diff.compared || (before && now);
    return before && now;
}

}  // namespace

bool Diff::is_news() const {
    const bool cell = cells && !(cells->moved.empty() && cells->fresh.empty() && cells->gone.empty() &&
                                 cells->replaced.empty());
    return cell || !pins.empty() ||
           std::ranges::any_of(facts, [](const auto& row) { return row.change != RowChange::checked; });
}

Diff compare(const Side& before, const Side& now) {
    Diff out{before.name, now.name, {}, {}, {}, sizes_moved(before, now), {}, false};
    if (both(before.cells.has_value(), now.cells.has_value(), "verdicts", out))
        out.cells = compare_verdicts(*before.cells, *now.cells);
    if (both(before.lock.has_value(), now.lock.has_value(), "pins", out))
        out.pins = pins_moved(*before.lock, *now.lock);
    if (both(before.facts.has_value(), now.facts.has_value(), "facts", out))
        out.facts = compare_facts(before.facts->laid_over(), now.facts->laid_over());
    return out;
}

}  // namespace cudamatrix::diff
