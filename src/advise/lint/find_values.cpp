// Values of axes: those that make no cell of use, those that mean the same, those that are alone.
#include <algorithm>
#include <map>

#include "advise/lint/find.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::lint {
namespace {

struct Use {
    std::uint64_t cells = 0;
    std::uint64_t rejected = 0;
    const JudgedCell* first = nullptr;
};

// What the cells of the product make of each row of each axis.
std::vector<std::vector<Use>> uses_of_rows(const Search& search) {
    std::vector<std::vector<Use>> uses;
    for (const auto& axis : search.matrix.axes)
        uses.emplace_back(axis.rows.size());
    for (const auto& judged : search.input.judgement.cells) {
        auto index = judged.cell.index;
        if (index >= search.product) continue;
        for (std::size_t a = uses.size(); a-- > 0;) {
            auto& use = uses[a][index % uses[a].size()];
            index /= uses[a].size();
            ++use.cells;
            if (judged.verdict == Verdict::rejected) ++use.rejected;
            if (use.first == nullptr) use.first = &judged;
        }
    }
    return uses;
}

std::vector<std::optional<Edit>> remove_row(const Search& search, const std::vector<Value>& row) {
    std::vector<std::optional<Edit>> edits;
    for (const auto& value : row)
        edits.push_back(search.editor.remove(value.where));
    return edits;
}

// "CELL: driver-supports-gpu at driver_load": the first of its findings that rejects.
std::string first_rejection(const Search& search, const JudgedCell& cell) {
    for (const auto id : cell.findings) {
        const auto& group = search.input.judgement.findings[id];
        if (group.verdict() == Verdict::rejected)
            return fmt::format("first {}: {} at {}", cell.id, group.finding.rule,
                               to_string(group.finding.stage));
    }
    return "first " + cell.id;
}

void judge_row(Search& search, const Axis& axis, std::size_t row, const Use& use) {
    const auto& values = axis.rows[row];
    const auto& where = values.front().where;
    if (use.cells == 0) {
        search.add("axis-value-excluded", where,
                   fmt::format("{} makes no cell: excludes cover every cell with it", row_text(axis, values)),
                   "delete it, or narrow an exclude", remove_row(search, values));
    } else if (use.rejected == use.cells) {
        const bool explained = std::ranges::any_of(values, [&](const Value& value) {
            return search.has("tag-cannot-exist", value.where) ||
                   search.has("index-cannot-exist", value.where);
        });
        if (explained) return;
        auto& finding = search.add(
            "axis-value-rejected", where,
            fmt::format("{} makes no cell of use: {}", row_text(axis, values),
                        use.cells == 1 ? "its only cell is rejected"
                                       : fmt::format("all {} cells with it are rejected", use.cells)),
            "delete it, or change what rejects it (`cudamatrix check` says what)", remove_row(search, values),
            search.cells - use.cells);
        finding.notes.push_back(first_rejection(search, *use.first));
    }
}

// What a value stands for, as text: equal for two ways to write one release.
std::string meaning(const Search& search, Field field, const std::string& text) {
    const auto& facts = search.input.facts;
    switch (field) {
        case Field::cuda:
            if (const auto found = lookup::cuda(facts, text)) return found->exact.text();
            break;
        case Field::driver:
            if (const auto found = lookup::driver(facts, text)) return found->exact.text();
            break;
        case Field::gpu:
            if (const auto found = lookup::gpu(facts, text)) return std::string(found->id());
            break;
        case Field::os:
            if (const auto found = lookup::os(facts, text)) return std::string(found->id());
            break;
        case Field::python:
            if (const auto version = Version::parse(text)) return version->major_minor() + version->suffix();
            break;
        case Field::torch:
            // Without an arch the build is that of x86_64, as for the rules.
            if (const auto found = lookup::torch(facts, text, "x86_64"); found && !found->variant.empty())
                return fmt::format("{}+{}", found->exact.text(), found->variant);
            break;
        default:
            break;
    }
    return text;
}

bool has_field(const std::vector<std::pair<Field, Value>>& row, Field field) {
    return std::ranges::any_of(row, [&](const auto& entry) { return entry.first == field; });
}

// Under set the value would complete the includes too, and an axis alone with includes makes the only
// product.
bool could_be_set(const Matrix& matrix, const Axis& axis) {
    if (matrix.include.empty()) return true;
    if (matrix.axes.size() < 2) return false;
    return std::ranges::all_of(matrix.include, [&](const auto& row) {
        return std::ranges::all_of(axis.fields, [&](Field field) { return has_field(row, field); });
    });
}

}  // namespace

std::string row_text(const Axis& axis, const std::vector<Value>& row) {
    std::string out;
    for (std::size_t i = 0; i < row.size(); ++i)
        out += fmt::format("{}{} {}", i == 0 ? "" : " with ", info(axis.fields[i]).name, row[i].text);
    return out;
}

void find_unused_values(Search& search) {
    const auto& axes = search.matrix.axes;
    if (axes.empty()) return;
    const auto uses = uses_of_rows(search);
    Use all;
    for (const auto& use : uses.front()) {
        all.cells += use.cells;
        all.rejected += use.rejected;
    }
    if (all.rejected == all.cells) {
        if (all.cells == 0) {
            search.add("product-unused", axes.front().where,
                       "excludes cover every cell of the product: the axes make none", "narrow an exclude");
        } else {
            search.add("product-unused", axes.front().where,
                       all.cells == 1 ? std::string("the only cell of the product is rejected")
                                      : fmt::format("all {} cells of the product are rejected", all.cells),
                       "`cudamatrix check` says why");
        }
        return;
    }
    for (std::size_t a = 0; a < axes.size(); ++a) {
        for (std::size_t row = 0; row < axes[a].rows.size(); ++row)
            judge_row(search, axes[a], row, uses[a][row]);
    }
}

void find_repeated_releases(Search& search) {
    const auto uses = uses_of_rows(search);
    for (std::size_t a = 0; a < search.matrix.axes.size(); ++a) {
        const auto& axis = search.matrix.axes[a];
        std::map<std::vector<std::string>, std::size_t> seen;
        for (std::size_t row = 0; row < axis.rows.size(); ++row) {
            std::vector<std::string> key;
            for (std::size_t f = 0; f < axis.fields.size(); ++f)
                key.push_back(meaning(search, axis.fields[f], axis.rows[row][f].text));
            const auto [first, is_new] = seen.emplace(std::move(key), row);
            if (is_new) continue;
            const auto& earlier = axis.rows[first->second];
            search.add("same-release-twice", axis.rows[row].front().where,
                       fmt::format("{} means the same as {} (line {}): both are judged as {}",
                                   row_text(axis, axis.rows[row]), row_text(axis, earlier),
                                   earlier.front().where.line, text::join(first->first, ", ")),
                       "delete one of the two", remove_row(search, axis.rows[row]),
                       search.cells - uses[a][row].cells);
        }
    }
}

void find_one_value_axes(Search& search) {
    for (const auto& axis : search.matrix.axes) {
        if (axis.rows.size() != 1 || !could_be_set(search.matrix, axis)) continue;
        const auto& row = axis.rows.front();
        std::vector<std::optional<Edit>> edits{std::nullopt};
        if (axis.fields.size() == 1)
            edits = {search.editor.remove(axis.where),
                     search.editor.add_to_set(info(axis.fields.front()).name, row.front().where)};
        search.add("one-value-axis", axis.where,
                   fmt::format("{} is the only value of its axis: every cell of the product has it",
                               row_text(axis, row)),
                   "write it under set, or add a value", std::move(edits));
    }
}

}  // namespace cudamatrix::lint
