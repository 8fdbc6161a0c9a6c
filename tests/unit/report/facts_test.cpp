#include "report/knowledge_reports.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "knowledge/facts/store.hpp"
#include "unit/report/fixtures.hpp"

using namespace cudamatrix;
using namespace cudamatrix::report;

namespace {

std::vector<facts::ParsedRow> toolkit(const std::string& note) {
    return {
        {{},
         {{"id", {"cuda-12.4"}, false},
          {"ptx_isa", {"8.4"}, false},
          {"targets", {"5.0", "5.2", "9.0a"}, true},
          {"empty", {}, true},
          {"note", {note}, false},
          {"source", {"https://docs.nvidia.com/cuda/", "https://example.org/" + std::string(90, 'x')}, true},
          {"as_of", {"2026-10-01"}, false},
          {"confidence", {"measured"}, false}}}};
}

std::vector<facts::ParsedRow> driver() {
    return {{{}, {{"id", {"driver-r470"}, false}, {"confidence", {"unverified"}, false}}}};
}

class Knowledge {
  public:
    explicit Knowledge(const std::string& note = "first release of the branch")
        : toolkit_(toolkit(note)), driver_(driver()) {
        tables_.push_back(Table{"cuda_toolkits", "2026-10-01", toolkit_.rows()});
        tables_.push_back(Table{"driver_branches", "2026-09-30", driver_.rows()});
    }
    Knowledge(const Knowledge&) = delete;
    Knowledge& operator=(const Knowledge&) = delete;

    [[nodiscard]] FactsReport report(std::size_t width = 80) const {
        return {tables_, fixtures::kTool, {false, width}};
    }

    /// The same tables under names that no schema has.
    [[nodiscard]] std::vector<Table> tables_named(std::string_view first, std::string_view second) const {
        auto out = tables_;
        out[0].name = first;
        out[1].name = second;
        return out;
    }

  private:
    facts::OwnRows toolkit_, driver_;
    std::vector<Table> tables_;
};

std::string refused(const Result<std::string>& result) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == ExitCode::bad_input);
    return render(result.failure().diagnostics.at(0), "");
}

}  // namespace

TEST_CASE("facts text: tables with their rows") {
    Knowledge facts;
    CHECK(facts_text(facts.report()) ==
          "  TABLE            ROWS  MEASURED  READ  UNVERIFIED  AS OF       OLDEST\n"
          "  cuda_toolkits       1         1     0           0  2026-10-01  2026-10-01\n"
          "  driver_branches     1         0     0           1  2026-09-30\n"
          "\n"
          "facts 2026-11-21 0123456789ab: 2 rows in 2 tables; `cudamatrix facts show ID` shows a table or a "
          "row\n");
}

TEST_CASE("facts text: a row with all its columns; sources are never cut") {
    Knowledge facts;
    const auto text = fact_text(facts.report(), "cuda-12.4");
    REQUIRE(text.ok());
    CHECK(text.value() ==
          "cuda-12.4 (table cuda_toolkits)\n"
          "  ptx_isa     8.4\n"
          "  targets     5.0, 5.2, 9.0a\n"
          "  empty       (none)\n"
          "  note        first release of the branch\n"
          "  source      https://docs.nvidia.com/cuda/\n"
          "  source      https://example.org/" +
              std::string(90, 'x') +
              "\n"
              "  as_of       2026-10-01\n"
              "  confidence  measured\n");
}

TEST_CASE("facts text: rows of the user's own, and none of them") {
    Knowledge facts;
    CHECK(
        facts_mine_text(facts.report(), "/c/facts") ==
        "cuda-12.4 (table cuda_toolkits, measured, 2026-10-01)\n"
        "  source  https://docs.nvidia.com/cuda/\n"
        "  source  https://example.org/" +
            std::string(90, 'x') +
            "\n"
            "driver-r470 (table driver_branches, unverified, )\n"
            "\n"
            "2 rows in /c/facts; `cudamatrix facts show ID --facts DIR` with that folder shows one with all its "
            "columns\n");
    const FactsReport none{{}, fixtures::kTool, {false, 80}};
    CHECK(facts_mine_text(none, "/c/\x1b[1m") ==
          "no facts of your own: /c/?[1m holds none; what --look measures is kept there\n");
    const auto empty = parse_json(facts_mine_json(none, "/c"), "report");
    REQUIRE(empty.ok());
    CHECK(empty->at("rows").empty());
    const auto json = parse_json(facts_mine_json(facts.report(), "/c"), "report");
    REQUIRE(json.ok());
    CHECK(json->at("folder") == "/c");
    CHECK(json->at("rows").at(0).at("table") == "cuda_toolkits");
    CHECK(json->at("rows").at(1).at("id") == "driver-r470");
}

