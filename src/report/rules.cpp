#include "report/knowledge_reports.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "matrix/matrix_file.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kRuleLines = 20;

// What the rule itself says about its example; the matrix lives no longer than this, the findings do.
std::vector<Finding> findings_of_example(const RulesReport& report, const rules::Rule& rule) {
    const auto matrix =
        read_matrix_text(fmt::format("version: 1\nset: {{{}}}\n", rule.fails), "example.yaml");
    std::vector<Finding> findings;
    if (!matrix.ok()) return findings;  // a unit test reads every example
    for_each_cell(*matrix, [&](const Cell& cell) {
        if (rules::applies(rule, cell)) findings = rules::evaluate(rule, cell, report.facts, report.today);
        return false;
    });
    return findings;
}

std::vector<std::string> names_of_fields(FieldSet fields) {
    std::vector<std::string> names;
    for (const auto& field : all_fields()) {
        if (fields.contains(field.field)) names.emplace_back(field.name);
    }
    return names;
}

std::string paragraph(std::string_view title, std::string_view text, std::size_t width) {
    return fmt::format("{}:\n", title) + wrapped(text, 2, width, kRuleLines);
}

// A rule with the findings of its failing example.
struct ShownRule {
    const rules::Rule* rule = nullptr;
    std::vector<std::string> reads;  // names of fields
    std::vector<std::string> needs;  // "gpu or compute"
    std::vector<Finding> findings;
};

Result<ShownRule> shown_rule(const RulesReport& report, std::string_view id) {
    const auto found =
        std::ranges::find_if(report.rules, [&](const rules::Rule& rule) { return rule.id == id; });
    if (found == report.rules.end()) {
        std::vector<std::string> ids;
        for (const auto& rule : report.rules)
            ids.emplace_back(rule.id);
        const auto near = id.size() > 100 ? std::nullopt : text::did_you_mean(id, ids);
        return input_failure(
            fmt::format("there is no rule \"{}\"", clipped(id, 100)),
            near ? fmt::format("did you mean {}?", *near) : "`cudamatrix rules list` lists them");
    }
    ShownRule shown{&*found, names_of_fields(found->reads), {}, findings_of_example(report, *found)};
    for (const auto need : found->needs)
        shown.needs.push_back(text::join(names_of_fields(need), " or "));
    return shown;
}

}  // namespace

std::string rules_text(const RulesReport& report) {
    std::array<std::size_t, kStageCount> counts{};
    std::string out;
    for (const auto& rule : report.rules) {
        ++counts[static_cast<std::size_t>(rule.stage)];
        out += fmt::format("{} [{}]\n", rule.id, to_string(rule.stage)) +
               wrapped(rule.summary, 2, report.text.width, kRuleLines);
    }
    std::vector<std::string> parts;
    for (std::size_t s = 0; s < kStageCount; ++s) {
        if (counts[s] != 0)
            parts.push_back(fmt::format("{} at {}", counts[s], to_string(static_cast<Stage>(s))));
    }
    return out + (out.empty() ? "" : "\n") +
           fmt::format("{}{}{}; `cudamatrix rules show ID` shows one with examples\n",
                       text::count(report.rules.size(), "rule"), parts.empty() ? "" : ": ",
                       text::join(parts, ", "));
}

Result<std::string> rule_text(const RulesReport& report, std::string_view id) {
    CM_TRY_ASSIGN(const auto shown, shown_rule(report, id));
    const auto& rule = *shown.rule;
    const auto width = std::max<std::size_t>(report.text.width, 60);
    auto out = fmt::format("{} [{}]\n", rule.id, to_string(rule.stage)) +
               wrapped(rule.summary, 2, width, kRuleLines);
    out += paragraph("why", rule.why, width);
    out += paragraph("reads", text::join(shown.reads, ", "), width);
    out += paragraph("asked where the matrix names", text::join(shown.needs, "; "), width);
    // Not wrapped: they are to be copied.
    out += fmt::format("fails:\n  set: {{{}}}\n", rule.fails);
    for (const auto& finding : shown.findings) {
        out += wrapped(finding_line(finding), 4, width, kRuleLines);
        for (const auto& fact : finding.facts) {
            for (const auto& source : fact.sources)
                out += fmt::format("      fact {}: {}\n", text::printable(fact.id), text::printable(source));
        }
        if (const auto fix = finding.fix_text(); !fix.empty())
            out += wrapped("fix: " + fix, 6, width, kRuleLines);
    }
    return out + fmt::format("passes:\n  set: {{{}}}\n", rule.passes);
}

namespace {

Json example_json(const Finding& finding) {
    auto facts = json_list(finding.facts, [&](const auto& fact) {
        return Json{{"id", fact.id}, {"sources", fact.sources}, {"as_of", fact.as_of}};
    });
    return Json{{"severity", to_string(finding.severity)},
                {"stage", to_string(finding.stage)},
                {"message", finding.message},
                {"fix", finding.fix_text()},
                {"facts", std::move(facts)}};
}

}  // namespace

std::string rules_json(const RulesReport& report) {
    JsonDocument document(report.tool);
    document.member("count", report.rules.size());
    document.array("rules", report.rules, [&](const auto& rule) {
        return Json{{"id", rule.id}, {"stage", to_string(rule.stage)}, {"summary", rule.summary}};
    });
    return std::move(document).finish();
}

Result<std::string> rule_json(const RulesReport& report, std::string_view id) {
    CM_TRY_ASSIGN(const auto shown, shown_rule(report, id));
    const auto& rule = *shown.rule;
    JsonDocument document(report.tool);
    document.member("id", rule.id);
    document.member("stage", to_string(rule.stage));
    document.member("summary", rule.summary);
    document.member("why", rule.why);
    document.member("reads", shown.reads);
    document.member("needs", shown.needs);
    document.member("fails", rule.fails);
    document.member("passes", rule.passes);
    document.array("findings", shown.findings, example_json);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
