#include "knowledge/solve/explain.hpp"

#include <algorithm>
#include <filesystem>

#include "folders.hpp"
#include "unit/knowledge/rules/golden_case.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

const std::string kMatrix = R"(version: 1
name: small
axes:
  driver: ["470.161.03", "550.54.15"]
  cuda: ["11.8.0", "12.4.1"]
  python: ["3.9", "3.12"]
  torch: ["1.12.1+cu113", "2.6.0+cu124"]
zip: [[python, torch]]
exclude:
  - {driver: "470.161.03", cuda: "12.4.1"}
set: {gpu: T4}
)";

struct Asked {
    Matrix matrix;
    Facts facts = Facts::embedded();
    Judgement judgement;

    explicit Asked(const std::string& text) : matrix(read_rows(text)) {
        auto judged = judge(matrix, facts, {kToday, 100'000});
        REQUIRE(judged);
        judgement = *std::move(judged);
    }
    [[nodiscard]] Result<Explanation> ask(const std::string& question, std::size_t limit = 10) const {
        return explain(matrix, facts, judgement, kToday, question, limit);
    }
};

Explanation answer(const Asked& asked, const std::string& question, std::size_t limit = 10) {
    auto found = asked.ask(question, limit);
    REQUIRE(found);
    return *std::move(found);
}

}  // namespace

TEST_CASE(
    "every rejected cell of the examples names rule, facts with sources, and a nearest cell that check "
    "accepts") {
    std::size_t rejected = 0;
    for (const auto& folder : golden::cases(std::filesystem::path(source_dir()) / "examples")) {
        const auto matrix = golden::read_case(folder);
        const auto facts = Facts::embedded();
        const auto judgement = golden::judged(matrix);
        for (const auto& cell : judgement.cells) {
            if (cell.verdict != Verdict::rejected) continue;
            CAPTURE(folder.filename().string());
            CAPTURE(cell.id);
            ++rejected;
            const auto found = explain(matrix, facts, judgement, kToday, cell.id, 1);
            REQUIRE(found);
            REQUIRE(found->cells.size() == 1);
            const auto& account = found->cells.front();
            bool named = false;
            for (const auto id : account.cell->findings) {
                const auto& finding = judgement.findings[id].finding;
                if (finding.verdict() != Verdict::rejected) continue;
                named = true;
                CHECK_FALSE(finding.rule.empty());
                CHECK_FALSE(finding.facts.empty());
                for (const auto& fact : finding.facts)
                    CHECK_FALSE(fact.sources.empty());
            }
            CHECK(named);
            REQUIRE_FALSE(account.nearest.cells.empty());
            for (const auto& neighbour : account.nearest.cells) {
                CAPTURE(neighbour.stack.row);
                CHECK(neighbour.steps.size() == account.nearest.cells.front().steps.size());
                const auto verdict = verdict_of_row(neighbour.stack.row, facts);
                CHECK(verdict == neighbour.stack.verdict);
                CHECK(verdict <= kGoodEnough);
            }
        }
    }
    CHECK(rejected >= 40);
}

TEST_CASE("a cell by its values: what passed rests on facts, what lacks a field is listed") {
    const Asked asked(kMatrix);
    const auto found = answer(asked, "cuda=11.8,python=3.9,driver=550");
    REQUIRE(found.cells.size() == 1);
    const auto& account = found.cells.front();
    CHECK(account.cell->verdict <= kGoodEnough);
    CHECK(account.nearest.cells.empty());
    const auto python =
        std::find_if(account.passed.begin(), account.passed.end(),
                     [](const rules::Acceptance& each) { return each.rule == "torch-supports-python"; });
    REQUIRE(python != account.passed.end());
    CHECK(python->sentence == "torch 1.12.1+cu113 has a wheel for python 3.9");
    REQUIRE_FALSE(python->facts.empty());
    CHECK(python->facts.front().id == "torch-1.12.1+cu113-x86_64");
    CHECK_FALSE(account.cell->not_checked.empty());
    CHECK_FALSE(account.silent.empty());
    CHECK(std::find(account.silent.begin(), account.silent.end(), "torch-supports-python") ==
          account.silent.end());
}

TEST_CASE("the nearest cell of one that is rejected changes one field where one is enough") {
    const Asked asked(kMatrix);
    const auto found = answer(asked, "driver=470.161.03,torch=2.6.0");
    REQUIRE(found.cells.size() == 1);
    const auto& account = found.cells.front();
    REQUIRE(account.cell->verdict == Verdict::rejected);
    REQUIRE_FALSE(account.nearest.cells.empty());
    REQUIRE(account.nearest.cells.front().steps.size() == 1);
    CHECK(account.nearest.cells.front().steps.front().name == "torch");
    CHECK(account.nearest.cells.front().steps.front().from == "2.6.0+cu124");
    CHECK(account.nearest.cells.back().steps.front().name == "driver");
}

// torchvision 0.15.0, which is nearer, was yanked.
TEST_CASE("the nearest cell has no release that was yanked") {
    const Asked asked(
        "version: 1\nset: {torch: \"2.0.0\", python: \"3.10\", packages: {torchvision: \"0.14.1\"}}\n");
    const auto found = answer(asked, "torch=2.0.0");
    REQUIRE(found.cells.size() == 1);
    const auto& cells = found.cells.front().nearest.cells;
    const auto changed = std::find_if(cells.begin(), cells.end(), [](const Neighbour& cell) {
        return cell.steps.front().name == "torchvision";
    });
    REQUIRE(changed != cells.end());
    CHECK(changed->steps.front().to == "0.15.1");
}

TEST_CASE("a cell that an exclude leaves out is named with the line, by id and by value") {
    const Asked asked(kMatrix);
    const auto by_value = answer(asked, "driver=470.161.03,cuda=12.4");
    CHECK(by_value.cells.empty());
    REQUIRE(by_value.left_out.size() == 2);
    REQUIRE(by_value.left_out.front().excludes.size() == 1);
    CHECK(by_value.left_out.front().excludes.front().line == 10);
    const auto by_id = answer(asked, by_value.left_out.front().id);
    REQUIRE(by_id.left_out.size() == 1);
    CHECK(by_id.left_out.front().id == by_value.left_out.front().id);
    const auto limited = answer(asked, "driver=470.161.03,cuda=12.4", 1);
    CHECK(limited.left_out.size() == 1);
    CHECK(limited.more_left_out == 1);
}

TEST_CASE("cells by a pattern of ids, and by the digits that end a shortened one") {
    const Asked asked(kMatrix);
    CHECK(answer(asked, "drv550*").cells.size() == 4);
    CHECK(answer(asked, "*py3.1?").cells.size() == 3);
    CHECK_FALSE(asked.ask("drv600*").ok());
    const std::string name(60, 'x');
    const Asked shortened("version: 1\nset: {packages: {a" + name + ": \"1\", b" + name + ": \"1\"}}\n");
    const auto& id = shortened.judgement.cells.front().id;
    CHECK(answer(shortened, id.substr(id.size() - 12)).cells.size() == 1);
    CHECK_FALSE(shortened.ask(id.substr(id.size() - 11)).ok());
    CHECK_FALSE(shortened.ask("0123456789ab").ok());
}

TEST_CASE("a way out is one of the cell that is explained") {
    const Asked asked(
        "version: 1\naxes: {driver: [\"470.161.03\", \"580.65.06\"]}\n"
        "set: {gpu: RTX 5090, torch: 2.6.0+cu124}\n");
    const auto fix_of = [&](const std::string& which) {
        const auto found = answer(asked, which);
        for (const auto& group : found.cells.front().findings) {
            if (group.finding.rule == "torch-ships-compute") return group.finding.fix_text();
        }
        return std::string("?");
    };
    CHECK(fix_of("driver=580") == "torch 2.7.0+cu128");
    CHECK(fix_of("driver=470.161.03") == "torch 2.7.0+cu128 (by itself not enough)");
}

TEST_CASE("what the product never makes: no such value, no such field, apart by zip") {
    const Asked asked(kMatrix);
    CHECK(answer(asked, "cuda=13").absent ==
          std::vector<std::string>{"cuda 13 does not occur in rows.yaml: its values are 11.8.0, 12.4.1"});
    CHECK(answer(asked, "os=debian12,python=3.9").absent ==
          std::vector<std::string>{"rows.yaml does not name the field os"});
    CHECK(answer(asked, "python=3.9,torch=2.6.0").absent ==
          std::vector<std::string>{
              "python 3.9 and torch 2.6.0 occur in rows.yaml, but no cell has all of them: zip or the "
              "rows of include keep them apart"});
    CHECK(answer(asked, "gpu=T4", 2).more_cells == 4);
}

TEST_CASE("a question that means nothing is refused") {
    const Asked asked(kMatrix);
    CHECK(failure_text(asked.ask("drv470.161.03-t4-cu11.8.0-torch1.12.1_cu113-py3.8")) ==
          "cudamatrix: error: rows.yaml has no cell \"drv470.161.03-t4-cu11.8.0-torch1.12.1_cu113-py3.8\", "
          "and no exclude "
          "leaves it out\n"
          "  fix: did you mean drv470.161.03-t4-cu11.8.0-torch1.12.1_cu113-py3.9?\n");
    CHECK(failure_text(asked.ask("x")) ==
          "cudamatrix: error: rows.yaml has no cell \"x\", and no exclude leaves it out\n"
          "  fix: cudamatrix list shows the ids; cuda=11.8,python=3.12 means cells by their values\n");
    CHECK(failure_text(asked.ask("cudda=11.8")) ==
          "cudamatrix: error: invalid values \"cudda=11.8\": expected a field and its value, such as "
          "cuda=11.8\n"
          "  fix: did you mean cuda?\n");
    CHECK(
        failure_text(asked.ask("cuda=11.8,python")) ==
        "cudamatrix: error: invalid values \"python\": expected a field and its value, such as cuda=11.8\n");
    CHECK(failure_text(asked.ask("cuda=12;4,gpu=<3")) ==
          "cudamatrix: error: invalid cuda \"12;4\": expected a version (12.4.1), or 12.4 for its "
          "newest "
          "update\n"
          "cudamatrix: error: gpu: ranges compare versions, but gpu is text: expected a value, a list "
          "or a pattern with '*'\n");
}

TEST_CASE("own rules count, waived ones do not, and only the stages that are asked for") {
    const Asked own(
        kMatrix +
        "rules:\n  - {id: site, when: {driver: \"550.54.15\"}, require: {torch: \">=2.6\"}, because: x}\n");
    const auto found = answer(own, "driver=550,torch=1.12.1,cuda=11.8");
    REQUIRE(found.cells.size() == 1);
    REQUIRE_FALSE(found.cells.front().nearest.cells.empty());
    CHECK(found.cells.front().nearest.cells.front().steps.front().name == "torch");

    const std::string rejected = "version: 1\nset: {driver: \"470.161.03\", torch: 2.6.0+cu124}\n";
    const Asked waived(rejected + "waive: [{rule: driver-supports-cuda, because: x, until: 2027-03-31}]\n");
    CHECK(answer(waived, "driver=470").cells.front().nearest.cells.empty());
    const Asked install(rejected + "stages: [install]\n");
    CHECK(answer(install, "driver=470").cells.front().nearest.cells.empty());
}
