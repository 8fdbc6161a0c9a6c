#include "report/grid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostFields = 6;
constexpr std::size_t kMostLabel = 24;  // columns of one value
constexpr FieldSet kOfHost{Field::driver,        Field::gpu,     Field::compute,
                           Field::host_class,    Field::toolkit, Field::platform,
                           Field::kernel_module, Field::mig,     Field::vram_gb};

// A field that varies: the value of each cell, as an index into its different texts.
struct Axis {
    Field field;
    std::vector<std::string> texts;  // in the order of the file
    std::vector<std::uint32_t> of_cell;

    [[nodiscard]] bool is_of_host() const { return kOfHost.contains(field); }
};

std::vector<Axis> varying(const Judgement& judgement) {
    std::vector<Axis> out;
    for (const auto& field : all_fields()) {
        Axis axis{field.field, {}, {}};
        std::unordered_map<std::string, std::uint32_t> known;
        for (const auto& cell : judgement.cells) {
            const auto* value = cell.cell.get(field.field);
            const auto text = value == nullptr ? "-" : clipped_middle(field_text(*value), kMostLabel);
            const auto [at, is_new] = known.emplace(text, static_cast<std::uint32_t>(known.size()));
            if (is_new) axis.texts.push_back(text);
            axis.of_cell.push_back(at->second);
        }
        if (axis.texts.size() > 1) out.push_back(std::move(axis));
    }
    return out;
}

// The cells by the values of several axes: lines of the grid in one direction.
struct Lines {
    std::vector<const Axis*> axes;
    std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;  // by their values, in the order of the file
    std::vector<std::uint32_t> of_cell;
};

Lines lines_of(std::vector<const Axis*> axes, std::size_t cells) {
    std::ranges::sort(axes, {}, &Axis::field);
    Lines out{std::move(axes), {}, {}};
    const auto key = [&](std::size_t cell) {
        std::vector<std::uint32_t> values;
        for (const auto* axis : out.axes)
            values.push_back(axis->of_cell[cell]);
        return values;
    };
    for (std::size_t cell = 0; cell < cells; ++cell)
        out.numbers.emplace(key(cell), 0);
    std::uint32_t number = 0;
    for (auto& entry : out.numbers)
        entry.second = number++;
    for (std::size_t cell = 0; cell < cells; ++cell)
        out.of_cell.push_back(out.numbers.at(key(cell)));
    return out;
}

std::vector<std::vector<std::string>> texts_of(const Lines& lines) {
    std::vector<std::vector<std::string>> out;
    for (const auto& [values, number] : lines.numbers) {
        auto& texts = out.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i)
            texts.push_back(lines.axes[i]->texts[values[i]]);
    }
    return out;
}

// Which fields are rows and which are columns.
struct Sides {
    std::vector<const Axis*> rows, columns;
};

// Fields of the host are columns, but those whose bit in `moved` is set. A grid needs two directions: of two
// fields on one side, one crosses over.
Sides sides_of(const std::vector<const Axis*>& chosen, std::uint32_t moved) {
    Sides out;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const bool is_column = chosen[i]->is_of_host() && (moved >> i & 1U) == 0;
        (is_column ? out.columns : out.rows).push_back(chosen[i]);
    }
    const auto by_values = [](const Axis* axis) { return axis->texts.size(); };
    const auto cross = [](std::vector<const Axis*>& from, std::vector<const Axis*>& to, auto which) {
        to.push_back(*which);
        from.erase(which);
    };
    if (out.columns.empty() && out.rows.size() > 1)
        cross(out.rows, out.columns, std::ranges::min_element(out.rows, {}, by_values));
    if (out.rows.empty() && out.columns.size() > 1)
        cross(out.columns, out.rows, std::ranges::max_element(out.columns, {}, by_values));
    return out;
}

