#include "rules/judge.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/evaluate.hpp"

namespace cudamatrix {
namespace {

using rules::Rule;

using FindingIds = std::vector<std::uint32_t>;

/// Which of the axes a rule depends on: cells that agree on their rows share the rule's answer.
struct Projection {
    std::vector<std::size_t> axes;
    std::unordered_map<std::uint64_t, FindingIds> answers;
};

Projection projection_of(const Matrix& matrix, FieldSet reads) {
    Projection projection;
    for (std::size_t i = 0; i < matrix.axes.size(); ++i) {
        const auto& fields = matrix.axes[i].fields;
        if (std::any_of(fields.begin(), fields.end(), [&](Field field) { return reads.contains(field); })) {
            projection.axes.push_back(i);
        }
    }
    return projection;
}

/// Texts of what a rule lacked; they live as long as the program, as the rules do.
const std::vector<std::vector<std::string>>& need_texts() {
    static const auto texts = [] {
        std::vector<std::vector<std::string>> made;
        for (const auto& rule : rules::all_rules()) {
            auto& of_rule = made.emplace_back();
            for (const auto need : rule.needs)
                of_rule.push_back(rules::need_text(rule, need));
        }
        return made;
    }();
    return texts;
}

bool has_any(const Cell& cell, FieldSet fields) {
    return std::any_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& field) {
        return fields.contains(field.field) && cell.has(field.field);
    });
}

std::vector<std::string_view> gaps_of(const Cell& cell) {
    std::vector<std::string_view> gaps;
    const auto& list = rules::all_rules();
    for (std::size_t r = 0; r < list.size(); ++r) {
        for (std::size_t n = 0; n < list[r].needs.size(); ++n) {
            if (!has_any(cell, list[r].needs[n])) gaps.emplace_back(need_texts()[r][n]);
        }
    }
    return gaps;
}

/// What a finding is about, spelt out: equal keys are the same sentence about the same values.
std::string key_of(const Finding& finding, const Cell& cell) {
    auto key = fmt::format("{}\n{}\n{}\n{}\n{}", finding.rule, finding.aspect, to_string(finding.stage),
                           to_string(finding.severity), finding.message);
    for (const auto field : finding.about) {
        if (const auto* value = cell.get(field)) key.append("\n").append(value->text);
    }
    return key;
}

Location place_of(const Finding& finding, const Cell& cell) {
    if (const auto* value = cell.get(finding.primary)) return value->where;
    for (const auto field : finding.about) {
        if (const auto* value = cell.get(field)) return value->where;
    }
    return {};
}

class Judge {
  public:
    Judge(const Matrix& matrix, const Facts& facts, const JudgeOptions& options)
        : matrix_(matrix),
          facts_(facts),
          options_(options),
          product_(product_size(matrix)),
          rows_(matrix.axes.size()) {
        for (const auto& rule : rules::all_rules())
            projections_.push_back(projection_of(matrix, rule.reads));
        for (std::size_t s = 0; s < kStageCount; ++s) {
            const auto name = to_string(static_cast<Stage>(s));
            asked_[s] = matrix.stages.empty() ||
                        std::find(matrix.stages.begin(), matrix.stages.end(), name) != matrix.stages.end();
        }
    }

    /// False when there are more cells than the limit.
    bool run() {
        bool within = true;
        for_each_cell(matrix_, [&](const Cell& cell) {
            within = out_.cells.size() < options_.cell_limit;
            if (within) judge_cell(cell);
            return within;
        });
        return within;
    }

    Judgement take() {
        for (auto& group : out_.findings)
            offer_exclude(group);
        return std::move(out_);
    }

  private:
    void judge_cell(const Cell& cell) {
        auto& judged = out_.cells.emplace_back();
        judged.cell = cell;
        judged.id = cell_id(matrix_, cell);
        const bool of_product = cell.index < product_;
        if (of_product) locate(cell.index);
        const auto& list = rules::all_rules();
        for (std::size_t r = 0; r < list.size(); ++r) {
            if (!rules::applies(list[r], cell)) continue;
            if (of_product) {
                add(judged, answer(r, cell));
            } else {
                add(judged, ask(list[r], cell));
            }
        }
        judged.not_checked = gaps_of(cell);
        for (std::size_t s = 0; s < kStageCount; ++s) {
            if (asked_[s]) judged.verdict = std::max(judged.verdict, judged.stages[s]);
        }
        ++out_.verdicts[static_cast<std::size_t>(judged.verdict)];
    }

    // The row of each axis at a position of the product; the last axis is the fastest.
    void locate(std::uint64_t index) {
        for (std::size_t i = matrix_.axes.size(); i-- > 0;) {
            const auto size = matrix_.axes[i].rows.size();
            rows_[i] = index % size;
            index /= size;
        }
    }

    const FindingIds& answer(std::size_t rule, const Cell& cell) {
        auto& projection = projections_[rule];
        std::uint64_t at = 0;
        for (const auto axis : projection.axes)
            at = at * matrix_.axes[axis].rows.size() + rows_[axis];
        const auto known = projection.answers.find(at);
        if (known != projection.answers.end()) return known->second;
        return projection.answers.emplace(at, ask(rules::all_rules()[rule], cell)).first->second;
    }

