#include "advise/upgrade/outcome.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "advise/edit/editor.hpp"
#include "base/text.hpp"

namespace cudamatrix::upgrade {
namespace {

// The text of a file on its way from one state to the next; each step reads it again.
class Editing {
  public:
    Editing(const Fleet& fleet, const Plan& plan, const Reread& read)
        : matrix_(fleet.matrix()), fleet_(fleet), plan_(plan), read_(read), source_(matrix_.source) {}

    Result<std::string> run() {
        CM_TRY(take_out_expected());
        CM_TRY(replace_values());
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            if (plan_.units[u].added) CM_TRY(add_row(u));
        }
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            for (std::size_t row = 0; row < plan_.units[u].dropped.size(); ++row) {
                if (plan_.units[u].dropped[row]) CM_TRY(drop_row(u, plan_.units[u].rows[row]));
            }
        }
        CM_TRY_ASSIGN(const auto now, read_(source_));
        CM_TRY(check_rows(now));
        return with_expected(now);
    }

  private:
    // Every axis has the rows that it should have, and no others.
    Status check_rows(const Matrix& now) {
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            const auto& unit = fleet_.units()[u];
            if (!unit.axis) continue;
            const auto& planned = plan_.units[u];
            const auto& axis = now.axes[*unit.axis];
            std::vector<Values> wanted;
            for (std::size_t row = 0; row < planned.rows.size(); ++row) {
                if (!planned.dropped[row]) wanted.push_back(planned.rows[row]);
            }
            if (planned.added) wanted.push_back(*planned.added);
            const bool all = std::ranges::all_of(
                wanted, [&](const Values& values) { return row_of(now, unit, values) != nullptr; });
            // Rows without a cell are in no unit, and stay.
            const auto idle = matrix_.axes[*unit.axis].rows.size() - unit.rows.size();
            if (!all || axis.rows.size() != wanted.size() + idle) return cannot("edit the axis", axis.where);
        }
        return Done{};
    }

    [[nodiscard]] static Failure cannot(const std::string& what, const Location& where) {
        auto failure =
            input_failure(fmt::format("cannot {} by itself", what),
                          "edit the file by hand: it is written in a way that no edit of it is sure");
        failure.diagnostics.front().where = where;
        return failure;
    }

    // What the file expects of itself is wrong until all is done, and a file that is not so cannot be read.
    Status take_out_expected() {
        const Places places(matrix_);
        const auto* key = places.root().find("expect") != nullptr ? "expect" : "expect_cells";
        const auto where = places.value_of(key);
        if (where.line == 0) return Done{};
        const auto edit = Editor(matrix_, places).remove_member(where, key);
        if (!edit) return cannot(fmt::format("count {} again", key), where);
        auto without = edited(source_, {*edit});
        // What is taken out stands before all values that move.
        std::size_t at = 0;
        while (at < without.size() && without[at] == source_[at])
            ++at;
        expected_at_ = at;
        expected_ = source_.substr(at, source_.size() - without.size());
        source_ = std::move(without);
        return Done{};
    }

    Result<std::string> with_expected(const Matrix& now) {
        if (expected_.empty()) return source_;
        const auto cells = count_cells(now, kCountingSteps);
        if (!cells) return cannot("count the cells again", {});
        const auto whole = source_.substr(0, expected_at_) + expected_ + source_.substr(expected_at_);
        CM_TRY_ASSIGN(const auto root, yaml::parse(whole, matrix_.path));
        return edited(whole, recounted(root, *cells, root.members.size()));
    }

    // Puts `now` in the place of a value that starts at `value`; of packages at the release of one.
    Status replace(const Matrix& matrix, const Places& places, const Value& value, std::size_t variable,
                   std::uint32_t now, std::vector<Edit>& edits) {
        const auto& about = fleet_.variable(variable);
        const auto where = about.package.empty() ? value.where : places.member_of(value.where, about.package);
        const auto edit = Editor(matrix, places).replace(where, fleet_.text(variable, now));
        if (!edit) return cannot(fmt::format("change {}", about.name()), value.where);
        edits.push_back(*edit);
        return Done{};
    }

    Status replace_values() {
        CM_TRY_ASSIGN(const auto matrix, read_(source_));
        const Places places(matrix);
        std::vector<Edit> edits;
        for (std::size_t u = 0; u < fleet_.units().size(); ++u) {
            const auto& unit = fleet_.units()[u];
            for (std::size_t row = 0; row < unit.rows.size(); ++row) {
                for (std::size_t v = 0; v < unit.variables.size(); ++v) {
                    const auto now = plan_.units[u].rows[row][v];
                    if (now == unit.rows[row][v]) continue;
                    for (const auto* value : places_of(matrix, unit, row, v))
                        CM_TRY(replace(matrix, places, *value, unit.variables[v], now, edits));
                }
            }
        }
        // Rows of `include` are completed by `set`, so that its values are met again.
        std::vector<Edit> once;
        for (auto& edit : edits) {
            if (std::ranges::find(once, edit) == once.end()) once.push_back(std::move(edit));
        }
        source_ = edited(source_, std::move(once));
        return Done{};
    }

    // Where the file writes the value of a row: in its axis, or in `set`, and in the includes that say the
    // same.
    [[nodiscard]] std::vector<const Value*> places_of(const Matrix& matrix, const Unit& unit, std::size_t row,
                                                      std::size_t v) const {
        const auto variable = unit.variables[v];
        const auto field = fleet_.variable(variable).field;
        std::vector<const Value*> out;
        if (unit.axis) {
            const auto& axis = matrix.axes[*unit.axis];
            out.push_back(&value_in(axis, axis.rows[unit.places[row]], field));
        }
        const auto has = [&](const std::vector<std::pair<Field, Value>>& pairs, std::size_t at) {
            return std::ranges::any_of(pairs, [&](const auto& pair) {
                return pair.first == fleet_.variable(unit.variables[at]).field &&
                       has_text(pair.second, unit.variables[at], unit.rows[row][at]);
            });
        };
        // Of an axis with several rows an include is meant that names the whole row.
        const auto is_meant = [&](const std::vector<std::pair<Field, Value>>& pairs) {
            if (!unit.has_several()) return has(pairs, v);
            for (std::size_t at = 0; at < unit.variables.size(); ++at) {
                if (!has(pairs, at)) return false;
            }
            return true;
        };
        const auto add = [&](const std::vector<std::pair<Field, Value>>& pairs) {
            if (!is_meant(pairs)) return;
            for (const auto& [each, value] : pairs) {
                if (each == field) out.push_back(&value);
            }
        };
        if (!unit.axis) add(matrix.set);
        for (const auto& include : matrix.include)
            add(include);
        return out;
    }

    [[nodiscard]] static const Value& value_in(const Axis& axis, const std::vector<Value>& row, Field field) {
        const auto column = std::ranges::find(axis.fields, field) - axis.fields.begin();
        return row[static_cast<std::size_t>(column)];
    }

    [[nodiscard]] bool has_text(const Value& value, std::size_t variable, std::uint32_t text) const {
        const auto& about = fleet_.variable(variable);
        if (about.package.empty()) return value.text == fleet_.text(variable, text);
        return std::ranges::any_of(value.items, [&](const auto& item) {
            return item.first == about.package && item.second == fleet_.text(variable, text);
        });
    }

    // The row of the axis that has these values now.
    [[nodiscard]] const std::vector<Value>* row_of(const Matrix& matrix, const Unit& unit,
                                                   const Values& values) const {
        const auto& axis = matrix.axes[*unit.axis];
        for (const auto& row : axis.rows) {
            bool is_it = true;
            for (std::size_t v = 0; v < values.size() && is_it; ++v) {
                const auto variable = unit.variables[v];
                is_it = has_text(value_in(axis, row, fleet_.variable(variable).field), variable, values[v]) ||
                        fleet_.text(variable, values[v]).empty();
            }
            if (is_it) return &row;
        }
        return nullptr;
    }

    // The value of a new row: the one of the front as it is written, with what moves in it.
    [[nodiscard]] std::string new_value(const Editor& editor, const Unit& unit, Field field,
                                        const Value& front, const Values& before, const Values& now) const {
        std::string out(editor.source_at(front.where));
        for (std::size_t v = 0; v < unit.variables.size(); ++v) {
            if (fleet_.variable(unit.variables[v]).field != field || before[v] == now[v]) continue;
            const auto text = fleet_.text(unit.variables[v], now[v]);
            if (field != Field::packages) return fmt::format("\"{}\"", text);
            out = text::replace_all(out, fleet_.text(unit.variables[v], before[v]), text);
        }
        return out;
    }

    Status add_row(std::size_t u) {
        CM_TRY_ASSIGN(const auto matrix, read_(source_));
        const Places places(matrix);
        const Editor editor(matrix, places);
        const auto& unit = fleet_.units()[u];
        const auto& before = plan_.units[u].rows[unit.front];
        const auto* front = row_of(matrix, unit, before);
        const auto& axis = matrix.axes[*unit.axis];
        if (front == nullptr) return cannot("add a row to the axis", axis.where);
        std::vector<Edit> edits;
        for (std::size_t f = 0; f < axis.fields.size(); ++f) {
            const auto& value = (*front)[f];
            const auto text = new_value(editor, unit, axis.fields[f], value, before, *plan_.units[u].added);
            const auto edit = editor.add_behind(value.where, text);
            if (!edit) return cannot(fmt::format("add {} {}", info(axis.fields[f]).name, text), value.where);
            edits.push_back(*edit);
        }
        source_ = edited(source_, std::move(edits));
        return Done{};
    }

    Status drop_row(std::size_t u, const Values& values) {
        CM_TRY_ASSIGN(const auto matrix, read_(source_));
        const Places places(matrix);
        const auto& unit = fleet_.units()[u];
        const auto* row = row_of(matrix, unit, values);
        if (row == nullptr) return cannot("drop a row of the axis", matrix.axes[*unit.axis].where);
        std::vector<Edit> edits;
        for (const auto& value : *row) {
            const auto edit = Editor(matrix, places).remove(value.where);
            if (!edit) return cannot(fmt::format("drop {}", value.text), value.where);
            edits.push_back(*edit);
        }
        source_ = edited(source_, std::move(edits));
        return Done{};
    }

    static constexpr std::uint64_t kCountingSteps = 1'000'000;

    const Matrix& matrix_;
    const Fleet& fleet_;
    const Plan& plan_;
    const Reread& read_;
    std::string source_;
    std::string expected_;
    std::size_t expected_at_ = 0;
};

