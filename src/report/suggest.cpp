#include "report/matrix_reports.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "base/json.hpp"
#include "base/text.hpp"
#include "knowledge/finding/finding.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kSuggestLines = 20;
constexpr std::size_t kFacts = 3;  // of each rule in a proof; JSON has all

std::string paragraph(const SuggestReport& report, std::string_view text, std::size_t indent) {
    return wrapped(text, indent, std::max<std::size_t>(report.text.width, 60), kSuggestLines);
}

std::string coloured_verdict(const SuggestReport& report, Verdict verdict) {
    const auto word = to_string(verdict);
    return coloured(word, colour_of(word), report.text.colour);
}

std::string stacks_text(const SuggestReport& report) {
    std::string out;
    std::size_t number = 0;
    std::set<std::string, std::less<>> told;
    for (const auto& stack : report.suggestion.stacks) {
        out += fmt::format("{}. {}\n", ++number, coloured_verdict(report, stack.verdict));
        out += paragraph(report, fields_line(stack.cell()), 3);
        if (!stack.why.empty())
            out += paragraph(report, fmt::format("{}: {}", number == 1 ? "first" : "then", stack.why), 3);
        if (!stack.refusal.empty()) out += paragraph(report, "no image is rendered: " + stack.refusal, 3);
        for (const auto& limit : stack.limits) {
            const bool first = told.insert(std::string(limit.rule)).second;
            out += paragraph(report,
                             first ? finding_line(limit)
                                   : fmt::format("{} again, at {}", limit.rule, to_string(limit.stage)),
                             5);
        }
    }
    // Not wrapped: it is to be copied.
    return out + "\nAs a matrix file, which check judges the same:\n" + solve::matrix_text(report.suggestion);
}

std::string clash_text(const SuggestReport& report, const solve::Clash& clash) {
    auto out = paragraph(report,
                         "conflict: " + (clash.constraints.empty() ? "nothing that the facts know works"
                                                                   : text::join(clash.constraints, " and ")),
                         0);
    for (const auto& reason : clash.reasons) {
        out +=
            paragraph(report,
                      fmt::format("{} ends {} of the search, the first: {}", reason.rule,
                                  reason.closed == 1 ? "1 branch" : fmt::format("{} branches", reason.closed),
                                  finding_line(reason.example)),
                      2);
        for (std::size_t i = 0; i < reason.facts.size() && i < kFacts; ++i)
            out += paragraph(report, fact_note(reason.facts[i]), 4);
        if (reason.facts.size() > kFacts)
            out += fmt::format("    and {}, listed by --format json\n",
                               text::count(reason.facts.size() - kFacts, "more fact"));
    }
    return out;
}

std::string nothing_text(const SuggestReport& report) {
    const auto& suggestion = report.suggestion;
    std::string out = "no stack that the facts know meets all of it\n\n";
    for (const auto& clash : suggestion.clashes)
        out += clash_text(report, clash);
    if (!suggestion.all_clashes) out += "there may be more conflicts\n";
    out += "\nthe least that helps:\n";
    for (const auto& remedy : suggestion.remedies) {
        out += fmt::format("  {}\n    then {}: {}\n", text::join(remedy.changes, " and "),
                           coloured_verdict(report, remedy.stack.verdict), remedy.stack.row);
    }
    if (suggestion.remedies.empty())
        out += suggestion.all_remedies ? "  nothing that the facts know\n"
                                       : "  not found within the limit of the search: ask for less at once\n";
    else if (!suggestion.all_remedies)
        out += "  there may be more\n";
    return out;
}

}  // namespace

std::string suggest_text(const SuggestReport& report) {
    const auto& suggestion = report.suggestion;
    auto out = paragraph(report, "asked: " + text::join(suggestion.constraints, ", "), 0);
    if (!suggestion.free.empty())
        out += paragraph(report, "searched: " + text::join(suggestion.free, ", "), 0);
    return out + "\n" + (suggestion.stacks.empty() ? nothing_text(report) : stacks_text(report));
}

namespace {

Json stack_json(const solve::Stack& stack) {
    auto limits = json_list(stack.limits, [&](const auto& limit) { return finding_json(limit); });
    return Json{{"verdict", to_string(stack.verdict)}, {"fields", fields_json(stack.cell())},
                {"limits", std::move(limits)},         {"why", stack.why},
                {"not_rendered", stack.refusal},       {"row", stack.row}};
}

Json clash_json(const solve::Clash& clash) {
    auto reasons = json_list(clash.reasons, [&](const auto& reason) {
        return Json{{"rule", reason.rule},
                    {"closed", reason.closed},
                    {"example", finding_json(reason.example)},
                    {"facts", facts_json(reason.facts)}};
    });
    return Json{{"demands", clash.constraints}, {"reasons", std::move(reasons)}};
}

}  // namespace

std::string suggest_json(const SuggestReport& report) {
    const auto& suggestion = report.suggestion;
    JsonDocument document(report.tool);
    document.member("demands", suggestion.constraints);
    document.member("searched", suggestion.free);
    document.array("stacks", suggestion.stacks, stack_json);
    document.array("conflicts", suggestion.clashes, clash_json);
    document.member("all_conflicts", suggestion.all_clashes);
    document.array("relaxations", suggestion.remedies, [&](const auto& remedy) {
        return Json{{"changes", remedy.changes}, {"stack", stack_json(remedy.stack)}};
    });
    document.member("all_relaxations", suggestion.all_remedies);
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
