#include "report/against_lock.hpp"

#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/diff.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

std::string fix_of(const CheckReport& check) {
    return "cudamatrix lock " + check.matrix.path;
}

}  // namespace

Result<AgainstLock> compare_verdicts(const CheckReport& check, const Lock& lock, std::string_view path) {
    const auto name = text::printable(path);
    if (!lock.verdicts) return input_failure(name + " records no verdicts", fix_of(check));
    AgainstLock out{check, name, lock.facts,
                    diff::compare_verdicts(diff::recorded_verdicts(*lock.verdicts),
                                           diff::judged_verdicts(check.matrix, check.judgement))};
    for (const auto& each : check.judgement.deployment) {
        if (each.severity == Severity::error) out.errors.push_back(&each);
    }
    if (out.cells.same == 0 && out.cells.moved.empty())
        return input_failure(name + " knows none of the cells of this matrix: nothing can be compared",
                             fix_of(check));
    return out;
}

std::string against_lock_text(const AgainstLock& report) {
    std::string out = host_text(report.check.host);
    for (const auto& moved : report.cells.moved) {
        out += fmt::format("{}: {}: {} -> {}\n", moved.worse ? "worse" : "better", moved.cell,
                           verdict_text(moved.before), verdict_text(moved.now));
        for (const auto& line : moved.because)
            out += "  " + text::printable(line) + "\n";
    }
    for (const auto* error : report.errors)
        out += render(*error, {});
    for (const auto& fresh : report.cells.fresh)
        out += fmt::format("new: {}\n", fresh.cell);
    for (const auto& cell : report.cells.gone)
        out += fmt::format("gone: {}\n", cell);
    if (!report.cells.moved.empty()) out += "accept them: " + text::printable(fix_of(report.check)) + "\n";
    out += fmt::format("{}: {} as in {}, {} moved, {} new, {} gone\n", clipped(report.check.matrix.name, 60),
                       text::count(report.cells.same, "verdict"), report.lock, report.cells.moved.size(),
                       report.cells.fresh.size(), report.cells.gone.size());
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
    document.member("same", report.cells.same);
    document.array("moved", report.cells.moved, [](const diff::MovedVerdict& moved) {
        return Json{{"cell", moved.cell},
                    {"change", moved.worse ? "worse" : "better"},
                    {"before", verdict_json(moved.before)},
                    {"now", verdict_json(moved.now)},
                    {"because", moved.because}};
    });
    document.array("errors", report.errors, [](const Diagnostic* error) {
        return Json{{"line", error->where.line}, {"message", error->message}};
    });
    document.array("new", report.cells.fresh, [](const diff::FreshCell& fresh) { return Json(fresh.cell); });
    document.array("gone", report.cells.gone, [](const std::string& cell) { return Json(cell); });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
