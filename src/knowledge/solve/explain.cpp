#include "knowledge/solve/explain.hpp"

#include <algorithm>
#include <deque>

#include "base/text.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/fixes.hpp"
#include "matrix/cell_pattern.hpp"
#include "matrix/condition.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::solve {
namespace {

constexpr std::uint64_t kMostLookedAt = 100'000;  // cells without their excludes

class Explaining {
  public:
    Explaining(const Matrix& matrix, const Facts& facts, const Judgement& judgement, const std::string& today,
               std::size_t limit, const OnProgress& on_progress)
        : matrix_(matrix),
          facts_(facts),
          judgement_(judgement),
          today_(today),
          limit_(limit),
          on_progress_(on_progress),
          own_(rules::own_rules(matrix)) {}

    [[nodiscard]] bool is_stopped() const { return is_stopped_; }

    /// Only of the cells that are explained: a way out is one of this cell.
    Status find_ways_out(Explanation& explanation) {
        for (auto& account : explanation.cells) {
            Judgement alone;
            alone.cells = {*account.cell};
            auto& ids = alone.cells.front().findings;
            for (auto& id : ids) {
                alone.findings.push_back(judgement_.findings[id]);
                id = static_cast<std::uint32_t>(alone.findings.size() - 1);
            }
            CM_TRY(verify_fixes(matrix_, facts_, today_, alone, on_progress_));
            account.findings = std::move(alone.findings);
        }
        return Done{};
    }

    Result<Explanation> of(const CellPattern& which) {
        take_cells([&](const JudgedCell& cell) { return which.means(cell.id, cell.cell); });
        if (out_.cells.empty())
            take_left_out(
                [&](const std::string& other, const Cell& cell) { return which.means(other, cell); });
        if (out_.cells.empty() && out_.left_out.empty()) {
            if (!which.by_values()) return no_such_cell(which.text());
            say_absent(which.values());
        }
        return std::move(out_);
    }

  private:
    template <class Meant>
    void take_cells(const Meant& meant) {
        for (const auto& cell : judgement_.cells) {
            if (!meant(cell)) continue;
            if (out_.cells.size() == limit_) {
                ++out_.more_cells;
            } else {
                out_.cells.push_back(account_of(cell));
            }
        }
    }

    // The product as it would be without its excludes.
    template <class Meant>
    void take_left_out(const Meant& meant) {
        if (matrix_.exclude.empty()) return;
        auto whole = matrix_;
        whole.exclude.clear();
        std::uint64_t looked_at = 0;
        for_each_cell(whole, [&](const Cell& cell) {
            LeftOut left{{}, {}};
            for (const auto& exclude : matrix_.exclude) {
                if (matches(exclude, cell)) left.excludes.push_back(exclude.where);
            }
            // An include is never left out.
            if (left.excludes.empty() || cell.index >= product_size(matrix_))
                return ++looked_at < kMostLookedAt;
            left.id = cell_id(matrix_, cell);
            if (meant(left.id, cell)) {
                if (out_.left_out.size() == limit_) {
                    ++out_.more_left_out;
                } else {
                    out_.left_out.push_back(std::move(left));
                }
            }
            return ++looked_at < kMostLookedAt;
        });
    }

    Result<Explanation> no_such_cell(const std::string& id) const {
        std::vector<std::string> ids;
        for (const auto& cell : judgement_.cells)
            ids.push_back(cell.id);
        const auto near = text::did_you_mean(id, ids);
        return input_failure(
            fmt::format("{} has no cell {}, and no exclude leaves it out", matrix_.path, in_quotes(id)),
            near ? fmt::format("did you mean {}?", *near)
                 : "cudamatrix list shows the ids; cuda=11.8,python=3.12 means cells by their values");
    }

