#include "look/measure/measured.hpp"

#include <algorithm>
#include <utility>

namespace cudamatrix::measure {

void Measured::add(MeasuredRow row, const Facts& facts) {
    const auto twice =
        std::any_of(rows.begin(), rows.end(), [&](const Compared& other) { return other.row.id == row.id; });
    if (!twice) rows.push_back(compare(std::move(row), facts));
}

bool Measured::note(const Seen& seen) {
    if (seen.remembered) ++remembered;
    if (!seen.look.ok()) not_measured.push_back(seen.look.failure().diagnostics.front().message);
    return seen.look.ok();
}

std::size_t Measured::count(Standing standing) const {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const Compared& row) { return row.standing == standing; }));
}

}  // namespace cudamatrix::measure
