// The embedded tables: their self-check (every row sourced, dated, sorted, consistent), their hash and their
// date.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "folders.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/ranges.hpp"
#include "knowledge/facts/schema.hpp"

using namespace cudamatrix;

namespace {

// The real day: rows are looked up until the day of the commit.
std::string today() {
    const std::chrono::year_month_day day{
        std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
    return fmt::format("{:04}-{:02}-{:02}", int(day.year()), unsigned(day.month()), unsigned(day.day()));
}

}  // namespace

TEST_CASE("every embedded row passes the self-check") {
    const auto facts = Facts::embedded();
    const auto mistakes = facts.check(today());
    for (const auto& mistake : mistakes)
        MESSAGE(render(mistake, {}));
    CHECK(mistakes.empty());

    std::size_t rows = 0, unverified = 0;
    for (const auto& table : facts.tables()) {
        for (const auto& row : table.rows) {
            ++rows;
            const auto ref = row.ref();
            CHECK(!ref.sources.empty());
            CHECK(facts::is_date(ref.as_of));
            if (ref.confidence == Confidence::unverified) ++unverified;
        }
    }
    MESSAGE(fmt::format("{} rows in {} tables, {} unverified", rows, facts.tables().size(), unverified));
    CHECK(rows > 500);
    CHECK(unverified < rows / 20);
}

TEST_CASE("every table of the schema is embedded, and nothing else") {
    const auto facts = Facts::embedded();
    CHECK(facts.tables().size() == facts::all_schemas().size());
    for (const auto& schema : facts::all_schemas())
        CHECK(facts.table(schema.table) != nullptr);
}

TEST_CASE("every table and column that the ranges name is of the schema") {
    const auto known = [](std::string_view table, std::string_view column) {
        const auto* schema = facts::schema_of(table);
        CAPTURE(std::string(table) + "." + std::string(column));
        REQUIRE(schema != nullptr);
        CHECK((column.empty() || std::ranges::count(schema->columns, column, &facts::Column::name) == 1));
    };
    const auto named = [&](std::string_view name) {
        if (!name.empty()) known(name.substr(0, name.find('.')), name.substr(name.find('.') + 1));
    };
    const auto& all = facts::all_ranges();
    for (const auto& each : all.past)
        known(each.table, each.column);
    for (const auto& each : all.orders) {
        known(each.table, each.lower);
        known(each.table, each.upper);
    }
    for (const auto& each : all.parts) {
        known(each.table, each.whole);
        known(each.table, each.part);
    }
    for (const auto& each : all.rises) {
        known(each.table, each.column);
        known(each.table, each.along);
        known(each.table, each.within);
    }
    for (const auto& each : all.apart) {
        for (const auto& side : each.sides) {
            known(each.table, side.column);
            known(each.table, side.upper);
        }
    }
    for (const auto& each : all.gapless) {
        known(each.table, each.lower);
        known(each.table, each.upper);
        named(each.skipped);
    }
    for (const auto& each : all.bounds) {
        known(each.table, each.column);
        known(each.table, each.via);
        known(each.other, each.key);
        known(each.other, each.bound);
    }
    for (const auto& each : all.foreign) {
        known(each.table, each.column);
        named(each.other);
    }
}

TEST_CASE("rows are found by id and keep their columns") {
    const auto facts = Facts::embedded();
    const auto family = facts.row("cuda-family-12");
    REQUIRE(family);
    CHECK(family->text("min_driver_linux") == "525.60.13");
    CHECK(family->ref().id == "cuda-family-12");
    CHECK(!family->ref().sources.empty());
    CHECK(family->text("no_such_column").empty());
    CHECK(family->list("no_such_column").empty());
    CHECK(!family->has("no_such_column"));
    CHECK_FALSE(facts.row("cuda-family-99"));
    CHECK(facts.table("no_such_table") == nullptr);
}

TEST_CASE("hash and date are stable") {
    const auto facts = Facts::embedded();
    CHECK(facts.hash() == Facts::embedded().hash());
    CHECK(facts.hash().size() == 12);
    CHECK(facts::is_date(facts.date()));
}

TEST_CASE("the embedded tables are the files, byte for byte in meaning") {
    const auto overlaid = Facts::with_overlay(std::string(source_dir()) + "/matrix/facts", today());
    REQUIRE(overlaid);
    CHECK(overlaid->hash() == Facts::embedded().hash());
}

TEST_CASE("a wheel index stands at an address that ends in its name") {
    std::size_t known = 0;
    const auto facts = Facts::embedded();
    for (const auto& row : facts.rows("wheel_indexes")) {
        CAPTURE(std::string(row.id()));
        if (!row.has("url")) continue;
        ++known;
        CHECK(row.text("url").ends_with(fmt::format("/{}", row.text("name"))));
    }
    CHECK(known > 10);
}

TEST_CASE(
    "every CUDA minor names its newest release that is known, and every major but the oldest begins at 0") {
    const auto facts = Facts::embedded();
    std::set<std::uint32_t> majors, begun;
    for (const auto& row : facts.table("cuda_toolkits")->rows) {
        CAPTURE(std::string(row.id()));
        const auto cuda = Version::parse(row.text("cuda"));
        REQUIRE(cuda);
        majors.insert(cuda->major());
        if (cuda->minor() == 0) begun.insert(cuda->major());
        std::optional<Version> newest;
        for (const auto& release : facts.rows("cuda_releases")) {
            if (release.text("minor") != row.text("cuda")) continue;
            const auto version = Version::parse(release.text("cuda"));
            if (version && (!newest || *newest < *version)) newest = version;
        }
        CHECK(row.text("newest") == (newest ? newest->text() : std::string()));
    }
    CHECK(majors.size() == 7);  // 7 to 13
    begun.insert(*majors.begin());
    CHECK(begun == majors);
}

TEST_CASE("the cards that are called RTX 6000 are four, and a part of a name is none") {
    const auto facts = Facts::embedded();
    CHECK(facts.named("Quadro RTX 6000")->text("compute") == "7.5");
    CHECK(facts.named("RTX A6000")->text("compute") == "8.6");
    CHECK(facts.named("NVIDIA RTX 6000 Ada Generation")->text("compute") == "8.9");
    CHECK(facts.named("NVIDIA RTX PRO 6000 Blackwell Workstation Edition")->text("compute") == "12.0");
    CHECK_FALSE(facts.named("RTX 6000"));
    CHECK(facts.table("gpus")->rows.size() >= 51);
}
