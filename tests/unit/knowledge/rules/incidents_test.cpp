// Every folder of tests/incidents: a combination that somebody reported on a public tracker, with its
// outcome. What we say of it must be what happened. The expectation is the report's, written down before our
// own verdict was looked at: where the two differ, a fact or a rule is wrong, or the folder tells of
// something else than the report. An `unknown:` line names the fact that is truly missing; once it is there,
// the line must go.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/finding/finding_text.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

namespace fs = std::filesystem;

const JudgeOptions kOptions{"2026-11-21", 100'000};

constexpr std::string_view kWorks = "accepted or degraded";  // with `stage: any`: over all stages

/// What the public report says, from expected.txt.
struct Report {
    std::string link;
    std::string stage;  ///< a stage, or "any" for a combination that was reported to work
    std::string verdict;
    std::string because;
    std::string missing;  ///< `unknown:` the fact that nobody published, for want of which we cannot judge
};

struct Incident {
    std::string folder;
    Report report;
    Matrix matrix;
};

std::vector<fs::path> folders() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(fs::path(tests_dir()) / "incidents")) {
        if (entry.is_directory()) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string file_text(const fs::path& path) {
    auto text = file::read(path, 1u << 20);
    CHECK_MESSAGE(text, fmt::format("cannot read {}", path.filename().string()));
    return text ? *std::move(text) : std::string{};
}

Report read_report(const fs::path& folder) {
    Report report;
    const std::map<std::string_view, std::string*> keys{{"link", &report.link},
                                                        {"stage", &report.stage},
                                                        {"verdict", &report.verdict},
                                                        {"because", &report.because},
                                                        {"unknown", &report.missing}};
    for (const auto& line : text::split(file_text(folder / "expected.txt"), '\n')) {
        if (text::trim(line).empty()) continue;
        const auto colon = line.find(':');
        const auto key = keys.find(std::string_view(line).substr(0, colon));
        const bool known = colon != std::string::npos && key != keys.end() && key->second->empty();
        CHECK_MESSAGE(known, fmt::format("unknown or repeated line: {}", line));
        if (known) *key->second = text::trim(std::string_view(line).substr(colon + 1));
    }
    return report;
}

const std::vector<std::string>& stage_names() {
    static const auto names = [] {
        std::vector<std::string> list;
        for (std::size_t s = 0; s < kStageCount; ++s)
            list.emplace_back(to_string(static_cast<Stage>(s)));
        return list;
    }();
    return names;
}

// The stage's place in Judgement's arrays; kStageCount for "any".
std::size_t stage_index(const Report& report) {
    const auto& names = stage_names();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), report.stage) - names.begin());
}

void check_words(const std::string& folder, const Report& report) {
    CHECK_MESSAGE((report.link.starts_with("https://") && report.link.find(' ') == std::string::npos),
                  report.link);
    CHECK_FALSE(report.because.empty());
    if (report.stage == "any") {
        CHECK(report.verdict == kWorks);
        CHECK(folder.starts_with("works-"));
    } else {
        CHECK_MESSAGE(stage_index(report) < kStageCount, report.stage);
        const std::array<std::string_view, 3> verdicts{"rejected", "degraded", "accepted"};
        CHECK_MESSAGE(std::find(verdicts.begin(), verdicts.end(), report.verdict) != verdicts.end(),
                      report.verdict);
        CHECK(folder.starts_with(report.stage + "-"));
    }
}

// One thread may tell of what failed and of what worked instead.
std::vector<Incident> read_all() {
    std::vector<Incident> incidents;
    std::set<std::string> names;
    for (const auto& path : folders()) {
        const auto folder = path.filename().string();
        CAPTURE(folder);
        auto report = read_report(path);
        check_words(folder, report);
        const auto yaml = file_text(path / "matrix.yaml");
        auto matrix = read_matrix_text(yaml, "matrix.yaml");
        if (!matrix) {
            for (const auto& diagnostic : matrix.failure().diagnostics)
                FAIL_CHECK(render(diagnostic, yaml));
            continue;
        }
        CHECK_MESSAGE(names.insert(matrix->name).second,
                      fmt::format("the name is used twice: {}", matrix->name));
        incidents.push_back({folder, std::move(report), *std::move(matrix)});
    }
    return incidents;
}

Verdict actual_verdict(const JudgedCell& cell, const Report& report) {
    const auto index = stage_index(report);
    return index < kStageCount ? cell.stages[index] : cell.verdict;
}

bool as_reported(Verdict actual, const Report& report) {
    if (report.verdict == kWorks) return actual == Verdict::accepted || actual == Verdict::degraded;
    return to_string(actual) == report.verdict;
}

// The folder, what was reported, what we say at every stage and the findings.
std::string difference(const Incident& incident, const Judgement& judgement, const JudgedCell& cell) {
    const auto& report = incident.report;
    std::string stages;
    for (std::size_t s = 0; s < kStageCount; ++s)
        stages += fmt::format("{}{} {}", s == 0 ? "" : ", ", stage_names()[s], to_string(cell.stages[s]));
    auto text = fmt::format("{}\n  {}\n  reported: {} at {}: {}\n  judged: {}\n", incident.folder,
                            report.link, report.verdict, report.stage, report.because, stages);
    for (const auto& group : judgement.findings)
        text += render_finding(group, incident.matrix.source);
    if (judgement.findings.empty()) text += "  no findings\n";
    for (const auto gap : cell.not_checked)
        text += fmt::format("  not checked: {}\n", gap);
    return text;
}

}  // namespace

TEST_CASE("incidents: what was reported is what we say") {
    const auto incidents = read_all();
    std::map<std::string, std::size_t> at_stage;
    std::set<std::string> links;
    std::size_t misjudged = 0;
    std::size_t unknown = 0;
    for (const auto& incident : incidents) {
        CAPTURE(incident.folder);
        ++at_stage[incident.report.stage];
        links.insert(incident.report.link);
        const auto judgement = judge(incident.matrix, Facts::embedded(), kOptions);
        REQUIRE(judgement);
        CHECK_MESSAGE(judgement->cells.size() == 1, "an incident is one combination");
        if (judgement->cells.empty()) continue;
        const auto& cell = judgement->cells.front();
        const auto actual = actual_verdict(cell, incident.report);
        const bool missing = !incident.report.missing.empty();
        if (missing && actual == Verdict::unknown) ++unknown;
        if (missing ? actual == Verdict::unknown : as_reported(actual, incident.report)) continue;
        ++misjudged;
        FAIL_CHECK(difference(incident, *judgement, cell));
    }

    std::string counts;
    for (const auto& stage : stage_names())
        counts += fmt::format("{} {}, ", stage, at_stage[stage]);
    const auto accepts = at_stage["any"];
    MESSAGE(fmt::format("{} of {}: {}accepts {}; misjudged {}, unknown {}",
                        text::count(incidents.size(), "incident"), text::count(links.size(), "thread"),
                        counts, accepts, misjudged, unknown));
    CHECK(links.size() >= 100);
    CHECK(unknown <= incidents.size() / 20);
    CHECK(3 * accepts >= incidents.size());
    for (const auto& stage : stage_names()) {
        CAPTURE(stage);
        CHECK(at_stage[stage] >= 8);
    }
}
