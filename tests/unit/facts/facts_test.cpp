// The embedded tables: their self-check (every row sourced, dated, sorted, consistent), their hash and their
// date.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "facts/facts.hpp"
#include "facts/schema.hpp"

using namespace cudamatrix;

TEST_CASE("every embedded row passes the self-check") {
    const auto facts = Facts::embedded();
    const auto mistakes = facts.check();
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
    const auto overlaid = Facts::with_overlay(CUDAMATRIX_FACTS_DIR);
    REQUIRE(overlaid);
    CHECK(overlaid->hash() == Facts::embedded().hash());
}
