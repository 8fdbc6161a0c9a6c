#include "report/audit.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/sarif.hpp"

namespace cudamatrix::report {
namespace {

std::string tag_of(const audit::Line& line) {
    return line.stage ? fmt::format("{}, at {}", line.id, to_string(*line.stage)) : std::string(line.id);
}

const sources::Source* source_of(const AuditReport& report, const Location& where) {
    const auto found = std::ranges::find(report.read.files, where.file, &sources::Source::path);
    return found == report.read.files.end() ? nullptr : &*found;
}

std::array<std::uint64_t, 4> verdicts_of(const AuditReport& report) {
    std::array<std::uint64_t, 4> out{};
    for (const auto& audited : report.stacks) {
        for (const auto& cell : audited.judgement.cells)
            ++out[static_cast<std::size_t>(cell.verdict)];
    }
    return out;
}

// "3 files, 2 stacks: 1 accepted, 1 rejected; 1 mistake; 4 things not judged".
std::string audit_summary(const AuditReport& report) {
    auto out =
        text::count(report.read.files.size(), "file") + ", " + text::count(report.stacks.size(), "stack");
    if (const auto verdicts = verdict_counts(verdicts_of(report)); !verdicts.empty()) out += ": " + verdicts;
    if (!report.read.findings.empty()) out += "; " + text::count(report.read.findings.size(), "mistake");
    if (!report.read.skipped.empty())
        out += "; " + text::count(report.read.skipped.size(), "thing") + " not judged";
    return out;
}

std::string place(const Location& where) {
    if (where.line == 0) return text::printable(where.file);
    return fmt::format("{}:{}:{}", text::printable(where.file), where.line, where.column);
}

std::string verdict_of(const Judgement& judgement) {
    return judgement.cells.empty() ? "nothing to judge" : std::string(to_string(judgement.cells[0].verdict));
}

std::string decided_by(const audit::Judged& audited, const AuditReport& report) {
    if (audited.judgement.cells.empty()) return {};
    const CheckReport one{audited.stack.matrix, audited.judgement, report.tool, report.text};
    return listed_cells(one)[0][2];
}

std::string indented(std::string_view text) {
    std::string out;
    for (const auto& line : text::split(text, '\n')) {
        if (!line.empty()) out += "  " + line + "\n";
    }
    return out;
}

}  // namespace

std::string audit_text(const AuditReport& report) {
    std::string out;
    std::size_t notes = 0;
    for (const auto& line : report.lines) {
        if (line.severity == Severity::note && !report.text.verbose) {
            ++notes;
            continue;
        }
        Diagnostic shown{
            line.severity, line.where, fmt::format("{} [{}]", line.message, tag_of(line)), {}, line.fix};
        const auto* source = source_of(report, line.where);
        if (report.text.verbose)
            shown.notes = line.group != nullptr ? fact_notes(line.group->finding)
                                                : std::vector{std::string(line.source)};
        out += render(
            shown,
            report.text.verbose && source != nullptr ? std::string_view(source->text) : std::string_view(),
            report.text.colour);
    }
    if (!out.empty()) out += "\n";
    TextTable table({{"STACK"}, {"VERDICT"}, {"DECIDED BY"}});
    for (const auto& audited : report.stacks)
        table.add({text::printable(audited.stack.name), verdict_of(audited.judgement),
                   decided_by(audited, report)});
    if (!table.empty())
        out += table.render_lines(report.text.cut ? report.text.width : 1'000'000, report.text.colour) + "\n";
    std::string said;
    for (const auto& audited : report.stacks) {
        for (const auto& note : audited.stack.notes)
            said += fmt::format("  {}: {}\n", text::printable(audited.stack.name), note);
    }
    if (!said.empty()) out += "What pip would choose:\n" + said + "\n";
    if (!report.read.skipped.empty()) {
        out += "Not judged:\n";
        for (const auto& skipped : report.read.skipped)
            out += fmt::format("  {}: {}: {}\n", place(skipped.where), text::printable(skipped.what),
                               text::printable(skipped.why));
        out += "\n";
    }
    if (!report.matrix.empty())
        out += "As a matrix file, which `cudamatrix check` takes:\n" + indented(report.matrix) + "\n";
    return out + audit_summary(report) +
           (notes == 0 ? "" : fmt::format("; -v shows {}", text::count(notes, "note"))) + "\n";
}

std::string audit_json(const AuditReport& report) {
    JsonDocument document(report.tool);
    document.member("verdicts", verdicts_json(verdicts_of(report)));
    document.array("files", report.read.files, [](const auto& file) {
        return Json{{"path", file.path}, {"kind", to_string(file.kind)}};
    });
    document.array("stacks", report.stacks, [&](const audit::Judged& audited) {
        Json out{{"name", audited.stack.name},
                 {"file", audited.stack.file},
                 {"verdict", nullptr},
                 {"fields", Json::object()},
                 {"notes", audited.stack.notes}};
        if (audited.judgement.cells.empty()) return out;
        const auto& cell = audited.judgement.cells[0];
        out["verdict"] = to_string(cell.verdict);
        out["stages"] = stages_json(cell);
        out["fields"] = fields_json(cell.cell);
        return out;
    });
    document.array("findings", report.lines, [](const audit::Line& line) {
        Json out{{"id", line.id},           {"severity", to_string(line.severity)},
                 {"message", line.message}, {"file", line.where.file},
                 {"line", line.where.line}, {"column", line.where.column},
                 {"fix", line.fix}};
        if (line.group == nullptr) {
            out["source"] = line.source;
            return out;
        }
        out["stage"] = to_string(*line.stage);
        out["stack"] = line.stack;
        out["fixes"] = fixes_json(line.group->finding);
        out["facts"] = facts_json(line.group->finding.facts);
        return out;
    });
    document.array("not_judged", report.read.skipped, [](const auto& skipped) {
        return Json{{"what", text::printable(skipped.what)},
                    {"why", text::printable(skipped.why)},
                    {"file", skipped.where.file},
                    {"line", skipped.where.line},
                    {"column", skipped.where.column}};
    });
    document.member("matrix", report.matrix);
    return std::move(document).finish();
}

std::string audit_github(const AuditReport& report) {
    std::string out;
    for (const auto& line : report.lines) {
        std::vector<std::string> lines{line.message};
        if (!line.fix.empty()) lines.push_back("fix: " + line.fix);
        const auto prefix = line.severity == Severity::unknown ? "unknown: " : "";
        out += github_annotation(github_command(line.severity), line.where,
                                 fmt::format("{}{}", prefix, tag_of(line)), lines);
    }
    return out + "cudamatrix audit: " + audit_summary(report) + "\n";
}

std::string audit_sarif(const AuditReport& report) {
    Matrix first;  // whose name stands for the whole
    if (!report.read.files.empty()) {
        first.path = report.read.files.front().path;
        first.source = report.read.files.front().text;
    }
    SarifLog log{"audit", first, report.tool, report.folder, {}, {}};
    for (const auto& mistake : audit::mistakes())
        log.rules.push_back({std::string(mistake.id), std::string(mistake.about), {}, {}, mistake.severity});
    for (const auto& rule : rules::all_rules())
        log.rules.push_back({std::string(rule.id), std::string(rule.summary), std::string(rule.why)});
    for (const auto& line : report.lines) {
        auto where = line.where;
        if (where.line == 0) {  // of the machine, or of an image: code scanning wants a file
            where = {report.read.files.empty() ? where.file : report.read.files.front().path, 1, 1, 1};
        }
        SarifResult out{std::string(line.id), line.severity, {line.message}, where, {}};
        if (!line.fix.empty()) out.lines.push_back("fix: " + line.fix);
        out.identity = fmt::format("{}\n{}\n{}", line.where.file, line.stack, line.message);
        out.properties = Json{{"severity", to_string(line.severity)}};
        if (line.group != nullptr) {
            out.properties["stage"] = to_string(*line.stage);
            out.properties["facts"] = facts_json(line.group->finding.facts);
        }
        log.results.push_back(std::move(out));
    }
    return sarif_text(std::move(log));
}

}  // namespace cudamatrix::report
