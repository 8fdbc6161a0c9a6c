#include "knowledge/facts/facts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "knowledge/facts/store.hpp"

using namespace cudamatrix;

namespace {

// A table of rows with nothing but a date.
struct Dated {
    explicit Dated(const std::vector<std::string_view>& dates) : rows(parsed(dates)) {}

    static std::vector<facts::ParsedRow> parsed(const std::vector<std::string_view>& dates) {
        std::vector<facts::ParsedRow> out;
        for (const auto date : dates)
            out.push_back({{}, {{"as_of", {std::string(date)}, false}}});
        return out;
    }

    facts::OwnRows rows;
    Table table{"any", "2026-11-21", rows.rows()};
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
