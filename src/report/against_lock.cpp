#include "report/against_lock.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/deciding.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

RecordedVerdict to_record(const JudgedCell& cell, const std::vector<const Finding*>& findings) {
    std::set<std::string> rules;
    for (const auto* finding : findings)
        rules.emplace(finding->rule);
    return {std::string(to_string(cell.verdict)), {rules.begin(), rules.end()}};
}

std::ptrdiff_t badness(std::string_view verdict) {
    return std::ranges::find(kVerdictWords, verdict) - std::begin(kVerdictWords);
}

std::string fix_of(const CheckReport& check) {
    return "cudamatrix lock " + check.matrix.path;
}

std::string rules_text(const RecordedVerdict& verdict) {
    return verdict.rules.empty() ? verdict.verdict
                                 : fmt::format("{} ({})", verdict.verdict, text::join(verdict.rules, ", "));
}

std::string list_text(std::string_view title, const std::vector<std::string>& cells) {
    std::string out;
    for (const auto& cell : cells)
        out += fmt::format("{}: {}\n", title, cell);
    return out;
}

Json verdict_json(const RecordedVerdict& verdict) {
    return Json{{"verdict", verdict.verdict}, {"rules", verdict.rules}};
}

}  // namespace

RecordedVerdicts verdicts_to_record(const Matrix& matrix, const Judgement& judgement) {
    const DecidingStages deciding(matrix);
    RecordedVerdicts out;
    for (const auto& cell : judgement.cells)
        out.emplace(cell.id, to_record(cell, deciding_findings(deciding, cell, judgement)));
    return out;
}

Result<AgainstLock> compare_verdicts(const CheckReport& check, const Lock& lock, std::string_view path) {
    const auto name = text::printable(path);
    if (!lock.verdicts) return input_failure(name + " records no verdicts", fix_of(check));
    AgainstLock out{check, name, lock.facts, {}, {}, {}, 0};
    const DecidingStages deciding(check.matrix);
    std::set<std::string_view> met;
    for (const auto& cell : check.judgement.cells) {
        const auto before = lock.verdicts->find(cell.id);
        if (before == lock.verdicts->end()) {
            out.fresh.push_back(cell.id);
            continue;
        }
        met.insert(before->first);
        if (before->second.verdict == to_string(cell.verdict)) {
            ++out.same;
            continue;
        }
        const auto findings = deciding_findings(deciding, cell, check.judgement);
        MovedVerdict moved{cell.id, before->second, to_record(cell, findings), {}, false};
        moved.worse = badness(moved.now.verdict) > badness(moved.before.verdict);
        for (const auto* finding : findings)
            moved.because.push_back(finding_line(*finding));
        if (findings.empty() && !cell.held.empty()) moved.because.push_back(cell.held);
        out.moved.push_back(std::move(moved));
    }
    for (const auto& each : check.judgement.deployment) {
        if (each.severity == Severity::error) out.errors.push_back(&each);
    }
    for (const auto& [cell, verdict] : *lock.verdicts) {
        if (!met.contains(cell)) out.gone.push_back(cell);
    }
    if (met.empty())
        return input_failure(name + " knows none of the cells of this matrix: nothing can be compared",
                             fix_of(check));
    return out;
}

std::string against_lock_text(const AgainstLock& report) {
    std::string out = host_text(report.check.host);
    for (const auto& moved : report.moved) {
        out += fmt::format("{}: {}: {} -> {}\n", moved.worse ? "worse" : "better", moved.cell,
                           rules_text(moved.before), rules_text(moved.now));
        for (const auto& line : moved.because)
            out += "  " + text::printable(line) + "\n";
    }
    for (const auto* error : report.errors)
        out += render(*error, {});
    out += list_text("new", report.fresh) + list_text("gone", report.gone);
    if (!report.moved.empty()) out += "accept them: " + text::printable(fix_of(report.check)) + "\n";
    out += fmt::format("{}: {} as in {}, {} moved, {} new, {} gone\n", clipped(report.check.matrix.name, 60),
                       text::count(report.same, "verdict"), report.lock, report.moved.size(),
                       report.fresh.size(), report.gone.size());
    if (!report.errors.empty()) {
        out.pop_back();
        out += fmt::format(", {} about images or services\n", text::count(report.errors.size(), "error"));
    }
    return out;
}

std::string against_lock_json(const AgainstLock& report) {
    JsonDocument document(report.check.tool);
    document.member("matrix", matrix_json(report.check));
    if (report.check.host != nullptr) document.member("host", host_json(*report.check.host));
    document.member("lock", Json{{"path", report.lock}, {"facts", report.facts}});
    document.member("same", report.same);
    document.array("moved", report.moved, [](const MovedVerdict& moved) {
        return Json{{"cell", moved.cell},
                    {"change", moved.worse ? "worse" : "better"},
                    {"before", verdict_json(moved.before)},
                    {"now", verdict_json(moved.now)},
                    {"because", moved.because}};
    });
    document.array("errors", report.errors, [](const Diagnostic* error) {
        return Json{{"line", error->where.line}, {"message", error->message}};
    });
    document.array("new", report.fresh, [](const std::string& cell) { return Json(cell); });
    document.array("gone", report.gone, [](const std::string& cell) { return Json(cell); });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