NamedValues with_names(const Fleet& fleet, std::vector<std::string> texts) {
    NamedValues out;
    for (std::size_t v = 0; v < texts.size(); ++v)
        out.emplace_back(fleet.variable(v).name(), std::move(texts[v]));
    return out;
}

std::vector<Step> steps_of(const Fleet& fleet, const Plan& plan) {
    std::vector<Step> out;
    const auto add = [&](Step step) {
        if (step.before != step.now && std::ranges::find(out, step) == out.end())
            out.push_back(std::move(step));
    };
    for (std::size_t u = 0; u < plan.units.size(); ++u) {
        const auto& unit = fleet.units()[u];
        const auto& planned = plan.units[u];
        for (std::size_t v = 0; v < unit.variables.size(); ++v) {
            const auto variable = unit.variables[v];
            const std::string name(fleet.variable(variable).name());
            for (std::size_t row = 0; row < unit.rows.size(); ++row) {
                const auto before = fleet.text(variable, unit.rows[row][v]);
                add({name, before, planned.dropped[row] ? "" : fleet.text(variable, planned.rows[row][v])});
            }
            if (planned.added && (*planned.added)[v] != planned.rows[unit.front][v])
                add({name, "", fleet.text(variable, (*planned.added)[v])});
        }
    }
    return out;
}

}  // namespace

