// Where a matrix could go, and why it is where it is: what is newest, the ways, reasons and rejected values.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "report/diff.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/review_parts.hpp"
#include "report/upgrade.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kNamedReasons = 3;  // of one table's cell
constexpr std::size_t kMostPassed = 6;    // sentences for one value

// "12 cells: driver-supports-cuda: driver 535 is too old .."
std::string reasons(const std::vector<review::Reason>& because, Sources& sources) {
    std::vector<std::string> parts;
    for (const auto& reason : because) {
        if (parts.size() == kNamedReasons) {
            parts.push_back(text::count(because.size() - kNamedReasons, "more rule"));
            break;
        }
        sources.cite(reason.facts);
        parts.push_back(
            fmt::format("{} ({}, {})", reason.message, reason.rule, text::count(reason.cells, "cell")));
    }
    return text::join(parts, "; ");
}

// Newer values of a field that break as many cells by the same rules, together.
std::vector<std::pair<std::string, std::vector<const review::Move*>>> breaking_moves(
    const ReviewReport& report) {
    std::vector<std::pair<std::string, std::vector<const review::Move*>>> out;
    for (const auto& move : report.review.moves) {
        if (move.lost == 0) continue;
        auto alike = fmt::format("{} {}", info(move.field).name, move.before);
        for (const auto& reason : move.lost_to)
            alike += fmt::format(" {} {}", reason.rule, reason.cells);
        auto same = std::ranges::find(out, alike, [](const auto& each) { return each.first; });
        if (same == out.end()) same = out.emplace(same, std::move(alike), std::vector<const review::Move*>());
        same->second.push_back(&move);
    }
    return out;
}

std::string title_of(upgrade::Aim aim) {
    return aim == upgrade::Aim::next ? "Recommended: next"
                                     : fmt::format("Another way: {}", upgrade::to_string(aim));
}

}  // namespace

DocumentSection review_newest(const ReviewReport& report, Sources& sources) {
    DocumentSection out{"What is newest, each alone", {}, false};
    DocumentTable table{{"field", "now", "newest", "out since", "gained", "lost", "why"},
                        {},
                        {false, false, false, false, true, true, false}};
    std::set<std::pair<Field, std::string>> told;
    for (const auto& move : report.review.moves) {
        if (!told.emplace(move.field, move.before).second) continue;
        const auto why = move.lost != 0     ? "breaks: " + reasons(move.lost_to, sources)
                         : move.gained != 0 ? "fixes: " + reasons(move.gained_from, sources)
                                            : "no cell starts or stops working";
        table.rows.push_back({std::string(info(move.field).name), Span{move.before, Tone::plain, true},
                              Span{move.now, Tone::plain, true},
                              move.released.empty() ? "no day known" : move.released,
                              Span{std::to_string(move.gained), move.gained != 0 ? Tone::good : Tone::dim},
                              Span{std::to_string(move.lost), move.lost != 0 ? Tone::bad : Tone::dim}, why});
    }
    if (table.rows.empty()) {
        out.blocks.emplace_back(Paragraph{"Every value that moves by itself is the newest that is known."});
    } else {
        out.blocks.emplace_back(
            Paragraph{"Everything else stays as it is; of an axis with several values the newest moves."});
        out.blocks.emplace_back(std::move(table));
    }
    return out;
}

DocumentSection review_way(const upgrade::Outcome& way, const ReviewReport& report) {
    DocumentSection out{title_of(way.aim), {}, way.aim != upgrade::Aim::next};
    if (way.steps.empty()) {
        out.blocks.emplace_back(Paragraph{"Nothing moves."});
        return out;
    }
    DocumentTable table{{"field", "change"}, {}, {}};
    for (const auto& step : way.steps)
        table.rows.push_back({step.field, upgrade_step_text(step)});
    out.blocks.emplace_back(std::move(table));
    if (way.source.empty()) {
        out.blocks.emplace_back(Paragraph{fmt::format("Not edited: {}.", way.refusal)});
        return out;
    }
    out.blocks.emplace_back(
        Paragraph{fmt::format("Today: {}; then: {}. {} as before, {} moved, {} new, {} gone.",
                              verdict_counts(report.judgement.verdicts), verdict_counts(way.verdicts),
                              text::count(way.changes.same, "verdict"), way.changes.moved.size(),
                              way.changes.fresh.size(), way.changes.gone.size())});
    if (!way.changes.moved.empty()) out.blocks.emplace_back(moved_table(way.changes.moved));
    if (!way.lost.empty()) {
        out.blocks.emplace_back(Paragraph{"It loses cells of keep:"});
        out.blocks.emplace_back(DocumentList{way.lost});
    }
    out.blocks.emplace_back(DocumentCode{
        unified_diff(report.matrix.source, way.source, report.matrix.path, report.matrix.path), "diff"});
    return out;
}

DocumentSection review_reasons(const ReviewReport& report, Sources& sources) {
    DocumentSection out{"Why these versions", {}, false};
    for (const auto& chosen : report.review.chosen) {
        out.blocks.emplace_back(Paragraph{fmt::format("{} {}:", info(chosen.field).name, chosen.value)});
        DocumentList list;
        for (const auto& passed : chosen.passed) {
            if (list.items.size() == kMostPassed) {
                list.items.push_back(text::count(chosen.passed.size() - kMostPassed, "more reason") +
                                     "; --format json has them all");
                break;
            }
            const auto facts = sources.cite(passed.facts);
            list.items.push_back(
                fmt::format("{} ({}{}{})", passed.sentence, passed.rule, facts.empty() ? "" : ": ", facts));
        }
        if (list.items.empty()) list.items.emplace_back("no rule has a fact in favour of it");
        out.blocks.emplace_back(std::move(list));
    }
    if (out.blocks.empty()) out.blocks.emplace_back(Paragraph{"No cell works."});
    return out;
}

DocumentSection review_rejected(const ReviewReport& report, Sources& sources) {
    DocumentSection out{"Rejected alternatives", {}, false};
    DocumentTable table{{"value", "cells", "why"}, {}, {false, true, false}};
    for (const auto& each : report.review.rejected) {
        std::vector<std::string> values;
        for (const auto& [field, value] : each.values)
            values.push_back(fmt::format("{} {}", info(field).name, value));
        table.rows.push_back(
            {text::join(values, ", "), std::to_string(each.cells), reasons(each.because, sources)});
    }
    for (const auto& [alike, moves] : breaking_moves(report)) {
        std::vector<std::string> values;
        for (const auto* move : moves)
            values.push_back(move->now);
        const auto& first = *moves.front();
        table.rows.push_back(
            {fmt::format("{} {}", info(first.field).name, text::join(values, ", ")),
             std::to_string(first.lost),
             fmt::format("in the place of {}: {}", first.before, reasons(first.lost_to, sources))});
    }
    if (table.rows.empty())
        out.blocks.emplace_back(
            Paragraph{"No value of the file fails in all its cells, and no newer one breaks any."});
    else
        add_rows(out, std::move(table), "value");
    return out;
}

}  // namespace cudamatrix::report