Grid build(const Judgement& judgement, const Sides& sides) {
    const auto rows = lines_of(sides.rows, judgement.cells.size());
    const auto columns = lines_of(sides.columns, judgement.cells.size());
    Grid out{{}, {}, texts_of(rows), texts_of(columns), {}};
    for (const auto* axis : rows.axes)
        out.row_fields.emplace_back(info(axis->field).name);
    for (const auto* axis : columns.axes)
        out.column_fields.emplace_back(info(axis->field).name);
    out.verdicts.assign(out.rows.size(), std::vector<std::uint8_t>(out.columns.size(), 0));
    for (std::size_t i = 0; i < judgement.cells.size(); ++i) {
        out.verdicts[rows.of_cell[i]][columns.of_cell[i]] |=
            static_cast<std::uint8_t>(1U << static_cast<unsigned>(judgement.cells[i].verdict));
    }
    return out;
}

// How many verdicts the groups of cells still hold beside one: Gini's impurity times the cells.
double mixture(const std::vector<Verdict>& verdicts, const std::vector<std::uint32_t>& groups,
               const Axis& axis) {
    std::unordered_map<std::uint64_t, std::array<double, 4>> counts;
    for (std::size_t cell = 0; cell < verdicts.size(); ++cell) {
        const auto group = (std::uint64_t{groups[cell]} << 32) | axis.of_cell[cell];
        ++counts[group][static_cast<std::size_t>(verdicts[cell])];
    }
    double out = 0;
    for (const auto& [group, by_verdict] : counts) {
        const auto all = std::accumulate(by_verdict.begin(), by_verdict.end(), 0.0);
        out += all;
        for (const auto count : by_verdict)
            out -= count * count / all;
    }
    return out;
}

bool fits(const Grid& grid, std::size_t width) {
    return grid.rows.size() <= kMostRows && grid_width(grid) <= width;
}

// The grid of these fields, with as few fields of the host as rows as it takes to fit.
std::optional<Grid> fitting(const Judgement& judgement, const std::vector<const Axis*>& chosen,
                            std::size_t width) {
    std::vector<std::uint32_t> moves;
    for (std::uint32_t moved = 0; moved < (1U << chosen.size()); ++moved) {
        bool is_of_host = true;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            is_of_host = is_of_host && ((moved >> i & 1U) == 0 || chosen[i]->is_of_host());
        if (is_of_host) moves.push_back(moved);
    }
    std::ranges::stable_sort(moves, {}, [](std::uint32_t moved) { return std::popcount(moved); });
    for (const auto moved : moves) {
        auto grid = build(judgement, sides_of(chosen, moved));
        if (fits(grid, width)) return grid;
    }
    return std::nullopt;
}

}  // namespace

Grid grid_of(const Judgement& judgement, std::size_t width) {
    const auto axes = varying(judgement);
    std::vector<Verdict> verdicts;
    for (const auto& cell : judgement.cells)
        verdicts.push_back(cell.verdict);
    std::vector<const Axis*> rest, chosen;
    for (const auto& axis : axes)
        rest.push_back(&axis);
    std::vector<std::uint32_t> groups(verdicts.size(), 0);
    constexpr double kNothing = 1e-6;
    double mixed = static_cast<double>(verdicts.size());
    auto out = build(judgement, {});
    // Two fields make a grid; more are for what they decide.
    while (!rest.empty() && (chosen.size() < 2 || (chosen.size() < kMostFields && mixed > kNothing))) {
        std::vector<std::pair<double, const Axis*>> ranked;
        for (const auto* axis : rest)
            ranked.emplace_back(mixture(verdicts, groups, *axis), axis);
        const auto [left, best] =
            *std::ranges::min_element(ranked, {}, [](const auto& each) { return each.first; });
        if (chosen.size() >= 2 && left > mixed - kNothing) break;
        std::erase(rest, best);
        chosen.push_back(best);
        if (auto grid = fitting(judgement, chosen, width)) {
            out = *std::move(grid);
            mixed = left;
            groups = lines_of(chosen, verdicts.size()).of_cell;
        } else {
            chosen.pop_back();
        }
    }
    return out;
}

}  // namespace cudamatrix::report
