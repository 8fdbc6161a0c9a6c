// What ends and what ages: the calendar of a review, images to copy, old facts.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "matrix/value.hpp"
#include "report/review_parts.hpp"

namespace cudamatrix::report {
namespace {

using review::EventKind;

std::string newest_of(const review::ValueInUse& value) {
    if (!value.newest.empty()) return value.newest;
    return value.newest_on_line.empty() ? "this one" : value.newest_on_line;
}

Span status(const review::ValueInUse& value, const ReviewReport& report) {
    if (value.events.empty()) {
        if (!value.newest_on_line.empty())
            return {fmt::format("superseded by {}", value.newest_on_line), Tone::warning};
        return {"no end known", Tone::dim};
    }
    std::string over, ahead;
    bool ends_soon = false;
    for (const auto& event : value.events) {
        const auto words = fmt::format("{} {}", review::to_string(event.kind), event.day);
        if (is_over(event, report)) {
            over = event.kind == EventKind::deletion
                       ? fmt::format("may be deleted any day since {}", event.day)
                       : words;
        } else if (ahead.empty()) {
            ahead = words;
            ends_soon = event.day <= report.review.horizon.substr(0, event.day.size());
        }
    }
    if (ahead.empty()) return {over, Tone::bad};
    if (!over.empty()) return {fmt::format("{}; {}", over, ahead), Tone::warning};
    return {ahead, ends_soon ? Tone::warning : Tone::good};
}

}  // namespace

DocumentSection review_calendar(const ReviewReport& report, Sources& sources) {
    DocumentSection out{"Calendar", {}, false};
    DocumentTable table{{"field", "value", "cells", "status", "newest", "fact"}, {}, {false, false, true}};
    for (const auto& value : report.review.values) {
        if (value.value == kNoPackage) continue;
        table.rows.push_back({std::string(info(value.field).name), Span{value.value, Tone::plain, true},
                              std::to_string(value.cells), status(value, report), newest_of(value),
                              sources.cite(value.fact)});
    }
    add_rows(out, std::move(table), "value");
    Timeline timeline{report.review.today.substr(0, 7), review::kMonthsAhead + 1, {}};
    for (const auto& event : report.review.calendar) {
        if (event.kind == EventKind::superseded) continue;  // the table tells it
        timeline.lines.push_back({event.subject, event.day,
                                  is_over(event, report) ? Tone::bad : Tone::warning,
                                  std::string(review::to_string(event.kind))});
    }
    if (!timeline.lines.empty()) {
        out.blocks.emplace_back(
            Paragraph{fmt::format("What is over, and what ends by {}:", report.review.horizon)});
        const auto all = timeline.lines.size();
        timeline.lines.resize(std::min(all, kReviewLines));
        out.blocks.emplace_back(std::move(timeline));
        if (all > kReviewLines)
            out.blocks.emplace_back(
                Paragraph{text::count(all - kReviewLines, "more end") + "; --format json has them all."});
    }
    if (!report.review.by_itself.moved.empty()) {
        out.blocks.emplace_back(Paragraph{
            fmt::format("Where nothing is done, these verdicts move by {}:", report.review.horizon)});
        out.blocks.emplace_back(moved_table(report.review.by_itself.moved));
    }
    return out;
}

DocumentSection review_copies(const ReviewReport& report) {
    DocumentSection out{"Images to copy before they vanish", {}, false};
    DocumentTable table{{"image", "deletable", "cells"}, {}, {false, false, true}};
    for (const auto& image : report.review.copies) {
        const bool now = image.deletable <= report.review.today;
        table.rows.push_back({Span{image.reference, Tone::plain, true},
                              Span{now ? "any day since " + image.deletable : image.deletable,
                                   now ? Tone::bad : Tone::warning},
                              std::to_string(image.cells)});
    }
    out.blocks.emplace_back(std::move(table));
    return out;
}

DocumentSection review_aged(const ReviewReport& report) {
    DocumentSection out{"Facts that aged", {}, true};
    if (report.review.aged.empty()) {
        out.blocks.emplace_back(
            Paragraph{fmt::format("No fact behind this review was more than {} days old on {}.",
                                  kOldAfterDays, report.review.today)});
        return out;
    }
    DocumentTable table{{"fact", "as of"}, {}, {}};
    for (const auto& fact : report.review.aged) {
        table.rows.push_back({fact.id, Span{fact.as_of, Tone::warning}});
    }
    out.blocks.emplace_back(Paragraph{fmt::format(
        "{} behind this review were looked up more than {} days before: cudamatrix facts refresh looks again.",
        text::count(report.review.aged.size(), "fact"), kOldAfterDays)});
    add_rows(out, std::move(table), "fact");
    return out;
}

}  // namespace cudamatrix::report