void compare_edited(const Matrix& matrix, const Judgement& before, const std::vector<NamedValues>& after,
                    const Matrix& edited, const Judgement& now,
                    const std::function<NamedValues(const Cell&)>& values_of, Outcome& out) {
    out.verdicts = now.verdicts;
    std::map<NamedValues, const JudgedCell*> there;
    for (const auto& cell : now.cells)
        there.emplace(values_of(cell.cell), &cell);
    std::vector<diff::ReplacedCell> replaced;
    for (std::size_t i = 0; i < before.cells.size(); ++i) {
        const auto& cell = before.cells[i];
        const auto found = there.find(after[i]);
        const bool works = found != there.end() && found->second->verdict <= Verdict::degraded;
        if (!works && cell.verdict <= Verdict::degraded && is_kept(matrix, cell.cell))
            out.lost.push_back(cell.id);
        if (found == there.end() || found->second->id == cell.id) continue;
        auto& pair = replaced.emplace_back(diff::ReplacedCell{cell.id, found->second->id, {}});
        const auto values = values_of(cell.cell);
        for (std::size_t v = 0; v < values.size(); ++v) {
            if (values[v] != after[i][v])
                pair.changes.push_back({values[v].first, values[v].second, after[i][v].second});
        }
    }
    out.changes = diff::compare_verdicts(diff::judged_verdicts(matrix, before),
                                         diff::judged_verdicts(edited, now), std::move(replaced));
}

Result<Outcome> carried_out(Fleet& fleet, const Plan& plan, const Reread& read,
                            const OnProgress& on_progress) {
    Outcome out;
    out.aim = plan.aim;
    out.steps = steps_of(fleet, plan);
    out.verdicts = fleet.judgement().verdicts;
    if (out.steps.empty()) {
        out.source = fleet.matrix().source;
        out.changes.same = fleet.judgement().cells.size();
        return out;
    }
    const auto carry = [&]() -> Status {
        CM_TRY_ASSIGN(auto source, Editing(fleet, plan, read).run());
        CM_TRY_ASSIGN(const auto matrix, read(source));
        JudgeOptions as_of;
        as_of.today = fleet.today();
        as_of.on_progress = on_progress;
        CM_TRY_ASSIGN(const auto now, judge_whole(matrix, fleet.facts(), as_of));
        out.source = std::move(source);
        Target target;
        for (const auto& unit : plan.units)
            target.push_back(unit.rows);
        std::vector<NamedValues> after;
        for (std::size_t i = 0; i < fleet.judgement().cells.size(); ++i)
            after.push_back(with_names(fleet, fleet.values(i, target)));
        compare_edited(
            fleet.matrix(), fleet.judgement(), after, matrix, now,
            [&](const Cell& cell) { return with_names(fleet, fleet.values(cell)); }, out);
        return Done{};
    };
    const auto done = carry();
    if (done.ok()) return out;
    if (done.failure().code != ExitCode::bad_input || done.failure().diagnostics.empty())
        return done.failure();
    out.refusal = done.failure().diagnostics.front().message;
    return out;
}

}  // namespace cudamatrix::upgrade
