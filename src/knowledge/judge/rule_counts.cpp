#include "knowledge/judge/rule_counts.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

bool has_any(const Cell& cell, FieldSet fields) {
    return std::any_of(all_fields().begin(), all_fields().end(), [&](const FieldInfo& field) {
        return fields.contains(field.field) && cell.has(field.field);
    });
}

}  // namespace

void Tally::add(std::size_t of_rule, Severity severity, bool is_waived) {
    line = of_rule;
    if (is_waived) {
        waived = true;
    } else {
        severities[static_cast<std::size_t>(severity)] = true;
    }
}

bool Tally::empty() const {
    return !waived && !expired &&
           std::none_of(severities.begin(), severities.end(), [](bool set) { return set; });
}

std::size_t Counts::line_of(std::string_view rule) {
    const auto known =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.count.rule == rule; });
    if (known != lines_.end()) return static_cast<std::size_t>(known - lines_.begin());
    lines_.push_back({RuleCount{std::string(rule)}, 0, {}});
    return lines_.size() - 1;
}

void Counts::begin_cell() {
    ++cell_;
}

void Counts::add(const Tally& tally) {
    auto& line = lines_[tally.line];
    if (line.cell != cell_) {
        line.cell = cell_;
        line.seen = {};
    }
    for (std::size_t s = 0; s < tally.severities.size(); ++s) {
        if (tally.severities[s] && !line.seen.severities[s]) ++line.count.cells[s];
        line.seen.severities[s] = line.seen.severities[s] || tally.severities[s];
    }
    if (tally.waived && !line.seen.waived) ++line.count.waived;
    line.seen.waived = line.seen.waived || tally.waived;
    if (tally.expired && expired_cell_ != cell_) {
        expired_cell_ = cell_;
        ++expired_;
    }
}

std::vector<RuleCount> Counts::take() && {
    std::vector<RuleCount> out;
    for (auto& line : lines_) {
        if (line.cell != 0) out.push_back(std::move(line.count));
    }
    if (expired_ != 0) {
        RuleCount count{std::string(kWaiverExpired)};
        count.cells[static_cast<std::size_t>(Severity::warning)] = expired_;
        out.push_back(std::move(count));
    }
    return out;
}

Gaps::Gaps(const std::vector<Rule>& own) {
    std::vector<std::string> texts;
    for (const auto* list : {&all_rules(), &own}) {
        for (const auto& rule : *list) {
            for (const auto need : rule.needs) {
                auto text = need_text(rule, need);
                // The clauses of an own rule share the needs of its `when`.
                if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
                texts.push_back(std::move(text));
                needs_.push_back(need);
            }
        }
    }
    texts_ = std::make_shared<const std::vector<std::string>>(std::move(texts));
}

std::vector<std::string_view> Gaps::find(const Cell& cell) const {
    std::vector<std::string_view> gaps;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
        if (!has_any(cell, needs_[i])) gaps.emplace_back((*texts_)[i]);
    }
    return gaps;
}

std::vector<std::string_view> Gaps::of(const Cell& cell, bool of_product) {
    if (!of_product) return find(cell);
    if (!product_known_) product_ = find(cell);
    product_known_ = true;
    return product_;
}

Matching::Matching(const Matrix& matrix) : matrix_(matrix) {
    for (const auto& rule : matrix.rules)
        open_.push_back({&rule, Projection(matrix, fields_of(rule.when))});
}

void Matching::meet(const Cell& cell, std::span<const std::uint64_t> rows) {
    std::erase_if(open_, [&](Open& open) {
        if (rows.empty()) return matches(open.rule->when, cell);
        auto& tried = open.tried.entry(rows);
        const bool is_new = tried == 0;
        tried = 1;
        return is_new && matches(open.rule->when, cell);
    });
}

void Matching::meet(const std::function<bool(const Condition&)>& any) {
    std::erase_if(open_, [&](const Open& open) { return any(open.rule->when); });
}

std::vector<Diagnostic> Matching::idle() const {
    std::vector<Diagnostic> out;
    for (const auto& open : open_) {
        out.push_back(Diagnostic::warning(fmt::format("rule {} matches no cell{}", open.rule->id,
                                                      missing_fields(matrix_, open.rule->when)),
                                          open.rule->where)
                          .with_fix("correct its when, or delete it"));
    }
    return out;
}

}  // namespace cudamatrix::rules
