#include "report/diff.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "report/check_parts.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/markdown.hpp"

namespace cudamatrix::report {
namespace {

using diff::RowChange;

std::string size_text(std::uint64_t bytes) {
    return bytes == 0 ? "none" : text::human_bytes(bytes);
}

std::string value_text(const std::string& value) {
    return value.empty() ? "none" : clipped(value, 60);
}

// "toolkits cuda-13.0.2: min_driver 580.65.06 -> 580.82.07 (as of 2026-11-20)"
std::string fact_line(const diff::FactChange& row) {
    const auto name = fmt::format("{} {}", row.table, row.id);
    if (row.change == RowChange::gone) return name + " is gone";
    const auto source = row.sources.empty() ? std::string() : row.sources.front() + ", ";
    const auto known = fmt::format(" ({}as of {})", source, row.as_of);
    if (row.change == RowChange::added) return name + " is new" + known;
    std::vector<std::string> columns;
    for (const auto& [column, before, now] : row.columns) {
        if (column != "as_of" && column != "source")
            columns.push_back(fmt::format("{} {} -> {}", column, value_text(before), value_text(now)));
    }
    return fmt::format("{}: {}{}", name, text::join(columns, ", "), known);
}

// "driver 535.183.01 -> 570.211.01": a line for all cells that it made others.
std::map<std::string, std::size_t> values_replaced(const diff::VerdictChanges& cells) {
    std::map<std::string, std::size_t> out;
    for (const auto& pair : cells.replaced) {
        std::vector<std::string> parts;
        for (const auto& [field, before, now] : pair.changes)
            parts.push_back(fmt::format("{} {} -> {}", field, value_text(before), value_text(now)));
        ++out[text::join(parts, " and ")];
    }
    return out;
}

}  // namespace

std::string cells_text(const std::vector<std::string>& cells) {
    return cells.size() == 1 ? cells.front()
                             : fmt::format("{}, first {}", text::count(cells.size(), "cell"), cells.front());
}

std::vector<DiffLines> diff_lines(const diff::Diff& diff) {
    DiffLines values{"value", "value", {}}, fresh{"new", "new cell", {}}, gone{"gone", "gone cell", {}},
        pins{"pin", "pin", diff.pins}, facts{"fact", "row", {}}, sizes{"size", "size", {}};
    if (diff.cells) {
        for (const auto& [change, cells] : values_replaced(*diff.cells))
            values.lines.push_back(fmt::format("{} in {}", change, text::count(cells, "cell")));
        for (const auto& [cell, verdict] : diff.cells->fresh)
            fresh.lines.push_back(fmt::format("{}: {}", cell, verdict_text(verdict)));
        gone.lines = diff.cells->gone;
    }
    for (const auto& row : diff.facts) {
        if (row.change != RowChange::checked) facts.lines.push_back(fact_line(row));
    }
    for (const auto& [image, before, now] : diff.sizes)
        sizes.lines.push_back(fmt::format("{}: {} -> {}", image, size_text(before), size_text(now)));
    return {std::move(values), std::move(fresh), std::move(gone),
            std::move(pins),   std::move(facts), std::move(sizes)};
}

std::string diff_summary(const diff::Diff& diff) {
    std::vector<std::string> parts;
    if (diff.cells)
        parts.push_back(fmt::format("{} as before, {} moved, {} new, {} gone",
                                    text::count(diff.cells->same, "verdict"), diff.cells->moved.size(),
                                    diff.cells->fresh.size(), diff.cells->gone.size()));
    if (!diff.pins.empty()) parts.push_back(text::count(diff.pins.size(), "pin") + " moved");
    const auto checked = static_cast<std::size_t>(std::ranges::count(
        diff.facts, RowChange::checked, [](const diff::FactChange& row) { return row.change; }));
    if (!diff.facts.empty())
        parts.push_back(fmt::format("{} moved, {} looked up again",
                                    text::count(diff.facts.size() - checked, "fact"), checked));
    if (!diff.sizes.empty()) parts.push_back(text::count(diff.sizes.size(), "size") + " moved");
    return fmt::format("{} -> {}: {}", text::printable(diff.before), text::printable(diff.now),
                       parts.empty() ? "nothing moved" : text::join(parts, "; "));
}

Json fact_change_json(const diff::FactChange& row) {
    Json out{{"change", to_string(row.change)}, {"table", row.table}, {"id", row.id}};
    if (!row.columns.empty())
        out["columns"] = json_list(row.columns, [](const auto& column) {
            return Json{{"name", column.name}, {"before", column.before}, {"now", column.now}};
        });
    out["sources"] = row.sources;
    out["as_of"] = row.as_of;
    return out;
}

std::string verdict_text(const RecordedVerdict& verdict) {
    return verdict.rules.empty() ? verdict.verdict
                                 : fmt::format("{} ({})", verdict.verdict, text::join(verdict.rules, ", "));
}

Json verdict_json(const RecordedVerdict& verdict) {
    return Json{{"verdict", verdict.verdict}, {"rules", verdict.rules}};
}

std::string diff_text(const DiffReport& report) {
    const auto& diff = report.diff;
    std::string out;
    if (diff.cells) {
        for (const auto& group : grouped(diff.cells->moved)) {
            out += fmt::format("{}: {} -> {}: {}\n", group.worse ? "worse" : "better",
                               verdict_text(group.before), verdict_text(group.now), cells_text(group.cells));
            for (const auto& line : group.because)
                out += "  " + text::printable(line) + "\n";
        }
    }
    for (const auto& section : diff_lines(diff)) {
        const auto all = section.lines.size();
        const auto shown = report.text.verbose ? all : std::min(all, kListedCells);
        for (std::size_t i = 0; i < shown; ++i)
            out += fmt::format("{}: {}\n", section.word, text::printable(section.lines[i]));
        if (shown < all) out += fmt::format("{}: {} more; -v lists them\n", section.word, all - shown);
    }
    for (const auto& note : diff.notes)
        out += "note: " + text::printable(note) + "\n";
    return out + diff_summary(diff) + "\n";
}

std::string diff_markdown(const DiffReport& report) {
    const auto& diff = report.diff;
    markdown::Comment comment;
    comment.add(fmt::format("**{}**\n", markdown::plain(diff_summary(diff))));
    if (diff.cells) {
        std::vector<std::string> rows;
        for (const auto& group : grouped(diff.cells->moved))
            rows.push_back(markdown::row({group.worse ? "worse" : "better",
                                          verdict_text(group.before) + " → " + verdict_text(group.now),
                                          cells_text(group.cells), text::join(group.because, " ")}));
        comment.section("\n" + markdown::row({"", "verdict", "cells", "why"}) + markdown::rule(4), rows, "",
                        "reason");
    }
    for (const auto& section : diff_lines(diff)) {
        std::vector<std::string> items;
        for (const auto& line : section.lines)
            items.push_back("- " + markdown::plain(line) + "\n");
        const bool folded = items.size() > kListedCells;
        const auto head = text::count(items.size(), section.noun);
        comment.section(folded ? fmt::format("\n<details><summary>{}</summary>\n\n", head)
                               : fmt::format("\n{}:\n\n", head),
                        items, folded ? "\n</details>\n" : "", section.noun);
    }
    for (const auto& note : diff.notes)
        comment.add("\n" + markdown::plain(note) + "\n");
    return std::move(comment).finish();
}

Json moved_group_json(const diff::MovedGroup& group) {
    return Json{{"change", group.worse ? "worse" : "better"},
                {"before", verdict_json(group.before)},
                {"now", verdict_json(group.now)},
                {"because", group.because},
                {"cells", group.cells}};
}

void add_cell_changes(JsonDocument& document, const diff::VerdictChanges& cells) {
    document.member("same", cells.same);
    document.array("verdicts", grouped(cells.moved), moved_group_json);
    document.array("replaced", cells.replaced, [](const diff::ReplacedCell& pair) {
        return Json{{"before", pair.before},
                    {"now", pair.now},
                    {"values", json_list(pair.changes, [](const diff::ValueChange& value) {
                         return Json{{"field", value.field}, {"before", value.before}, {"now", value.now}};
                     })}};
    });
    document.array("new", cells.fresh, [](const diff::FreshCell& fresh) {
        auto out = verdict_json(fresh.verdict);
        out["cell"] = fresh.cell;
        return out;
    });
    document.array("gone", cells.gone, [](const std::string& cell) { return Json(cell); });
}

std::string diff_json(const DiffReport& report) {
    const auto& diff = report.diff;
    JsonDocument document(report.tool);
    document.member("before", diff.before);
    document.member("now", diff.now);
    document.member("moved", diff.is_news());
    if (diff.cells) add_cell_changes(document, *diff.cells);
    document.array("pins", diff.pins, [](const std::string& line) { return Json(line); });
    document.array("facts", diff.facts, fact_change_json);
    document.array("sizes", diff.sizes, [](const diff::SizeChange& size) {
        return Json{{"image", size.image}, {"before", size.before}, {"now", size.now}};
    });
    document.array("notes", diff.notes, [](const std::string& note) { return Json(note); });
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
