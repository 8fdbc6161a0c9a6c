#include "knowledge/facts/facts.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace cudamatrix;

namespace {

// A table of rows with nothing but a date.
struct Dated {
    explicit Dated(const std::vector<std::string_view>& dates) {
        values.reserve(dates.size());
        columns.reserve(dates.size());
        for (const auto date : dates) {
            values.push_back({date});
            columns.push_back({Row::Column{"as_of", values.back(), false}});
            table.rows.emplace_back(columns.back());
        }
    }
    std::vector<std::array<std::string_view, 1>> values;
    std::vector<std::array<Row::Column, 1>> columns;
    Table table{"any", "2026-11-21", {}};
};

std::string median(const std::vector<std::string_view>& dates) {
    const Dated dated(dates);
    return median_date({&dated.table, 1});
}

}  // namespace

TEST_CASE("a fact is old after 180 days, and never where a date is none") {
    CHECK_FALSE(is_old("2026-05-25", "2026-11-21"));
    CHECK(is_old("2026-05-24", "2026-11-21"));
    CHECK_FALSE(is_old("2026-11-22", "2026-11-21"));
    CHECK_FALSE(is_old("", "2026-11-21"));
    CHECK_FALSE(is_old("2025-01-01", ""));
}

TEST_CASE("the age of the facts is that of half of the rows: no single row makes them younger") {
    CHECK(median({}).empty());
    CHECK(median({"2026-11-21"}) == "2026-11-21");
    CHECK(median({"2026-11-21", "2027-08-30"}) == "2026-11-21");
    CHECK(median({"2027-08-30", "2026-11-21", "2026-11-20", "2026-11-22"}) == "2026-11-21");
    CHECK(median({"2027-08-30", "2027-08-29", "2025-12-15"}) == "2027-08-29");
}

TEST_CASE("old rows and the oldest date of a table") {
    const Dated dated({"2026-11-21", "2025-12-15", ""});
    CHECK(old_rows(dated.table.rows, "2026-11-21") == 1);
    CHECK(old_rows(dated.table.rows, "2027-11-21") == 2);
    CHECK(oldest_date(dated.table.rows) == "2025-12-15");
    CHECK(oldest_date({}).empty());
}