    // Most answers repeat what another projection of the rule said: only for new ones are fixes looked for
    // and tried.
    FindingIds ask(const Rule& rule, const Cell& cell) {
        FindingIds ids;
        const auto findings = rules::ask(rule, cell, facts_, options_.today);
        rules::Findings complete;
        for (std::size_t i = 0; i < findings.size(); ++i) {
            const auto id = static_cast<std::uint32_t>(out_.findings.size());
            const auto [known, is_new] = ids_.emplace(key_of(findings[i], cell), id);
            if (is_new) {
                if (complete.empty()) complete = rules::evaluate(rule, cell, facts_, options_.today);
                out_.findings.push_back({complete[i], place_of(complete[i], cell), 0, {}});
                firsts_.push_back(cell);
            }
            ids.push_back(known->second);
        }
        return ids;
    }

    void add(JudgedCell& judged, const FindingIds& ids) {
        for (const auto id : ids) {
            auto& group = out_.findings[id];
            if (group.cells++ == 0) group.first_cell = judged.id;
            auto& stage = judged.stages[static_cast<std::size_t>(group.finding.stage)];
            stage = std::max(stage, group.finding.verdict());
            judged.findings.push_back(id);
        }
    }

    // Whether an exclude of `field: text` takes other values of the axis with it ("570" covers 570.124.06).
    [[nodiscard]] bool takes_others(Field field, const std::string& text) const {
        const Condition condition{{{field, {{Predicate{Predicate::Op::equal, text}}}, {}}}, {}};
        for (const auto& axis : matrix_.axes) {
            for (std::size_t f = 0; f < axis.fields.size(); ++f) {
                if (axis.fields[f] != field) continue;
                for (const auto& row : axis.rows) {
                    Cell cell;
                    cell.set(field, &row[f]);
                    if (row[f].text != text && matches(condition, cell)) return true;
                }
            }
        }
        return false;
    }

    // Last among the fixes of a rejection: to leave the combination out. Only what varies can be left out,
    // nothing else may go with it, and an exclude does not touch includes.
    void offer_exclude(FindingGroup& group) {
        const auto& first = firsts_[static_cast<std::size_t>(&group - out_.findings.data())];
        if (group.finding.severity != Severity::error || first.index >= product_) return;
        FixOption option;
        for (const auto field : group.finding.about) {
            const bool varies = std::any_of(matrix_.axes.begin(), matrix_.axes.end(), [&](const Axis& axis) {
                return axis.rows.size() > 1 &&
                       std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
            });
            if (!varies || !first.has(field)) continue;
            if (takes_others(field, first.get(field)->text)) return;
            option.exclude.emplace_back(field, first.get(field)->text);
        }
        if (option.exclude.empty()) return;
        for (const auto& [field, value] : option.exclude) {
            option.text += fmt::format("{}{}: \"{}\"", option.text.empty() ? "exclude: {" : ", ",
                                       info(field).name, value);
        }
        option.text += "}";
        group.finding.fixes.push_back(std::move(option));
    }

    const Matrix& matrix_;
    const Facts& facts_;
    const JudgeOptions& options_;
    std::uint64_t product_;
    std::vector<std::uint64_t> rows_;
    std::vector<Projection> projections_;
    std::array<bool, kStageCount> asked_{};
    std::unordered_map<std::string, std::uint32_t> ids_;
    std::vector<Cell> firsts_;  ///< the cell in which each finding was first seen
    Judgement out_;
};

Failure too_many(const Matrix& matrix, const JudgeOptions& options) {
    constexpr std::uint64_t walk = 20'000'000;
    const auto count = count_cells(matrix, walk);
    const auto text = count ? fmt::format("{} cells", *count)
                            : fmt::format("{} cells before its excludes", product_size(matrix));
    return input_failure(fmt::format("{}: the matrix has {}: at most {} are judged one by one", matrix.path,
                                     text, options.cell_limit),
                         "shorten an axis, zip axes that go together, or exclude more");
}

}  // namespace

std::string_view to_string(Stage stage) {
    constexpr std::array<std::string_view, kStageCount> names{
        "driver_load", "image_pull", "container_start", "install", "build", "runtime", "torch_compile"};
    return names[static_cast<std::size_t>(stage)];
}

std::string_view to_string(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names{"accepted", "degraded", "unknown", "rejected"};
    return names[static_cast<std::size_t>(verdict)];
}

Verdict Finding::verdict() const {
    switch (severity) {
        case Severity::error:
            return Verdict::rejected;
        case Severity::unknown:
            return Verdict::unknown;
        case Severity::warning:
            return Verdict::degraded;
        case Severity::note:
            return Verdict::accepted;
    }
    return Verdict::rejected;
}

std::string Finding::fix_text() const {
    std::string out;
    for (const auto& fix : fixes)
        out.append(out.empty() ? "" : ", or ").append(fix.text);
    return out;
}

Result<Judgement> judge(const Matrix& matrix, const Facts& facts, const JudgeOptions& options) {
    Judge judge(matrix, facts, options);
    if (!judge.run()) return too_many(matrix, options);
    return judge.take();
}

}  // namespace cudamatrix
