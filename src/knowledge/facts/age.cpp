#include "knowledge/facts/age.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace cudamatrix {

bool is_old(std::string_view as_of, std::string_view today) {
    const auto then = day_number(as_of), now = day_number(today);
    return then && now && *now - *then > kOldAfterDays;
}

std::size_t old_rows(std::span<const Row> rows, std::string_view today) {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const Row& row) { return is_old(row.text("as_of"), today); }));
}

std::string oldest_date(std::span<const Row> rows) {
    std::string_view oldest;
    for (const auto& row : rows) {
        const auto date = row.text("as_of");
        if (!date.empty() && (oldest.empty() || date < oldest)) oldest = date;
    }
    return std::string(oldest);
}

std::string median_date(std::span<const Table> tables) {
    std::vector<std::string_view> dates;
    for (const auto& table : tables) {
        for (const auto& row : table.rows)
            dates.push_back(row.text("as_of"));
    }
    if (dates.empty()) return {};
    const auto middle = dates.begin() + static_cast<std::ptrdiff_t>((dates.size() - 1) / 2);
    std::nth_element(dates.begin(), middle, dates.end());
    return std::string(*middle);
}

}  // namespace cudamatrix
