#include "report/review.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "render/files/image_folder.hpp"
#include "report/check_parts.hpp"
#include "report/diff.hpp"
#include "report/json.hpp"
#include "report/review_parts.hpp"
#include "report/upgrade.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kNamedEnds = 3;

std::string short_way(const upgrade::Outcome& way) {
    if (way.steps.empty()) return "Recommended: stay. Nothing newer leaves every cell as good as it is.";
    std::vector<std::string> steps;
    for (const auto& step : way.steps)
        steps.push_back(fmt::format("{} {}", step.field, upgrade_step_text(step)));
    return fmt::format("Recommended: {}. Then {}.", text::join(steps, ", "), verdict_counts(way.verdicts));
}

DocumentSection in_short(const ReviewReport& report) {
    DocumentList list;
    list.items.push_back(fmt::format("Today: {}.", verdict_counts(report.judgement.verdicts)));
    if (report.changed.cells) {
        const auto& changes = *report.changed.cells;
        const auto worse = static_cast<std::size_t>(
            std::ranges::count(changes.moved, true, [](const auto& moved) { return moved.worse; }));
        list.items.push_back(fmt::format("Since {}: {} worse, {} better, {} new, {} gone.", report.since,
                                         worse, changes.moved.size() - worse, changes.fresh.size(),
                                         changes.gone.size()));
    }
    if (report.review.emergency)
        list.items.push_back(fmt::format("Urgent: {}; a plan follows.",
                                         text::count(report.review.emergency->because.size(), "end")));
    std::vector<std::string> ends, over;
    for (const auto& event : report.review.calendar) {
        auto& into = is_over(event, report) ? over : ends;
        if (event.kind != review::EventKind::superseded)
            into.push_back(
                fmt::format("{} ({}: {})", event.subject, review::to_string(event.kind), event.day));
    }
    if (!over.empty()) list.items.push_back(fmt::format("Over: {}.", first_few(over, kNamedEnds, "; ")));
    list.items.push_back(ends.empty() ? "Nothing in use is known to end within 12 months."
                                      : fmt::format("Next to end: {}.", first_few(ends, kNamedEnds, "; ")));
    for (const auto& way : report.review.ways) {
        if (way.aim == upgrade::Aim::next) list.items.push_back(short_way(way));
    }
    return {"In short", {std::move(list)}, false};
}

// What `check` prints, without the notes.
DocumentSection today(const ReviewReport& report) {
    DocumentSection out{"Failures and limits today", {}, false};
    DocumentTable table{{"", "what", "rule", "way out"}, {}, {}};
    for (const auto& finding : brief_findings(report.judgement).shown) {
        if (finding.severity == Severity::notice) continue;
        const auto is_error = finding.severity == Severity::error;
        table.rows.push_back(
            {Span{std::string(to_string(finding.severity)), is_error ? Tone::bad : Tone::warning},
             finding.message, finding.tag, finding.fix});
    }
    if (table.rows.empty())
        out.blocks.emplace_back(Paragraph{"Every cell works without a limit that is known."});
    else
        add_rows(out, std::move(table), "finding");
    return out;
}

DocumentSection emergency(const review::EmergencyPlan& plan, const ReviewReport& report, Sources& sources) {
    DocumentSection out{plan.deadline.empty() ? "Emergency: images may vanish any day"
                                              : fmt::format("Emergency: act by {}", plan.deadline),
                        {},
                        false};
    DocumentTable because{{"day", "what", "cells", "fact"}, {}, {false, false, true, false}};
    for (const auto& event : plan.because) {
        because.rows.push_back(
            {is_over(event, report) ? Span{"any day", Tone::bad} : Span{event.day, Tone::warning},
             fmt::format("{}: {}", event.subject, review::to_string(event.kind)), std::to_string(event.cells),
             sources.cite(event.fact)});
    }
    out.blocks.emplace_back(std::move(because));
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const auto& step = plan.steps[i];
        out.blocks.emplace_back(
            Paragraph{fmt::format("Step {}, {} to {}: {}.", i + 1, step.from, step.to, step.title)});
        out.blocks.emplace_back(DocumentList{step.tasks});
        std::vector<std::string> lines;
        for (const auto& command : step.commands) {
            std::vector<std::string> words;
            for (const auto& word : command)
                words.push_back(pasted(word));
            lines.push_back(text::join(words, " "));
        }
        out.blocks.emplace_back(DocumentCode{text::join(lines, "\n") + "\n", "sh"});
    }
    return out;
}

