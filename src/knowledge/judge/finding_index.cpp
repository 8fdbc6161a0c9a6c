#include "knowledge/judge/finding_index.hpp"

#include "knowledge/judge/deciding.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::rules {
namespace {

// What a finding is about, spelt out: equal keys are the same sentence about the same values.
std::string key_of(const Finding& finding, const Cell& cell) {
    auto key = fmt::format("{}\n{}\n{}\n{}\n{}", finding.rule, finding.aspect, to_string(finding.stage),
                           to_string(finding.severity), finding.message);
    for (const auto field : finding.about) {
        if (const auto* value = cell.get(field)) key.append("\n").append(value->text);
    }
    return key;
}

}  // namespace
}  // namespace cudamatrix::rules

namespace cudamatrix {

Location place_in(const Finding& finding, const Cell& cell) {
    if (const auto* value = cell.get(finding.primary)) return value->where;
    for (const auto field : finding.about) {
        if (const auto* value = cell.get(field)) return value->where;
    }
    return {};
}

}  // namespace cudamatrix

namespace cudamatrix::rules {

FindingIndex::FindingIndex(const Matrix& matrix) : matrix_(matrix), product_(product_size(matrix)) {}

std::uint32_t FindingIndex::of(const Finding& finding, const Cell& cell, const Waiver* waived,
                               const std::function<Finding()>& complete) {
    auto key = key_of(finding, cell);
    if (waived != nullptr) key += fmt::format("\nwaived {}", waived - matrix_.waivers.data());
    const auto [known, is_new] = ids_.emplace(std::move(key), next_id());
    if (!is_new) return known->second;
    auto whole = complete();
    const auto place = place_in(whole, cell);
    FindingGroup group{std::move(whole), place, 0, {}};
    if (waived != nullptr) group.waived = Waived{waived->because, waived->until, waived->where};
    add(std::move(group), cell);
    return known->second;
}

std::uint32_t FindingIndex::of_expiry(const Waiver& waiver, const Finding& news, const Cell& cell) {
    const auto key =
        fmt::format("{}\n{}\n{}", news.rule, &waiver - matrix_.waivers.data(), to_string(news.stage));
    const auto [known, is_new] = ids_.emplace(key, next_id());
    if (is_new) add({news, waiver.where, 0, {}}, cell);
    return known->second;
}

void FindingIndex::meet(std::uint32_t group, const std::string& cell_id) {
    auto& met = groups_[group];
    if (met.cells++ == 0) met.first_cell = cell_id;
}

std::vector<FindingGroup> FindingIndex::take() && {
    const DecidingStages deciding(matrix_);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        auto& finding = groups_[i].finding;
        if (!deciding.contain(finding.stage, firsts_[i])) continue;  // it rejects no cell
        // An exclude does not touch includes.
        if (finding.severity != Severity::error || firsts_[i].index >= product_) continue;
        if (auto option = exclude_fix(matrix_, firsts_[i], finding))
            finding.fixes.push_back(std::move(*option));
    }
    return std::move(groups_);
}

void FindingIndex::add(FindingGroup group, const Cell& cell) {
    groups_.push_back(std::move(group));
    firsts_.push_back(cell);
}

namespace {

// Whether an exclude of `field: text` takes other values of the axis with it.
bool takes_others(const Matrix& matrix, Field field, const std::string& text) {
    const Condition condition{{{field, {{Predicate{Predicate::Op::equal, text}}}, {}}}, {}};
    for (const auto& axis : matrix.axes) {
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

// A condition looks at the items of a list one by one and at no map as a whole: it cannot name such a value.
bool is_of_many(Field field, const Value& value) {
    return info(field).syntax == Syntax::string_map || value.items.size() > 1;
}

bool varies(const Matrix& matrix, Field field) {
    return std::any_of(matrix.axes.begin(), matrix.axes.end(), [&](const Axis& axis) {
        return axis.rows.size() > 1 &&
               std::find(axis.fields.begin(), axis.fields.end(), field) != axis.fields.end();
    });
}

}  // namespace

std::optional<FixOption> exclude_fix(const Matrix& matrix, const Cell& cell, const Finding& finding) {
    FixOption option;
    for (const auto field : finding.about) {
        if (!varies(matrix, field) || !cell.has(field)) continue;
        if (is_of_many(field, *cell.get(field))) return std::nullopt;
        const auto& text = cell.get(field)->text;
        if (takes_others(matrix, field, text)) return std::nullopt;
        option.exclude.emplace_back(field, text);
        option.text +=
            fmt::format("{}{}: \"{}\"", option.text.empty() ? "exclude: {" : ", ", info(field).name, text);
    }
    if (option.exclude.empty()) return std::nullopt;
    option.text += "}";
    return option;
}

}  // namespace cudamatrix::rules
