#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "advise/audit/audit.hpp"
#include "base/text.hpp"
#include "knowledge/judge/deciding.hpp"

namespace cudamatrix::audit {
namespace {

bool is_name_character(char c) {
    return text::is_word(c) || c == '-' || c == '_' || c == '.';
}

// The packages that a message names, in its order.
std::vector<std::string> named_in(std::string_view message, const Stack& stack) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < message.size();) {
        auto end = i;
        while (end < message.size() && is_name_character(message[end]))
            ++end;
        const std::string word(message.substr(i, end - i));
        if (stack.places.contains(word) && std::ranges::find(out, word) == out.end()) out.push_back(word);
        i = std::max(end, i + 1);
    }
    return out;
}

Location place_of(const FindingGroup& group, const Stack& stack, const std::vector<std::string>& packages) {
    if (group.finding.primary == Field::packages && !packages.empty()) {
        const auto first =
            std::ranges::find_if(packages, [](const std::string& name) { return name != "torch"; });
        return stack.places.at(first == packages.end() ? packages.front() : *first).where;
    }
    if (group.where.line != 0) return group.where;
    // What is said of the machine's driver or GPU stands at the line of the file that it does not go with.
    for (const auto field : group.finding.about) {
        const auto value = std::ranges::find(stack.matrix.set, field, &std::pair<Field, Value>::first);
        if (value != stack.matrix.set.end() && value->second.where.line != 0) return value->second.where;
    }
    return group.where;
}

Severity weighed(const cudamatrix::Finding& finding, const Stack& stack, const Cell& cell,
                 const std::vector<std::string>& packages) {
    const auto severity = finding.severity;
    if (severity == Severity::note || severity == Severity::notice) return severity;
    if (!DecidingStages(stack.matrix).contain(finding.stage, cell)) return Severity::note;
    if (finding.rule == "package-has-wheel" && severity == Severity::warning) return Severity::note;
    if (finding.rule == "packages-agree" && severity == Severity::error && packages.size() > 1) {
        // "A needs B": a later install of A brings the B that it needs; an earlier one is broken by a later
        // B.
        const auto needs = stack.places.at(packages[0]).install,
                   needed = stack.places.at(packages[1]).install;
        if (needs > needed && packages[1] != "torch") return Severity::note;
        if (needs != needed) return Severity::warning;
    }
    return severity;
}

}  // namespace

std::vector<Line> lines_of(const Report& report, const std::vector<Judged>& judged) {
    std::vector<Line> out;
    std::set<
        std::tuple<std::string_view, std::string, std::size_t, std::size_t, std::size_t, std::string_view>>
        said;
    for (const auto& finding : report.findings) {
        const auto mistake = std::ranges::find(mistakes(), finding.id, &Mistake::id);
        out.push_back({finding.severity,
                       finding.where,
                       finding.id,
                       {},
                       finding.message,
                       finding.fix,
                       {},
                       mistake->source,
                       nullptr});
    }
    for (const auto& [stack, judgement] : judged) {
        for (const auto& group : judgement.findings) {
            if (group.waived || group.finding.rule == kWaiverExpired) continue;
            const auto& finding = group.finding;
            const auto packages = named_in(finding.message, stack);
            const auto where = place_of(group, stack, packages);
            if (!said.emplace(finding.rule, where.file, where.line, where.column, where.length,
                              finding.message)
                     .second)
                continue;
            out.push_back({weighed(finding, stack, judgement.cells[0].cell, packages),
                           where,
                           finding.rule,
                           finding.stage,
                           finding.message,
                           finding.fix_text(),
                           stack.name,
                           {},
                           &group});
        }
    }
    const auto order = [](const Line& line) {
        return std::tuple(line.where.file, line.where.line, line.where.column, line.severity);
    };
    std::ranges::stable_sort(out, {}, order);
    return out;
}

}  // namespace cudamatrix::audit
