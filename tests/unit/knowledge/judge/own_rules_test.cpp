// rules: and waive: of the matrix file.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "matrix/matrix_file.hpp"
#include "read_matrix.hpp"
#include "unit/knowledge/rules/rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;
using test::read;

namespace {

Judgement judged(const Matrix& matrix, bool list_cells = true, std::string_view today = kToday) {
    auto judgement = judge(matrix, Facts::embedded(), {std::string(today), 100'000, list_cells});
    REQUIRE(judgement);
    return *std::move(judgement);
}

constexpr const char* kCells =
    "version: 1\naxes:\n  driver: [\"470.161.03\", \"535.183.01\"]\n  cuda: [\"11.8.0\", \"12.4.1\"]\n"
    "set: {platform: gcp}\n";

// Lines of a judgement, cell by cell, asked without any table.
std::string alone(const Matrix& matrix, const Cell& cell) {
    std::string out;
    std::set<std::string> news;
    auto verdict = Verdict::accepted;
    const auto own = own_rules(matrix);
    for (const auto* list : {&all_rules(), &own}) {
        for (const auto& rule : *list) {
            if (!applies(rule, cell)) continue;
            for (const auto& finding : evaluate(rule, cell, Facts::embedded(), kToday)) {
                const Waiver* active = nullptr;
                std::vector<const Waiver*> ended;
                for (const auto& waiver : matrix.waivers) {
                    if (waiver.rule != rule.id || !matches(waiver.when, cell)) continue;
                    if (waiver.until < kToday) {
                        ended.push_back(&waiver);
                    } else if (active == nullptr) {
                        active = &waiver;
                    }
                }
                out += fmt::format("{}{}\n", active != nullptr ? "waived " : "", finding_line(finding));
                if (active != nullptr || finding.verdict() == Verdict::accepted) continue;
                verdict = std::max(verdict, finding.verdict());
                for (const auto* waiver : ended) {
                    verdict = std::max(verdict, Verdict::degraded);
                    const auto line = fmt::format("{} {}", waiver->where.line, to_string(finding.stage));
                    if (news.insert(line).second) out += "ended " + line + "\n";
                }
            }
        }
    }
    return out + std::string(to_string(verdict));
}

std::string listed_lines(const Judgement& judgement, const JudgedCell& cell) {
    std::string out;
    for (const auto id : cell.findings) {
        const auto& group = judgement.findings[id];
        out += group.finding.rule == kWaiverExpired
                   ? fmt::format("ended {} {}\n", group.where.line, to_string(group.finding.stage))
                   : fmt::format("{}{}\n", group.waived ? "waived " : "", finding_line(group.finding));
    }
    return out + std::string(to_string(cell.verdict));
}

// The counts of a judgement that lists its cells, made anew.
std::map<std::string, std::array<std::uint64_t, 6>> rule_counts(const Judgement& judgement) {
    std::map<std::string, std::array<std::uint64_t, 6>> counts;
    for (const auto& cell : judgement.cells) {
        std::set<std::pair<std::string, std::size_t>> seen;
        for (const auto id : cell.findings) {
            const auto& group = judgement.findings[id];
            seen.emplace(group.finding.rule,
                         group.waived ? 5 : static_cast<std::size_t>(group.finding.severity));
        }
        for (const auto& [rule, column] : seen)
            ++counts[rule][column];
    }
    return counts;
}

std::map<std::string, std::array<std::uint64_t, 6>> rule_counts(const std::vector<RuleCount>& rules) {
    std::map<std::string, std::array<std::uint64_t, 6>> counts;
    for (const auto& rule : rules)
        counts[rule.rule] = {rule.cells[0], rule.cells[1], rule.cells[2],
                             rule.cells[3], rule.cells[4], rule.waived};
    return counts;
}

}  // namespace

TEST_CASE("an own rule rejects what does not meet it, with its reason, its place and a way out") {
    const auto matrix = read(std::string(kCells) +
                             "rules: [{id: gcp-driver, when: {platform: gcp}, require: {driver: \"470.*\"}, "
                             "because: image default, source: \"https://example.org/\"}]\n");
    const auto judgement = judged(matrix);
    const auto found =
        std::find_if(judgement.findings.begin(), judgement.findings.end(),
                     [](const FindingGroup& group) { return group.finding.rule == "gcp-driver"; });
    REQUIRE(found != judgement.findings.end());
    CHECK(finding_line(found->finding) ==
          "error: driver 535.183.01 does not meet 470.*, required with platform gcp: image default "
          "[gcp-driver, at container_start]");
    CHECK(found->finding.fix_text() == "driver 470.161.03, or exclude: {driver: \"535.183.01\"}");
    CHECK(found->cells == 2);
    CHECK(found->where.line == 3);
    CHECK(render_finding(*found, matrix.source)
              .find("note: own rule gcp-driver: https://example.org/, matrix.yaml:6\n") != std::string::npos);
    CHECK(judgement.warnings.empty());
}

TEST_CASE("an own rule that asks for a range offers no value that the file does not have") {
    const auto fix = [](const std::string& require) {
        // Findings of own rules view the text of the matrix.
        const auto matrix =
            read("version: 1\nset: {driver: \"470.161.03\"}\nrules: [{id: own, require: {driver: " + require +
                 "}, because: x}]\n");
        const auto judgement = judged(matrix);
        std::string out;
        for (const auto& group : judgement.findings) {
            if (group.finding.rule == "own") out += group.finding.fix_text() + ";";
        }
        return out;
    };
    CHECK(fix("\">=500,<560\"") == ";");
    CHECK(fix("\">=500\"") == ";");
    CHECK(fix("[\">=500,<560\", \">=570\"]") == ";");
    CHECK(fix("[\">=500,<560\", \"570.124.06\"]") == "driver 570.124.06;");
    CHECK(fix("\">=400,<560\"").empty());  // met
}

TEST_CASE("an own rule lists what it lacks, and one that meets no cell is warned of") {
    const auto matrix =
        read(std::string(kCells) +
             "rules:\n  - {id: a, require: {toolkit: \">=1.14\", driver: \">=400\"}, because: x}\n"
             "  - {id: b, when: {platform: aws}, require: {driver: \"1\"}, because: x}\n"
             "  - {id: c, when: {mig: \"2\"}, require: {driver: \"1\"}, because: x}\n");
    const auto judgement = judged(matrix);
    const auto& gaps = judgement.cells[0].not_checked;
    CHECK(std::count(gaps.begin(), gaps.end(), "a: toolkit") == 1);
    CHECK(std::count(gaps.begin(), gaps.end(), "c: mig") == 1);
    REQUIRE(judgement.warnings.size() == 2);
    CHECK(judgement.warnings[0].message == "rule b matches no cell");
    CHECK(judgement.warnings[1].message == "rule c matches no cell: no cell has the field mig");
}

TEST_CASE("ids: those of ours are taken, and a waiver names a rule that exists") {
    const auto refused = [](const std::string& tail) {
        const auto matrix = read(kCells + tail);
        const auto result = judge(matrix, Facts::embedded(), {std::string(kToday)});
        REQUIRE_FALSE(result);
        CHECK(result.failure().code == ExitCode::bad_input);
        const auto& first = result.failure().diagnostics.front();
        return first.message + " | " + first.fix;
    };
    CHECK(refused("rules: [{id: end-of-life, require: {cuda: \"12\"}, because: x}]\n") ==
          "id end-of-life: a rule of cudamatrix has it | give your rule an id of its own");
    CHECK(refused("rules: [{id: waiver-expired, require: {cuda: \"12\"}, because: x}]\n") ==
          "id waiver-expired: a rule of cudamatrix has it | give your rule an id of its own");
    CHECK(refused("waive: [{rule: end-of-lif, because: x, until: 2027-01-01}]\n") ==
          "waive: there is no rule end-of-lif | did you mean end-of-life?");
}

TEST_CASE("ids are among the mistakes of the file: all of them come in one run") {
    const auto result = read_matrix_text(
        "version: 1\nexpect_cells: 2\naxes: {cuda: [\"12.4.1\"]}\n"
        "rules: [{id: end-of-life, require: {cuda: \"12.*\"}, because: x}]\n"
        "waive:\n"
        "  - {rule: end-of-lif, because: x, until: 2027-01-01}\n"
        "  - {rule: Not-An-Id, because: x, until: 2027-13-01}\n",
        "matrix.yaml", mistakes_in_ids);
    REQUIRE(!result);
    std::string text;
    for (const auto& mistake : result.failure().diagnostics)
        text += fmt::format("{}:{}: {}\n", mistake.where.line, mistake.where.column, mistake.message);
    CHECK(text ==
          "4:14: id end-of-life: a rule of cudamatrix has it\n"
          "6:12: waive: there is no rule end-of-lif\n"
          "7:12: invalid rule \"Not-An-Id\": expected the id of a rule such as end-of-life\n"
          "7:42: invalid until \"2027-13-01\": expected a day such as 2027-03-31\n");
    const auto counted = read_matrix_text(
        "version: 1\nexpect_cells: 2\naxes: {cuda: [\"12.4.1\"]}\n"
        "waive: [{rule: end-of-lif, because: x, until: 2027-01-01}]\n",
        "matrix.yaml", mistakes_in_ids);
    REQUIRE(!counted);
    CHECK(counted.failure().diagnostics.size() == 2);  // the count of cells is looked at as well
}

TEST_CASE("a waiver covers its last day, and no day after it") {
    const auto matrix =
        read(std::string(kCells) +
             "waive: [{rule: driver-supports-cuda, when: {cuda: \"12.4.1\"}, because: x, until: "
             "2026-11-21}]\n");
    const auto on = [&](std::string_view day) { return judged(matrix, false, day); };
    CHECK(on("2026-11-21").count(Verdict::rejected) == 0);
    CHECK(on("2026-11-22").count(Verdict::rejected) == 1);
    CHECK(rule_counts(on("2026-11-21").rules).at("driver-supports-cuda")[5] == 2);
    CHECK(rule_counts(on("2026-11-22").rules).at("waiver-expired")[1] ==
          1);  // a note counts for nothing again
}

TEST_CASE("a waiver that has ended is not reported where a later one holds") {
    const auto matrix =
        read(std::string(kCells) +
             "waive:\n"
             "  - {rule: driver-supports-cuda, when: {cuda: \"12.4.1\"}, because: x, until: 2026-01-01}\n"
             "  - {rule: driver-supports-cuda, when: {cuda: \"12.4.1\"}, because: y, until: 2027-01-01}\n");
    for (const bool list_cells : {true, false}) {
        const auto counts = rule_counts(judged(matrix, list_cells, "2026-11-21").rules);
        CHECK(counts.at("driver-supports-cuda")[5] == 2);
        CHECK(counts.count("waiver-expired") == 0);
    }
}

TEST_CASE("two waivers of one finding keep their reasons apart") {
    const auto matrix = read(
        "version: 1\naxes: {platform: [gcp, aws, azure]}\nset: {driver: \"470.161.03\", cuda: \"12.4.1\"}\n"
        "waive:\n"
        "  - {rule: driver-supports-cuda, when: {platform: gcp}, because: tried, until: 2027-01-01}\n"
        "  - {rule: driver-supports-cuda, when: {platform: aws}, because: asked, until: 2027-01-01}\n");
    const auto judgement = judged(matrix);
    std::string reasons;
    for (const auto& cell : judgement.cells) {
        for (const auto id : cell.findings) {
            const auto& group = judgement.findings[id];
            if (group.finding.rule == "driver-supports-cuda")
                reasons += fmt::format("{}: {}\n", cell.cell.get(Field::platform)->text,
                                       group.waived ? group.waived->because : "rejected");
        }
    }
    CHECK(reasons == "gcp: tried\naws: asked\nazure: rejected\n");
}

TEST_CASE("random matrices: tables, counts and each cell judged alone say the same") {
    std::mt19937 random(20261121);
    const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
    const std::vector<std::string> drivers{"\"470.161.03\"", "\"535.183.01\"", "\"580\"", "\"999.1\""},
        cudas{"\"11.8.0\"", "\"12.4.1\"", "\"13.0.2\"", "\"14.9.9\""}, gpus{"T4", "H100", "V100"};
    std::size_t cells = 0, waived = 0;
    for (int round = 0; round < 60; ++round) {
        std::string text = "version: 1\naxes:\n  driver: [" + drivers[0] + ", " + drivers[1] + ", " +
                           drivers[2] + ", " + drivers[3] + "]\n  cuda: [" + cudas[0] + ", " + cudas[1] +
                           ", " + cudas[2] + ", " + cudas[3] +
                           "]\n  gpu: [T4, H100, V100]\nset: {platform: gcp}\n";
        if (random() % 2 == 0) text += "zip: [[driver, cuda]]\n";
        if (random() % 2 == 0)
            text += "exclude: [{gpu: " + pick(gpus) + ", driver: " + pick(drivers) + "}]\n";
        if (random() % 2 == 0)
            text += "include: [{driver: \"570\", gpu: H100, cuda: " + pick(cudas) + ", python: \"3.8\"}]\n";
        text += "rules:\n  - {id: own, when: {gpu: " + pick(gpus) + "}, require: {driver: " + pick(drivers) +
                ", cuda: \"<13\"}, because: x, severity: " + pick({"error", "warning"}) + "}\nwaive:\n";
        for (const auto* rule : {"own", "driver-supports-cuda", "end-of-life", "driver-supports-gpu"}) {
            text +=
                fmt::format("  - {{rule: {}, when: {{gpu: {}, cuda: {}}}, because: x, until: {}}}\n", rule,
                            pick(gpus), pick(cudas), pick({"2026-11-20", "2026-11-21", "2027-01-01"}));
        }
        const auto matrix = read(text);
        const auto judgement = judged(matrix);
        const auto counts = judged(matrix, false);
        for (const auto& cell : judgement.cells)
            REQUIRE_MESSAGE(listed_lines(judgement, cell) == alone(matrix, cell.cell), text);
        REQUIRE(counts.verdicts == judgement.verdicts);
        REQUIRE(rule_counts(counts.rules) == rule_counts(judgement));
        REQUIRE(rule_counts(judgement.rules) == rule_counts(judgement));
        REQUIRE(counts.findings.empty());
        cells += judgement.cells.size();
        for (const auto& group : judgement.findings)
            waived += group.waived ? 1 : 0;
    }
    CHECK(waived > 20);
    MESSAGE(fmt::format("{} cells, {} waived findings", cells, waived));
}
