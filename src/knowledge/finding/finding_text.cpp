#include "knowledge/finding/finding_text.hpp"

#include "base/text.hpp"

namespace cudamatrix {
namespace {

std::string tagged(const Finding& finding) {
    return fmt::format("{} [{}, at {}]", finding.message, finding.rule, to_string(finding.stage));
}

}  // namespace

// The first source is the one to open; the others are in the JSON report and in `facts show ID`.
std::string fact_note(const FactRef& fact) {
    // A rule of the matrix file rests on its user's word, which has no date of ours.
    if (fact.as_of.empty()) return fmt::format("own rule {}: {}", fact.id, text::join(fact.sources, ", "));
    std::string out = "fact " + fact.id;
    if (!fact.sources.empty()) out += ", " + fact.sources.front();
    if (fact.sources.size() > 1) out += fmt::format(" and {} more", fact.sources.size() - 1);
    out += fmt::format(" (as of {}", fact.as_of);
    if (fact.confidence != Confidence::read) out += fmt::format(", {}", to_string(fact.confidence));
    if (fact.is_old) out += ", old";
    return out + ")";
}

std::string render_finding(const FindingGroup& group, std::string_view source, bool colour) {
    Diagnostic out{group.finding.severity, group.where, tagged(group.finding), {}, group.finding.fix_text()};
    out.notes.push_back(fmt::format("{}, first {}", text::count(group.cells, "cell"), group.first_cell));
    if (group.waived) {
        // It is shown, but no longer as what it was.
        out.severity = Severity::note;
        out.message = "waived " + std::string(to_string(group.finding.severity)) + ": " + out.message;
        out.notes.push_back(fmt::format("waived until {} (line {}): {}", group.waived->until,
                                        group.waived->where.line, group.waived->because));
    }
    const auto facts = fact_notes(group.finding);
    out.notes.insert(out.notes.end(), facts.begin(), facts.end());
    return render(out, source, colour);
}

std::vector<std::string> fact_notes(const Finding& finding) {
    std::vector<std::string> notes;
    for (const auto& fact : finding.facts)
        notes.push_back(fact_note(fact));
    return notes;
}

std::string finding_line(const Finding& finding) {
    return fmt::format("{}: {}", to_string(finding.severity), text::printable(tagged(finding)));
}

}  // namespace cudamatrix
