// Every folder of tests/lint and every matrix that is shipped: the whole text, and every fix that is data
// applied and looked at again. CUDAMATRIX_UPDATE_GOLDEN=1 rewrites the expected texts.
#include "advise/lint/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/facts/lookup.hpp"
#include "read_matrix.hpp"
#include "report/matrix_reports.hpp"

using namespace cudamatrix;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kToday = "2026-11-21";

Matrix read(std::string_view text) {
    return test::read(text, "matrix.yaml", lookup::names_in(Facts::embedded()));
}

// What the checks look at, which stays where it is.
struct Linted {
    explicit Linted(std::string_view text) : matrix(read(text)) {
        auto judged = judge(matrix, facts, {std::string(kToday)});
        REQUIRE(judged);
        judgement = *std::move(judged);
        judge_deployment(matrix, facts, kToday, judgement);
        report = lint::lint({matrix, facts, judgement, kToday});
    }
    Linted(const Linted&) = delete;
    Linted& operator=(const Linted&) = delete;

    [[nodiscard]] std::string text() const { return report::lint_text({matrix, judgement, report, {}, {}}); }
    [[nodiscard]] std::set<std::string> ids() const {
        std::set<std::string> out;
        for (const auto& cell : judgement.cells)
            out.insert(cell.id);
        return out;
    }
    [[nodiscard]] std::size_t to_act_on() const {
        return report.count(Severity::error) + report.count(Severity::warning);
    }

    Facts facts = Facts::embedded();
    Matrix matrix;
    Judgement judgement;
    lint::Report report;
};

// Two entries may have the same fault.
std::ptrdiff_t times(const Linted& linted, const lint::Finding& finding) {
    return std::count_if(
        linted.report.findings.begin(), linted.report.findings.end(),
        [&](const lint::Finding& now) { return now.id == finding.id && now.message == finding.message; });
}

// Applies the edits of every finding, one finding at a time; gives their number.
std::size_t check_edits(const Linted& linted) {
    std::size_t applied = 0;
    for (const auto& finding : linted.report.findings) {
        if (finding.edits.empty()) continue;
        ++applied;
        CAPTURE(finding.message);
        const auto text = edited(linted.matrix.source, finding.edits);
        CAPTURE(text);
        const Linted again(text);
        CHECK(times(again, finding) == times(linted, finding) - 1);
        // It may bring another one to light, as a value gone leaves its exclude idle.
        CHECK(again.to_act_on() <= linted.to_act_on());
        // A name that cannot exist gets another; everything else makes no cell that was not there.
        if (finding.severity == Severity::error || finding.id == "set-field-unused") continue;
        const auto before = linted.ids(), after = again.ids();
        CHECK(std::includes(before.begin(), before.end(), after.begin(), after.end()));
    }
    return applied;
}

std::string slurp(const fs::path& path) {
    auto text = file::read(path, 1u << 20);
    REQUIRE(text);
    return *std::move(text);
}

std::vector<fs::path> cases() {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(fs::path(tests_dir()) / "lint"))
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

TEST_CASE("lint: every case, and every edit applied") {
    const auto folders = cases();
    std::size_t edits = 0;
    std::set<std::string_view> seen;
    for (const auto& folder : folders) {
        CAPTURE(folder.filename().string());
        const Linted linted(slurp(folder / "matrix.yaml"));
        edits += check_edits(linted);
        for (const auto& finding : linted.report.findings)
            seen.insert(finding.id);
        const char* update = std::getenv("CUDAMATRIX_UPDATE_GOLDEN");
        if (update != nullptr && std::string_view(update) == "1") {
            const auto written = file::write(folder / "expected.txt", linted.text());
            REQUIRE(written);
        }
        CHECK(linted.text() == slurp(folder / "expected.txt"));
    }
    MESSAGE(fmt::format("{} cases, {} edits applied", folders.size(), edits));
    CHECK(folders.size() >= 10);
    CHECK(edits >= 20);
    // Each check has a case; the age of the facts comes in as a sentence.
    for (const auto& check : lint::checks()) {
        CAPTURE(std::string(check.id));
        CHECK(seen.contains(check.id) == (check.id != "facts-old"));
    }
}

TEST_CASE("lint: finds each of the planted faults") {
    const Linted linted(slurp(fs::path(tests_dir()) / "lint" / "planted" / "matrix.yaml"));
    std::set<std::string_view> ids;
    for (const auto& finding : linted.report.findings)
        ids.insert(finding.id);
    for (const std::string_view planted :
         {"axis-value-excluded", "same-release-twice", "exclude-matches-nothing", "include-repeats-cell",
          "rule-matches-nothing", "waiver-matches-nothing", "waiver-ended", "waiver-ends-soon",
          "index-cannot-exist", "mirror-unused", "stages-hide-findings"}) {
        CAPTURE(std::string(planted));
        CHECK(ids.contains(planted));
    }
}

TEST_CASE("lint: silent on near misses and on every matrix that is shipped") {
    std::vector<fs::path> files{fs::path(source_dir()) / "matrix" / "default.yaml",
                                fs::path(tests_dir()) / "lint" / "near-misses" / "matrix.yaml"};
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / "examples")) {
        if (fs::exists(entry.path() / "matrix.yaml")) files.push_back(entry.path() / "matrix.yaml");
    }
    for (const auto& path : files) {
        CAPTURE(path.string());
        const Linted linted(slurp(path));
        CHECK_MESSAGE(linted.report.findings.empty(), linted.text());
    }
    CHECK(files.size() >= 8);
}

TEST_CASE("lint: the days before the end of a waiver are the caller's") {
    const std::string text =
        "version: 1\nexpect: {end: true}\nset: {driver: \"535.183.01\"}\n"
        "waive: [{rule: end-of-life, because: agreed, until: 2026-12-01}]\n...\n";
    const Linted linted(text);
    const auto with = [&](unsigned within) {
        return lint::lint({linted.matrix, linted.facts, linted.judgement, kToday, within}).findings.size();
    };
    CHECK(with(10) == 1);
    CHECK(with(9) == 0);
    CHECK(with(0) == 0);
}

TEST_CASE("lint: old facts are a finding of no line") {
    const Linted linted("version: 1\nexpect: {end: true}\nset: {driver: \"580.65.06\"}\n...\n");
    CHECK(linted.report.findings.empty());
    const auto old =
        lint::lint({linted.matrix, linted.facts, linted.judgement, kToday, 30, "facts are 200 days old"});
    REQUIRE(old.findings.size() == 1);
    CHECK(old.findings[0].id == "facts-old");
    CHECK(old.findings[0].where == Location{});
    CHECK(old.findings[0].severity == Severity::warning);
}

TEST_CASE("lint: no edits for a matrix that is not what its file says") {
    const Linted linted(slurp(fs::path(tests_dir()) / "lint" / "planted" / "matrix.yaml"));
    const auto without = lint::lint({linted.matrix, linted.facts, linted.judgement, kToday, 30, {}, false});
    CHECK(without.findings.size() == linted.report.findings.size());
    for (const auto& finding : without.findings)
        CHECK(finding.edits.empty());
}
