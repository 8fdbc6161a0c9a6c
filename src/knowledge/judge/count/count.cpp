#include "knowledge/judge/count/count.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/text.hpp"
#include "knowledge/judge/count/explore.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/judge/rule_counts.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

using answer::Code;
using Ref = Diagrams::Ref;

constexpr std::size_t kLargestDiagram = 50'000;

// Planes of a cell's verdict; each holds what is worse as well, so that no plane is taken from another.
constexpr Code kUnknownOrWorse = 2;
constexpr Code kDegradedOrWorse = 4;

Code verdict_planes(Code code) {
    constexpr std::array<Code, 4> planes{0, kDegradedOrWorse, kUnknownOrWorse | kDegradedOrWorse, kDead};
    return planes[static_cast<std::size_t>(answer::verdict(code))];
}

// Severities, waived, expired: one plane each, behind the one of dead cells.
constexpr unsigned kBehindDead = 1;
constexpr Code kWaived = 0x40;
constexpr Code kExpired = 0x80;
Code line_planes(Code code) {
    const auto severities = static_cast<unsigned>(code & answer::kSeverities) << kBehindDead;
    if ((code & answer::kWaiver) == 0) return static_cast<Code>(severities);
    return static_cast<Code>(severities | (severities == 0 ? kWaived : kExpired));
}

std::uint64_t cells_with(Code flag, const BitsetCounts& counts) {
    return counts.flag[static_cast<std::size_t>(std::countr_zero(flag))];
}

std::vector<std::size_t> sizes_of(const Matrix& matrix) {
    std::vector<std::size_t> sizes;
    for (const auto& axis : matrix.axes)
        sizes.push_back(axis.rows.size());
    return sizes;
}

class Counter {
  public:
    Counter(const Matrix& matrix, const Facts& facts, std::string_view today, std::uint64_t block,
            const OnProgress& on_progress)
        : matrix_(matrix),
          facts_(facts),
          today_(today),
          block_(block),
          progress_(on_progress),
          own_(own_rules(matrix)),
          waiving_(matrix, today),
          matching_(matrix),
          deciding_(matrix),
          diagrams_(sizes_of(matrix)) {
        for (const auto* list : {&all_rules(), &own_}) {
            for (const auto& rule : *list)
                add_rule(rule);
        }
    }

    Result<Judgement> run() {
        if (product_size(matrix_) != 0) count_product();
        if (progress_.stopped()) return interrupted();
        for_each_include(matrix_, [&](const Cell& cell) {
            count_cell(cell);
            return true;
        });
        for (auto& line : lines_) {
            if (line.waived != 0 || line.cells != decltype(line.cells){})
                out_.rules.push_back(std::move(line));
        }
        if (expired_ != 0) {
            RuleCount count{std::string(kWaiverExpired)};
            count.cells[static_cast<std::size_t>(Severity::warning)] = expired_;
            out_.rules.push_back(std::move(count));
        }
        out_.warnings = matching_.idle();
        const auto idle = waiving_.idle();
        out_.warnings.insert(out_.warnings.end(), idle.begin(), idle.end());
        return std::move(out_);
    }

  private:
    struct Asked {
        const Rule* rule;
        bool waived;       ///< an entry of `waive` names it
        std::size_t line;  ///< of the counts: own rules of one id share it
        Ref said = 0;
        Ref counted = 0;  ///< after waivers
    };

    void add_rule(const Rule& rule) {
        if (rule.questions.empty()) rules_.push_back({&rule, waiving_.concerns(rule.id), line_of(rule.id)});
        for (const auto& part : rule.questions)
            add_rule(part);
    }

    std::size_t line_of(std::string_view rule) {
        const auto known = std::find_if(lines_.begin(), lines_.end(),
                                        [&](const RuleCount& line) { return line.rule == rule; });
        if (known != lines_.end()) return static_cast<std::size_t>(known - lines_.begin());
        lines_.push_back(RuleCount{std::string(rule)});
        return lines_.size() - 1;
    }

