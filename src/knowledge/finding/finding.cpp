// Words of stages, verdicts and findings.
#include "knowledge/finding/finding.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

constexpr std::array<std::string_view, kStageCount> kStages{
    "driver_load", "image_pull", "container_start", "install", "build", "runtime", "torch_compile"};

}

std::string_view to_string(Stage stage) {
    return kStages[static_cast<std::size_t>(stage)];
}

std::optional<Stage> stage_named(std::string_view name) {
    const auto found = std::find(kStages.begin(), kStages.end(), name);
    if (found == kStages.end()) return std::nullopt;
    return static_cast<Stage>(found - kStages.begin());
}

std::string_view to_string(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names{"accepted", "degraded", "unknown", "rejected"};
    return names[static_cast<std::size_t>(verdict)];
}

bool Bound::sets(Field other) const {
    if (kind != Kind::exactly) return field == other;
    return std::any_of(option.set.begin(), option.set.end(),
                       [&](const auto& set) { return set.first == other; });
}

void Finding::drop_bounds(Field field) {
    std::erase_if(bounds, [&](const Bound& bound) { return bound.sets(field); });
}

Verdict Finding::verdict() const {
    constexpr std::array<Verdict, kSeverityCount> by_severity{
        Verdict::rejected, Verdict::degraded, Verdict::unknown, Verdict::accepted, Verdict::accepted};
    return by_severity[static_cast<std::size_t>(severity)];
}

std::string Finding::fix_text() const {
    std::string out;
    for (const auto& fix : fixes)
        out.append(out.empty() ? "" : ", or ").append(fix.text);
    return out;
}

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
