#include "report/symptom.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/text.hpp"
#include "report/json.hpp"

namespace cudamatrix::report {
namespace {

/// What stands in a log by the hundred is not read: the best ones say what is wrong.
constexpr std::size_t kMostInText = 5;

void add_line(std::string& out, std::string_view name, std::string_view value) {
    out += fmt::format("    {:<7} {}\n", name, text::printable(value));
}

/// The lines of the probes that the row names, in their order.
std::vector<const DoctorLine*> here_of(const SymptomReport& report, const Row& row) {
    std::vector<const DoctorLine*> out;
    for (const auto& line : report.here) {
        if (facts::contains(row.list("probes"), line.probe)) out.push_back(&line);
    }
    return out;
}

std::vector<std::string> texts(const facts::Values& values) {
    return {values.begin(), values.end()};
}

std::string match_text(const SymptomReport& report, const symptoms::Match& match) {
    const auto& row = match.row;
    auto out = fmt::format("{} ({}): {}\n", row.id(), row.text("program"), text::printable(row.text("says")));
    add_line(out, fmt::format("line {}:", match.line), match.excerpt);
    add_line(out, "cause:", row.text("cause"));
    add_line(out, "fix:", row.text("fix"));
    for (const auto rule : row.list("rules"))
        add_line(out, "rule:", fmt::format("cudamatrix rules show {}", rule));
    for (const auto fact : row.list("facts"))
        add_line(out, "fact:", fmt::format("cudamatrix facts show {}", fact));
    for (const auto* line : here_of(report, row)) {
        add_line(out, "here:", fmt::format("{} {}: {}", to_string(line->health), line->probe, line->found));
        if (!line->fix.empty()) add_line(out, "", "fix: " + line->fix);
    }
    for (const auto& source : row.ref().sources)
        add_line(out, "see:", source);
    return out;
}

Json match_json(const SymptomReport& report, const symptoms::Match& match) {
    const auto& row = match.row;
    const auto fact = row.ref();
    Json out{{"id", fact.id},         {"program", row.text("program")}, {"says", row.text("says")},
             {"line", match.line},    {"text", match.excerpt},          {"cause", row.text("cause")},
             {"fix", row.text("fix")}};
    for (const auto* column : {"rules", "facts", "probes"})
        out[column] = texts(row.list(column));
    out["here"] = json_list(here_of(report, row), [](const DoctorLine* line) {
        Json each{{"probe", line->probe}, {"health", to_string(line->health)}, {"found", line->found}};
        if (!line->fix.empty()) each["fix"] = line->fix;
        return each;
    });
    out["sources"] = fact.sources;
    out["as_of"] = fact.as_of;
    out["confidence"] = to_string(fact.confidence);
    return out;
}

}  // namespace

std::string symptom_text(const SymptomReport& report) {
    const auto& [matches, nearest] = report.found;
    if (matches.empty()) {
        std::string out = "no known message stands in this text\n";
        for (const auto& row : nearest)
            out += fmt::format("    near: {} ({}): \"{}\"\n", row.id(), row.text("program"),
                               text::printable(text::join(texts(row.list("matches")), " ... ")));
        return out;
    }
    std::string out;
    for (std::size_t i = 0; i < std::min(matches.size(), kMostInText); ++i)
        out += (i == 0 ? "" : "\n") + match_text(report, matches[i]);
    if (matches.size() > kMostInText)
        out += fmt::format("\n{} more: see --format json\n",
                           text::count(matches.size() - kMostInText, "message"));
    return out;
}

std::string symptom_json(const SymptomReport& report) {
    JsonDocument document(report.tool);
    document.array("symptoms", report.found.matches,
                   [&](const symptoms::Match& match) { return match_json(report, match); });
    document.array("nearest", report.found.nearest, [](const Row& row) {
        return Json{{"id", row.id()},
                    {"program", row.text("program")},
                    {"matches", texts(row.list("matches"))},
                    {"says", row.text("says")}};
    });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