    void count_product() {
        Explorer explorer(matrix_, facts_, today_, deciding_, memo_, diagrams_, progress_);
        progress_.begin("rules asked", rules_.size());
        for (auto& asked : rules_) {
            asked.said = explorer.build_diagram(*asked.rule);
            if (!progress_.next()) return;
        }
        order_axes(explorer);
        for (auto& asked : rules_)
            asked.said = diagrams_.ordered(asked.said);
        find_excluded(explorer);
        apply_waivers(explorer);
        progress_.begin("tables counted", lines_.size() + 1);
        count_verdicts();
        count_lines();
        if (progress_.stopped()) return;
        find_idle(explorer);
    }

    void order_axes(const Explorer& explorer) {
        std::vector<std::size_t> busy(matrix_.axes.size(), 0);
        const auto touch = [&](Diagrams::Axes axes) {
            for (std::size_t axis = 0; axis < busy.size(); ++axis)
                busy[axis] += axes >> axis & 1u;
        };
        for (const auto& asked : rules_)
            touch(diagrams_.support(asked.said));
        for (const auto& condition : matrix_.exclude)
            touch(explorer.axes_of(condition));
        diagrams_.set_order(walking_order(diagrams_.sizes(), busy, block_));
    }

    // One diagram for all excludes, more where that would grow large.
    void find_excluded(Explorer& explorer) {
        Ref all = 0;
        for (const auto& condition : matrix_.exclude) {
            const auto one = explorer.matching(condition);
            const auto before = diagrams_.count();
            const auto both = diagrams_.either(all, one);
            if (diagrams_.count() - before > kLargestDiagram) {
                excluded_.push_back(all);
                all = one;
            } else {
                all = both;
            }
        }
        if (all != 0) excluded_.push_back(all);
    }

    void apply_waivers(Explorer& explorer) {
        for (const auto& waiver : matrix_.waivers)
            waiver_cells_.push_back(explorer.matching(waiver.when));
        for (auto& asked : rules_) {
            Ref active = 0, ended = 0;
            for (std::size_t i = 0; i < matrix_.waivers.size(); ++i) {
                const auto& waiver = matrix_.waivers[i];
                if (!asked.waived || waiver.rule != asked.rule->id) continue;
                auto& cells = waiving_.has_ended(waiver) ? ended : active;
                cells = diagrams_.either(cells, waiver_cells_[i]);
            }
            const auto states = diagrams_.combine(active, ended, [](Code is_active, Code has_ended) {
                return static_cast<Code>(is_active | has_ended << 1u);
            });
            asked.counted = diagrams_.combine(asked.said, states, [](Code code, Code state) {
                return answer::after_waiving(code, (state & 1u) != 0, (state & 2u) != 0);
            });
        }
    }

    // Counts of cells that are not excluded.
    [[nodiscard]] BitsetCounts counted(std::vector<Ref> layers) {
        layers.insert(layers.end(), excluded_.begin(), excluded_.end());
        return bitset_count(diagrams_, layers, block_, &progress_);
    }

    void count_verdicts() {
        std::vector<Ref> layers;
        for (const auto& asked : rules_) {
            if (const auto layer = diagrams_.map(asked.counted, verdict_planes); layer != 0)
                layers.push_back(layer);
        }
        const auto all = counted({}).alive;
        const auto found = counted(std::move(layers));
        const auto unknown = cells_with(kUnknownOrWorse, found);
        const auto degraded = cells_with(kDegradedOrWorse, found);
        add(Verdict::rejected, all - found.alive);
        add(Verdict::unknown, unknown);
        add(Verdict::degraded, degraded - unknown);
        add(Verdict::accepted, found.alive - degraded);
        progress_.next();
    }