TEST_CASE("facts text: long values go on below themselves") {
    Knowledge facts(
        "a note that is much too long for one line of sixty columns, so that it is continued below");
    const auto text = fact_text(facts.report(20), "cuda-12.4");
    REQUIRE(text.ok());
    CHECK(text->find("  note        a note that is much too long for one line of\n"
                     "              sixty columns, so that it is continued below\n") != std::string::npos);
}

TEST_CASE("facts text: a row without a date or a source says only what it has") {
    Knowledge facts;
    const auto text = fact_text(facts.report(), "driver-r470");
    REQUIRE(text.ok());
    CHECK(text.value() == "driver-r470 (table driver_branches)\n  as_of\n  confidence  unverified\n");
}

TEST_CASE("facts text: the name of a table lists its rows") {
    Knowledge facts;
    const auto text = fact_text(facts.report(), "cuda_toolkits");
    REQUIRE(text.ok());
    CHECK(text.value() ==
          "table cuda_toolkits: 1 row\n"
          "  ID         AS OF       CONFIDENCE\n"
          "  cuda-12.4  2026-10-01  measured\n");
}

TEST_CASE("facts: what nobody knows is refused, with the nearest name") {
    Knowledge facts;
    CHECK(refused(fact_text(facts.report(), "cuda-12.5")) ==
          "cudamatrix: error: no fact or table is called \"cuda-12.5\"\n  fix: did you mean cuda-12.4?\n");
    CHECK(refused(fact_text(facts.report(), "driver_branch")) ==
          "cudamatrix: error: no fact or table is called \"driver_branch\"\n  fix: did you mean "
          "driver_branches?\n");
    CHECK(refused(fact_json(facts.report(), "weather")) ==
          "cudamatrix: error: no fact or table is called \"weather\"\n  fix: `cudamatrix facts show` lists "
          "the tables\n");
    CHECK(refused(fact_text(facts.report(), "")).find("called \"\"") != std::string::npos);
    CHECK(refused(fact_text(facts.report(), "CUDA-12.4")).find("did you mean cuda-12.4?") !=
          std::string::npos);
    CHECK(refused(fact_text(facts.report(), std::string(1'000'000, 'c'))).size() < 300);
    CHECK(refused(fact_text({{}, fixtures::kTool, {}}, "cuda-12.4")).find("lists the tables") !=
          std::string::npos);
}

TEST_CASE("facts json: tables, a row, the rows of a table") {
    Knowledge facts;
    const auto head = std::string(
        "{\n  \"schema_version\": 1,\n  \"tool\": \"cudamatrix\",\n  \"version\": \"0.1.0\",\n"
        "  \"facts\": {\"date\":\"2026-11-21\",\"hash\":\"0123456789ab\"},\n");
    const auto of_tables = facts.tables_named("first", "second");
    CHECK(facts_json({of_tables, fixtures::kTool, {}}) ==
          head +
              "  \"tables\": [\n"
              "    "
              "{\"name\":\"first\",\"as_of\":\"2026-10-01\",\"oldest\":\"2026-10-01\",\"old\":0,\"rows\":1,"
              "\"measured\":1,\"read\":0,"
              "\"unverified\":0,\"columns\":[]},\n"
              "    "
              "{\"name\":\"second\",\"as_of\":\"2026-09-30\",\"oldest\":\"\",\"old\":0,\"rows\":1,"
              "\"measured\":0,\"read\":0,"
              "\"unverified\":1,\"columns\":[]}\n  ]\n}\n");
    const auto row = fact_json(facts.report(), "driver-r470");
    REQUIRE(row.ok());
    CHECK(row.value() ==
          head +
              "  \"table\": \"driver_branches\",\n"
              "  \"row\": "
              "{\"id\":\"driver-r470\",\"columns\":{\"id\":\"driver-r470\",\"confidence\":\"unverified\"},"
              "\"sources\":[],\"as_of\":\"\",\"confidence\":\"unverified\"}\n}\n");
    const auto table = fact_json(facts.report(), "cuda_toolkits");
    REQUIRE(table.ok());
    const auto json = parse_json(table.value(), "report");
    REQUIRE(json.ok());
    CHECK(json->at("rows").at(0).at("columns").at("targets") == Json({"5.0", "5.2", "9.0a"}));
    CHECK(json->at("rows").at(0).at("columns").at("empty") == Json::array());
    CHECK(json->at("rows").at(0).at("columns").at("ptx_isa") == "8.4");
}

