// Every file of tests/incidents: a combination that somebody reported on a public tracker, with its outcome.
// What we say of it must be what happened. The expectation is the report's, written down before our own
// verdict was looked at: where the two differ, a fact or a rule is wrong, or the file tells of something else
// than the report. The key `unknown` names the fact that is truly missing; once it is there, the key must go.
// The key `today` is the verdict that we wrongly give still: it must go with the mistake.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "matrix/yaml.hpp"

using namespace cudamatrix;

namespace {

namespace fs = std::filesystem;

const JudgeOptions kOptions{"2026-11-21", 100'000};

constexpr std::string_view kWorks = "accepted or degraded";  // with `stage: any`: over all stages

/// What the public report says.
struct Report {
    std::string link;
    std::string stage;  ///< a stage, or "any" for a combination that was reported to work
    std::string verdict;
    std::string because;
    std::string missing;  ///< `unknown:` the fact that nobody published, for want of which we cannot judge
    std::string today;    ///< the verdict that we give instead: an open mistake
};

struct Incident {
    std::string id;
    Report report;
    Matrix matrix;
};

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

using Problems = std::vector<std::string>;

// Reads every key but `cell`.
Incident read_keys(const yaml::Node& file, Problems& problems) {
    Incident incident;
    auto& report = incident.report;
    const std::map<std::string_view, std::string*> keys{
        {"id", &incident.id},         {"link", &report.link},       {"stage", &report.stage},
        {"verdict", &report.verdict}, {"because", &report.because}, {"unknown", &report.missing},
        {"today", &report.today}};
    for (const auto& [key, value] : file.members) {
        if (const auto known = keys.find(key.text); known != keys.end())
            *known->second = value.text;
        else if (key.text != "cell")
            problems.push_back("unknown key " + key.text);
    }
    for (const auto& [key, value] : keys) {
        const bool may_lack = key == "unknown" || key == "today";
        if (value->empty() && (!may_lack || file.find(key) != nullptr))
            problems.push_back(fmt::format("no {}", key));
    }
    if (file.members.empty() || file.members.back().first.text != "cell" || file.members.back().first.quoted)
        problems.push_back("the last key is not cell");
    return incident;
}

void check_words(const Incident& incident, std::string_view stem, Problems& problems) {
    const auto require = [&](bool holds, std::string_view what) {
        if (!holds) problems.emplace_back(what);
    };
    const auto& [link, stage, verdict, because, missing, today] = incident.report;
    require(incident.id == stem, "the id is not the file's name");
    require(link.starts_with("https://") && link.find(' ') == std::string::npos,
            "the link is no https:// URL");
    if (stage == "any") {
        require(verdict == kWorks, "the verdict at stage any is not accepted or degraded");
        require(stem.starts_with("works-"), "the name does not begin with works-");
    } else {
        require(stage_index(incident.report) < kStageCount, "no such stage");
        require(verdict == "rejected" || verdict == "degraded" || verdict == "accepted", "no such verdict");
        require(stem.starts_with(stage + "-"), "the name does not begin with the stage");
    }
}

// The cell as a matrix: what `cell` holds is under `set`, at the same line and column as in the file.
std::string matrix_text(std::string_view source) {
    const auto cell = source.find("\ncell:");
    const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(cell), '\n');
    return fmt::format("version: 1\nname: incident\n{}set: {}",
                       std::string(static_cast<std::size_t>(std::max(lines - 1, std::ptrdiff_t{0})), '\n'),
                       source.substr(cell + std::string_view("\ncell:").size()));
}

Problems rendered(const Failure& failure, std::string_view source) {
    Problems problems;
    for (const auto& diagnostic : failure.diagnostics)
        problems.push_back(render(diagnostic, source));
    return problems;
}

// The incident of one file, or every problem of the file, each with its name.
std::variant<Incident, Problems> read_incident(const std::string& stem, const std::string& source) {
    const auto name = stem + ".yaml";
    const auto file = yaml::parse(source, name);
    if (!file) return rendered(file.failure(), source);
    Problems problems;
    auto incident = read_keys(*file, problems);
    if (problems.empty()) check_words(incident, stem, problems);
    for (auto& problem : problems)
        problem.insert(0, name + ": ");
    if (!problems.empty()) return problems;
    const auto yaml = matrix_text(source);
    auto matrix = read_matrix_text(yaml, name);
    if (!matrix) return rendered(matrix.failure(), yaml);
    incident.matrix = *std::move(matrix);
    return incident;
}

// One thread may tell of what failed and of what worked instead.
std::vector<Incident> read_all() {
    std::vector<Incident> incidents;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(tests_dir()) / "incidents"))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
        const auto name = path.filename().string();
        const auto text = file::read(path, 1u << 20);
        CHECK_MESSAGE((text && path.extension() == ".yaml"), fmt::format("{} is no incident's file", name));
        if (!text) continue;
        auto read = read_incident(path.stem().string(), *text);
        if (auto* incident = std::get_if<Incident>(&read))
            incidents.push_back(std::move(*incident));
        else
            for (const auto& problem : std::get<Problems>(read))
                FAIL_CHECK(problem);
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