    void count_lines() {
        std::vector<std::vector<Ref>> layers(lines_.size());
        std::vector<Ref> expired;
        for (const auto& asked : rules_) {
            const auto layer = diagrams_.map(asked.counted, line_planes);
            if (layer == 0) continue;
            layers[asked.line].push_back(layer);
            if (asked.waived) expired.push_back(layer);
        }
        for (std::size_t i = 0; i < lines_.size() && progress_.next(); ++i) {
            if (layers[i].empty()) continue;
            const auto found = counted(std::move(layers[i]));
            for (std::size_t s = 0; s < lines_[i].cells.size(); ++s)
                lines_[i].cells[s] += found.flag[s + kBehindDead];
            lines_[i].waived += cells_with(kWaived, found);
        }
        if (!expired.empty()) expired_ += cells_with(kExpired, counted(std::move(expired)));
    }

    // Own rules and waivers without a cell in the product.
    void find_idle(Explorer& explorer) {
        constexpr Code matched = 2;
        const auto any = [&](Ref cells) {
            const auto layer = diagrams_.map(cells, [](Code code) { return code != 0 ? matched : Code{0}; });
            return cells_with(matched, counted({layer})) != 0;
        };
        matching_.meet([&](const Condition& condition) { return any(explorer.matching(condition)); });
        waiving_.meet([&](const Waiver& waiver) {
            const auto cells = waiver_cells_[static_cast<std::size_t>(&waiver - matrix_.waivers.data())];
            return std::any_of(rules_.begin(), rules_.end(), [&](const Asked& asked) {
                return asked.rule->id == waiver.rule &&
                       any(diagrams_.combine(asked.said, cells, [](Code code, Code is_met) {
                           return static_cast<Code>(is_met != 0 ? code : 0);
                       }));
            });
        });
    }

    // One include.
    void count_cell(const Cell& cell) {
        matching_.meet(cell, {});
        std::vector<Code> said(lines_.size(), 0);
        auto worst = Verdict::accepted;
        for (const auto& asked : rules_) {
            if (!applies(*asked.rule, cell)) continue;
            const auto code = answer::of(ask(*asked.rule, cell, facts_, today_, &memo_), deciding_, cell);
            if (code == 0) continue;
            const auto met = asked.waived ? waiving_.meet(asked.rule->id, cell) : Waiving::Met{};
            const auto counts = answer::after_waiving(code, met.active != nullptr, !met.expired.empty());
            said[asked.line] |= line_planes(counts);
            worst = std::max(worst, answer::verdict(counts));
        }
        add(worst, 1);
        Code all = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            all |= said[i];
            for (std::size_t s = 0; s < lines_[i].cells.size(); ++s)
                lines_[i].cells[s] += said[i] >> (s + kBehindDead) & 1u;
            if ((said[i] & kWaived) != 0) ++lines_[i].waived;
        }
        if ((all & kExpired) != 0) ++expired_;
    }

    void add(Verdict verdict, std::uint64_t cells) {
        out_.verdicts[static_cast<std::size_t>(verdict)] += cells;
    }

    const Matrix& matrix_;
    const Facts& facts_;
    std::string_view today_;
    std::uint64_t block_;
    Progress progress_;
    const std::vector<Rule> own_;
    Waiving waiving_;
    Matching matching_;
    DecidingStages deciding_;
    Memo memo_;
    Diagrams diagrams_;
    std::vector<RuleCount> lines_;
    std::vector<Asked> rules_;
    std::vector<Ref> excluded_;
    std::vector<Ref> waiver_cells_;  ///< where each entry of `waive` holds
    std::uint64_t expired_ = 0;
    Judgement out_;
};

}  // namespace

Result<Judgement> count(const Matrix& matrix, const Facts& facts, std::string_view today, std::uint64_t block,
                        const OnProgress& on_progress) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    if (product_size(matrix) >= most - matrix.include.size()) {
        return input_failure(
            fmt::format("{}: the matrix has more than {} cells: so many are not counted", matrix.path, most),
            "shorten an axis, or zip axes that go together");
    }
    return Counter(matrix, facts, today, block, on_progress).run();
}

}  // namespace cudamatrix::rules