TEST_CASE("facts json: a table says which columns it may have") {
    Knowledge facts;
    const auto json = parse_json(facts_json(facts.report()), "report");
    REQUIRE(json.ok());
    const auto& columns = json->at("tables").at(0).at("columns");
    CHECK(std::find(columns.begin(), columns.end(), "ptx_isa") != columns.end());
}

TEST_CASE("facts search: all the words, in any column, whatever their case") {
    Knowledge facts;
    const auto found = [&](std::vector<std::string> words) {
        std::vector<std::string> ids;
        for (const auto& each : search_facts(facts.report(), words).rows)
            ids.emplace_back(each.row->id());
        return ids;
    };
    CHECK(found({"CUDA-12"}) == std::vector<std::string>{"cuda-12.4"});
    CHECK(found({"release", "9.0A"}) == std::vector<std::string>{"cuda-12.4"});
    CHECK(found({"driver_branches"}) == std::vector<std::string>{"driver-r470"});
    CHECK(found({"r"}) == std::vector<std::string>{"cuda-12.4", "driver-r470"});
    CHECK(found({"release", "470"}).empty());
    // A column's name, written out, finds the rows that fill it.
    CHECK(found({"cuda-12.4", "targets"}) == std::vector<std::string>{"cuda-12.4"});
    CHECK(found({"470", "targets"}).empty());
    CHECK(found({"cuda-12.4", "target"}).empty());
    const auto one = search_facts(facts.report(), {"9.0a"});
    CHECK(facts_search_text(facts.report(), one) ==
          "cuda-12.4 (table cuda_toolkits, measured)\n"
          "  ptx_isa: 8.4; targets: 5.0, 5.2, 9.0a; note: first release of the branch\n"
          "\n"
          "1 row with 9.0a; `cudamatrix facts show ID` shows one with its source\n");
    CHECK(facts_search_text(facts.report(), search_facts(facts.report(), {"a", "zzz"})) ==
          "0 rows with a and zzz; `cudamatrix facts show ID` shows one with its source\n");
    const auto json = parse_json(facts_search_json(facts.report(), one), "report");
    REQUIRE(json.ok());
    CHECK(json->at("words") == Json({"9.0a"}));
    CHECK(json->at("rows").at(0).at("id") == "cuda-12.4");
    CHECK(json->at("rows").at(0).at("columns").at("targets") == Json({"5.0", "5.2", "9.0a"}));
}

TEST_CASE("facts check: counts") {
    Knowledge facts;
    CHECK(facts_check_text(facts.report()) ==
          "facts 2026-11-21 0123456789ab: 2 rows in 2 tables, 1 unverified, 0 older than 180 days, 0 "
          "mistakes\n");
    auto later = facts.report();
    later.today = "2027-03-31";  // 181 days after the only row with a date
    CHECK(facts_check_text(later).find(" 1 older than 180 days, ") != std::string::npos);
    later.today = "2027-03-30";
    CHECK(facts_check_text(later).find(" 0 older than 180 days, ") != std::string::npos);
    const auto json = parse_json(facts_check_json(facts.report()), "report");
    REQUIRE(json.ok());
    CHECK(json->at("rows") == 2);
    CHECK(json->at("unverified") == 1);
    CHECK(json->at("old") == 0);
    CHECK(json->at("mistakes") == 0);
}

TEST_CASE("facts: whatever a row of an overlay says, the terminal is safe and the JSON whole") {
    for (const auto& hostile : fixtures::hostile_texts()) {
        Knowledge facts(hostile);
        const auto text = fact_text(facts.report(), "cuda-12.4");
        REQUIRE(text.ok());
        CHECK(fixtures::terminal_safe(text.value()));
        CHECK(text->size() < 10'000);
        const auto json = fact_json(facts.report(), "cuda-12.4");
        REQUIRE(json.ok());
        CHECK(parse_json(json.value(), "report").ok());
        CHECK(fixtures::terminal_safe(refused(fact_text(facts.report(), hostile))));
    }
}