DocumentSection changed(const ReviewReport& report, Sources& sources) {
    DocumentSection out{fmt::format("What changed since {}", report.since), {}, false};
    out.blocks.emplace_back(Paragraph{diff_summary(report.changed) + "."});
    if (is_date(report.since))
        out.blocks.emplace_back(
            Paragraph{report.changed.facts.empty()
                          ? "That is the same file, judged on that day: it differs by ends and waivers only."
                          : "That is the same file, judged on that day without the rows of --facts."});
    if (report.changed.cells && !report.changed.cells->moved.empty())
        out.blocks.emplace_back(moved_table(report.changed.cells->moved));
    for (auto& kind : diff_lines(report.changed)) {
        if (kind.lines.empty()) continue;
        const auto all = kind.lines.size();
        out.blocks.emplace_back(Paragraph{text::count(all, kind.noun) + ":"});
        if (all > kReviewLines) {
            kind.lines.resize(kReviewLines);
            kind.lines.push_back(fmt::format("{} more: see cudamatrix diff", all - kReviewLines));
        }
        out.blocks.emplace_back(DocumentList{std::move(kind.lines)});
    }
    for (const auto& note : report.changed.notes)
        out.blocks.emplace_back(Paragraph{note + "."});
    if (report.review.happened.empty()) {
        out.blocks.emplace_back(
            Paragraph{fmt::format("The facts name nothing that came out or ended from {} to {}.",
                                  report.review.since, report.review.today)});
        return out;
    }
    DocumentTable table{{"day", "what", "cells", "fact"}, {}, {false, false, true, false}};
    for (const auto& event : report.review.happened) {
        const auto tone = event.kind == review::EventKind::release ? Tone::plain : Tone::warning;
        table.rows.push_back({event.day,
                              Span{fmt::format("{}: {}", event.subject, review::to_string(event.kind)), tone},
                              event.kind == review::EventKind::release ? "" : std::to_string(event.cells),
                              sources.cite(event.fact)});
    }
    out.blocks.emplace_back(
        Paragraph{fmt::format("From {} to {} in the world:", report.review.since, report.review.today)});
    add_rows(out, std::move(table), "event");
    return out;
}

}  // namespace

std::string Sources::cite(const std::vector<FactRef>& facts) {
    std::vector<std::string> ids;
    for (const auto& fact : facts) {
        if (seen_.insert(fact.id).second) facts_.push_back(fact);
        ids.push_back(fact.id);
    }
    return text::join(ids, ", ");
}

std::string Sources::cite(const std::optional<FactRef>& fact) {
    return fact ? cite(std::vector{*fact}) : std::string();
}

DocumentSection Sources::section(std::string_view today) const {
    DocumentTable table{{"fact", "source", "as of"}, {}, {}};
    for (const auto& fact : facts_) {
        table.rows.push_back({fact.id, fact.sources.empty() ? std::string() : fact.sources.front(),
                              fact.as_of + (is_old(fact.as_of, today) ? ", old" : "")});
    }
    return {"Sources", {std::move(table)}, true};
}

bool is_over(const review::Event& event, const ReviewReport& report) {
    return review::is_past(event, report.review.today);
}

DocumentTable moved_table(const std::vector<diff::MovedVerdict>& verdicts) {
    DocumentTable table{{"", "verdict", "cells", "why"}, {}, {}};
    for (const auto& group : diff::grouped(verdicts)) {
        table.rows.push_back({group.worse ? Span{"worse", Tone::bad} : Span{"better", Tone::good},
                              fmt::format("{} -> {}", verdict_text(group.before), verdict_text(group.now)),
                              cells_text(group.cells), text::join(group.because, " ")});
    }
    return table;
}

std::string first_few(std::vector<std::string> items, std::size_t most, std::string_view separator) {
    if (items.size() > most) {
        const auto others = items.size() - most;
        items.resize(most);
        items.push_back(fmt::format("{} more", others));
    }
    return text::join(items, separator);
}

void add_rows(DocumentSection& section, DocumentTable table, std::string_view noun) {
    const auto all = table.rows.size();
    table.rows.resize(std::min(all, kReviewLines));
    section.blocks.emplace_back(std::move(table));
    if (all > kReviewLines)
        section.blocks.emplace_back(
            Paragraph{fmt::format("{}; --format json has them all.",
                                  text::count(all - kReviewLines, fmt::format("more {}", noun)))});
}

Document review_document(const ReviewReport& report) {
    const auto& review = report.review;
    Document out;
    out.title = fmt::format("Upgrade review of {}", report.matrix.name);
    out.lead.push_back(fmt::format("{}, as of {}, by cudamatrix {} with facts of {}.", report.matrix.path,
                                   review.today, report.tool.version, report.tool.facts_date));
    if (!report.tool.facts_warning.empty()) out.lead.push_back(report.tool.facts_warning);
    Sources sources;
    auto& sections = out.sections;
    sections.push_back(in_short(report));
    if (review.emergency) sections.push_back(emergency(*review.emergency, report, sources));
    sections.push_back(today(report));
    sections.push_back(changed(report, sources));
    sections.push_back(review_calendar(report, sources));
    sections.push_back(review_newest(report, sources));
    for (const auto& way : review.ways)
        sections.push_back(review_way(way, report));
    sections.push_back(review_requirements(report));
    sections.push_back(review_tested(report));
    sections.push_back(review_reasons(report, sources));
    sections.push_back(review_rejected(report, sources));
    if (!review.copies.empty()) sections.push_back(review_copies(report));
    sections.push_back(review_aged(report));
    if (!sources.empty()) sections.push_back(sources.section(review.today));
    return out;
}

std::string review_text(const ReviewReport& report) {
    return document_text(review_document(report), report.text);
}

std::string review_markdown(const ReviewReport& report) {
    return document_markdown(review_document(report));
}

std::string review_comment(const ReviewReport& report) {
    return document_comment(review_document(report));
}

std::string review_html(const ReviewReport& report) {
    return document_html(review_document(report));
}

}  // namespace cudamatrix::report
