#include "report/upgrade.hpp"

#include <algorithm>

#include "advise/diff/diff.hpp"
#include "base/text.hpp"
#include "report/diff.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

diff::Diff diff_of(const UpgradeReport& report) {
    diff::Diff diff;
    diff.before = report.matrix.path;
    diff.now = upgrade::to_string(report.outcome.aim);
    diff.cells = report.outcome.changes;
    diff.compared = true;
    return diff;
}

// "torch  2.5.1+cu124 -> 2.6.0+cu124"
std::string step_lines(const std::vector<upgrade::Step>& steps) {
    std::size_t widest = 0;
    for (const auto& step : steps)
        widest = std::max(widest, step.field.size());
    std::string out;
    for (const auto& step : steps)
        out += fmt::format("  {:{}}  {}\n", step.field, widest, upgrade_step_text(step));
    return out;
}

}  // namespace

std::string upgrade_step_text(const upgrade::Step& step) {
    return step.before.empty() ? step.now + " is added"
           : step.now.empty()  ? step.before + " is dropped"
                               : fmt::format("{} -> {}", step.before, step.now);
}

std::string upgrade_text(const UpgradeReport& report) {
    const auto& outcome = report.outcome;
    const auto name = text::printable(report.matrix.path);
    if (outcome.steps.empty())
        return fmt::format("{}: nothing moves in {}\n", upgrade::to_string(outcome.aim), name);
    auto out = fmt::format("{}: {} of {}\n{}", upgrade::to_string(outcome.aim),
                           text::count(outcome.steps.size(), "change"), name, step_lines(outcome.steps));
    if (outcome.source.empty()) return out + fmt::format("not edited: {}\n", outcome.refusal);
    out += "\n" + diff_text({diff_of(report), report.tool, report.text});
    out += fmt::format("cells afterwards: {}\n", verdict_counts(outcome.verdicts));
    for (const auto& cell : outcome.lost)
        out += fmt::format("kept cell lost: {}\n", text::printable(cell));
    if (report.written) return out + fmt::format("written: {}\n", name);
    return out + "\n" + upgrade_patch(report);
}

Json upgrade_step_json(const upgrade::Step& step) {
    return Json{{"field", step.field}, {"before", step.before}, {"now", step.now}};
}

std::string upgrade_json(const UpgradeReport& report) {
    const auto& outcome = report.outcome;
    JsonDocument document(report.tool);
    document.member("matrix", report.matrix.path);
    document.member("aim", upgrade::to_string(outcome.aim));
    document.array("steps", outcome.steps, upgrade_step_json);
    document.member("written", report.written);
    document.member("refusal", outcome.refusal);
    document.member("source", outcome.source);
    document.member("counts", verdicts_json(outcome.verdicts));
    document.array("lost", outcome.lost, [](const std::string& cell) { return Json(cell); });
    add_cell_changes(document, outcome.changes);
    return std::move(document).finish();
}

std::string upgrade_patch(const UpgradeReport& report) {
    if (report.outcome.source.empty()) return {};
    return unified_diff(report.matrix.source, report.outcome.source, report.matrix.path, report.matrix.path);
}

}  // namespace cudamatrix::report