// The id, what was reported, what we say at every stage and the findings.
std::string difference(const Incident& incident, const Judgement& judgement, const JudgedCell& cell) {
    const auto& report = incident.report;
    std::string stages;
    for (std::size_t s = 0; s < kStageCount; ++s)
        stages += fmt::format("{}{} {}", s == 0 ? "" : ", ", stage_names()[s], to_string(cell.stages[s]));
    auto text = fmt::format("{}\n  {}\n  reported: {} at {}: {}\n  judged: {}\n", incident.id, report.link,
                            report.verdict, report.stage, report.because, stages);
    for (const auto& group : judgement.findings)
        text += render_finding(group, incident.matrix.source);
    if (judgement.findings.empty()) text += "  no findings\n";
    for (const auto gap : cell.not_checked)
        text += fmt::format("  not checked: {}\n", gap);
    return text;
}

}  // namespace

TEST_CASE("incidents: a malformed file is refused by name") {
    const auto problems = [](const std::string& source) {
        const auto read = read_incident("build-a", source);
        const auto* list = std::get_if<Problems>(&read);
        return list == nullptr ? std::string("(none)") : text::join(*list, "; ");
    };
    const std::string keys =
        "id: build-a\nlink: https://example.org/1\nstage: build\nverdict: rejected\nbecause: it is old\n";
    CHECK(problems(keys + "cell: {cuda: \"12.8\"}\n") == "(none)");
    CHECK(problems(keys + "cell:\n  cuda: \"12.8\"\n") == "(none)");
    CHECK(problems(keys) == "build-a.yaml: the last key is not cell");
    CHECK(problems("id: build-a\nwhy: x\ncell: {}\n") ==
          "build-a.yaml: unknown key why; build-a.yaml: no because; build-a.yaml: no link; "
          "build-a.yaml: no stage; build-a.yaml: no verdict");
    CHECK(problems(keys + "unknown:\ncell: {}\n") == "build-a.yaml: no unknown");
    CHECK(problems(text::replace_all(keys, "id: build-a", "id: b") + "cell: {}\n") ==
          "build-a.yaml: the id is not the file's name");
    CHECK(problems(text::replace_all(keys, "rejected", "bad") + "cell: {}\n") ==
          "build-a.yaml: no such verdict");
    CHECK(problems(keys + keys + "cell: {}\n").starts_with("build-a.yaml:6:1: error: "));
    CHECK(problems(keys + "cell: {cuba: \"12.8\"}\n").starts_with("build-a.yaml:6:8: error: "));
}

TEST_CASE("incidents: what was reported is what we say") {
    const auto incidents = read_all();
    std::map<std::string, std::size_t> at_stage;
    std::set<std::string> links;
    std::size_t misjudged = 0;
    std::size_t unknown = 0;
    std::size_t open = 0;
    for (const auto& incident : incidents) {
        CAPTURE(incident.id);
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
        const auto& today = incident.report.today;
        if (!today.empty() && today == to_string(actual)) ++open;
        if (!today.empty() ? today == to_string(actual) && !as_reported(actual, incident.report)
            : missing      ? actual == Verdict::unknown
                           : as_reported(actual, incident.report))
            continue;
        ++misjudged;
        FAIL_CHECK(difference(incident, *judgement, cell));
    }

    std::string counts;
    for (const auto& stage : stage_names())
        counts += fmt::format("{} {}, ", stage, at_stage[stage]);
    const auto accepts = at_stage["any"];
    MESSAGE(fmt::format("{} of {}: {}accepts {}; misjudged {}, unknown {}, open {}",
                        text::count(incidents.size(), "incident"), text::count(links.size(), "thread"),
                        counts, accepts, misjudged, unknown, open));
    CHECK(links.size() >= 100);
    CHECK(unknown <= incidents.size() / 20);
    CHECK(3 * accepts >= incidents.size());
    for (const auto& stage : stage_names()) {
        CAPTURE(stage);
        CHECK(at_stage[stage] >= 8);
    }
}