    // What the file says about a field: axes, set and includes.
    [[nodiscard]] std::vector<const Value*> values_of(Field field) const {
        std::vector<const Value*> out;
        const auto add = [&](const Value& value) {
            if (std::none_of(out.begin(), out.end(),
                             [&](const Value* known) { return known->text == value.text; }))
                out.push_back(&value);
        };
        for (const auto& axis : matrix_.axes) {
            for (std::size_t f = 0; f < axis.fields.size(); ++f) {
                if (axis.fields[f] != field) continue;
                for (const auto& row : axis.rows)
                    add(row[f]);
            }
        }
        const auto add_of = [&](const std::vector<std::pair<Field, Value>>& row) {
            for (const auto& [other, value] : row) {
                if (other == field) add(value);
            }
        };
        add_of(matrix_.set);
        for (const auto& row : matrix_.include)
            add_of(row);
        return out;
    }

    void say_absent(const Condition& condition) {
        for (const auto& clause : condition.clauses) {
            const auto values = values_of(clause.field);
            const auto name = info(clause.field).name;
            const bool occurs = std::any_of(values.begin(), values.end(), [&](const Value* value) {
                Cell cell;
                cell.set(clause.field, value);
                return matches(clause, cell);
            });
            if (occurs) continue;
            std::vector<std::string> texts;
            for (const auto* value : values)
                texts.push_back(value->text);
            out_.absent.push_back(texts.empty()
                                      ? fmt::format("{} does not name the field {}", matrix_.path, name)
                                      : fmt::format("{} {} does not occur in {}: its values are {}", name,
                                                    alternatives_text(clause), matrix_.path,
                                                    text::join(texts, ", ")));
        }
        if (!out_.absent.empty()) return;
        std::vector<std::string> parts;
        for (const auto& clause : condition.clauses)
            parts.push_back(fmt::format("{} {}", info(clause.field).name, alternatives_text(clause)));
        out_.absent.push_back(fmt::format(
            "{} occur in {}, but no cell has all of them: zip or the rows of include keep them apart",
            text::join(parts, " and "), matrix_.path));
    }

    Account account_of(const JudgedCell& judged) {
        Account out{&judged, {}, {}, {}, {}};
        const auto look = [&](const rules::Rule& rule) {
            if (!rules::applies(rule, judged.cell)) return;
            auto passed = rules::passes(rule, judged.cell, facts_, today_);
            const bool found = std::any_of(
                judged.findings.begin(), judged.findings.end(),
                [&](std::uint32_t id) { return judgement_.findings[id].finding.rule == rule.id; });
            if (!found && passed.empty()) out.silent.push_back(rule.id);
            for (auto& each : passed)
                out.passed.push_back(std::move(each));
        };
        for (const auto& rule : rules::all_rules())
            look(rule);
        for (const auto& rule : own_)
            look(rule);
        if (judged.verdict > kGoodEnough)
            out.nearest = nearest(facts_, today_, judged.cell, setting_here(judged), kMostNeighbours);
        return out;
    }

    [[nodiscard]] Setting setting_here(const JudgedCell& judged) {
        auto setting = setting_of(matrix_, own_);
        setting.on_progress = [this](const JudgingProgress& progress) {
            if (on_progress_ && !on_progress_(progress)) is_stopped_ = true;
            return !is_stopped_;
        };
        for (const auto id : judged.findings) {
            const auto& group = judgement_.findings[id];
            if (group.waived) setting.waived.push_back(group.finding.rule);
        }
        return setting;
    }

    const Matrix& matrix_;
    const Facts& facts_;
    const Judgement& judgement_;
    const std::string& today_;
    std::size_t limit_;
    const OnProgress& on_progress_;
    std::vector<rules::Rule> own_;
    bool is_stopped_ = false;
    Explanation out_;
};

}  // namespace

Result<Explanation> explain(const Matrix& matrix, const Facts& facts, const Judgement& judgement,
                            const std::string& today, const std::string& which, std::size_t limit,
                            const OnProgress& on_progress) {
    Explaining explaining(matrix, facts, judgement, today, limit, on_progress);
    CM_TRY_ASSIGN(const auto pattern, CellPattern::parse(which));
    auto explained = explaining.of(pattern);
    if (explaining.is_stopped()) return Failure{ExitCode::interrupted, {}};
    if (explained.ok()) {
        CM_TRY(explaining.find_ways_out(*explained));
    }
    return explained;
}

}  // namespace cudamatrix::solve
