#include "advise/diff/fact_changes.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kRow =
    R"({id: gpu-x, name: "X 1", aliases: [], compute: "7.5", class: geforce, memory_gb: [8], source: "https://example.org/", confidence: read})";

Facts facts_with(const std::string& rows) {
    const test::TempFolder folder;
    folder.put("gpus.yaml", "table: gpus\nas_of: \"2026-11-01\"\nrows:\n  - " + rows + "\n");
    auto facts = Facts::with_overlay(folder.path(), "2026-11-27");
    REQUIRE(facts);
    return *std::move(facts);
}

std::string changed(std::string_view from, std::string_view to) {
    return text::replace_all(kRow, from, to);
}

// "changed gpu-x: compute 7.5 -> 8.0"
std::vector<std::string> changes(const Facts& before, const Facts& now) {
    std::vector<std::string> out;
    for (const auto& row : diff::compare_facts(before.laid_over(), now.laid_over())) {
        std::vector<std::string> columns;
        for (const auto& column : row.columns)
            columns.push_back(fmt::format("{} {} -> {}", column.name, column.before, column.now));
        out.push_back(
            fmt::format("{} {} {}: {}", to_string(row.change), row.table, row.id, text::join(columns, "; ")));
    }
    return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("fact changes: the same facts have none") {
    CHECK(changes(Facts::embedded(), Facts::embedded()).empty());
    CHECK(diff::compare_facts(Facts::embedded().tables(), Facts::embedded().tables()).empty());
    CHECK(changes(facts_with(std::string(kRow)), facts_with(std::string(kRow))).empty());
}

TEST_CASE("fact changes: rows that came, went, and say something else") {
    const auto with = facts_with(std::string(kRow));
    CHECK(changes(Facts::embedded(), with) == Lines{"added gpus gpu-x: "});
    CHECK(changes(with, Facts::embedded()) == Lines{"gone gpus gpu-x: "});
    CHECK(changes(with, facts_with(changed("7.5", "8.0"))) ==
          Lines{"changed gpus gpu-x: compute 7.5 -> 8.0"});
    CHECK(changes(with, facts_with(changed("[8]", "[8, 16]"))) ==
          Lines{"changed gpus gpu-x: memory_gb 8 -> 8, 16"});
    CHECK(changes(with, facts_with(changed("memory_gb: [8], ", ""))) ==
          Lines{"changed gpus gpu-x: memory_gb 8 -> "});
    CHECK(changes(facts_with(changed("memory_gb: [8], ", "")), with) ==
          Lines{"changed gpus gpu-x: memory_gb  -> 8"});
}

TEST_CASE("fact changes: a row that was looked up again says what it said") {
    const auto with = facts_with(std::string(kRow));
    CHECK(changes(with, facts_with(changed("org/", "org/new"))) ==
          Lines{"checked gpus gpu-x: source https://example.org/ -> https://example.org/new"});
    CHECK(changes(with, facts_with(changed("confidence: read", "as_of: \"2026-11-20\", confidence: read"))) ==
          Lines{"checked gpus gpu-x: as_of 2026-11-01 -> 2026-11-20"});
    // What is no longer sure is news.
    CHECK(changes(with, facts_with(changed("read}", "measured}"))) ==
          Lines{"changed gpus gpu-x: confidence read -> measured"});
}
