#include "advise/review/reasons.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/solve/conflict.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::review {
namespace {

constexpr std::array kAbout{Field::torch, Field::cuda, Field::image, Field::driver, Field::python, Field::os};

bool works(const JudgedCell& judged) {
    return judged.verdict <= solve::kGoodEnough;
}

bool is_newer(Field field, const std::string& a, const std::string& b) {
    const auto left = version_of(field, a), right = version_of(field, b);
    return left && right && *left > *right;
}

// Everything that the rules accept in the cell.
rules::Acceptances accepted_in(const Cell& cell, const Facts& facts, std::string_view today) {
    rules::Acceptances out;
    for (const auto& rule : rules::all_rules()) {
        if (!rules::applies(rule, cell)) continue;
        for (auto& each : rules::passes(rule, cell, facts, today))
            out.push_back(std::move(each));
    }
    return out;
}

void add_reasons(const std::vector<const Finding*>& findings, std::vector<Reason>& out) {
    for (const auto* finding : findings) {
        const auto same = std::ranges::find_if(out, [&](const Reason& reason) {
            return reason.rule == finding->rule && reason.message == finding->message;
        });
        if (same != out.end())
            ++same->cells;
        else
            out.push_back(
                {std::string(finding->rule), finding->message, 1, finding->facts, finding->verdict()});
    }
}

}  // namespace

std::vector<Chosen> chosen_values(const Judgement& judgement, const Facts& facts, std::string_view today) {
    std::vector<Chosen> out;
    for (const auto field : kAbout) {
        const JudgedCell* best = nullptr;
        for (const auto& judged : judgement.cells) {
            const auto* value = judged.cell.get(field);
            if (value == nullptr || !works(judged)) continue;
            if (best == nullptr || is_newer(field, value->text, best->cell.get(field)->text)) best = &judged;
        }
        if (best == nullptr) continue;
        auto& chosen = out.emplace_back(Chosen{field, best->cell.get(field)->text, best->id, {}});
        for (auto& each : accepted_in(best->cell, facts, today)) {
            if (std::ranges::find(each.about, field) == each.about.end()) continue;
            chosen.passed.push_back(
                {std::string(each.rule), std::move(each.sentence), std::move(each.facts)});
        }
    }
    return out;
}

std::vector<Rejected> rejected_values(const Matrix& matrix, const Judgement& judgement) {
    std::vector<std::pair<std::vector<const JudgedCell*>, Rejected>> found;
    for (const auto field : kAbout) {
        std::vector<std::pair<std::string, std::vector<const JudgedCell*>>> by_value;
        for (const auto& judged : judgement.cells) {
            const auto* value = judged.cell.get(field);
            if (value == nullptr) continue;
            auto same = std::ranges::find(by_value, value->text, [](const auto& each) { return each.first; });
            if (same == by_value.end()) same = by_value.insert(same, {value->text, {}});
            same->second.push_back(&judged);
        }
        for (auto& [value, cells] : by_value) {
            if (std::ranges::any_of(cells, [](const JudgedCell* cell) { return works(*cell); })) continue;
            auto same = std::ranges::find(found, cells, [](const auto& each) { return each.first; });
            if (same == found.end()) same = found.emplace(same, std::move(cells), Rejected());
            same->second.values.emplace_back(field, value);
        }
    }
    std::vector<Rejected> out;
    const DecidingStages deciding(matrix);
    for (auto& [cells, rejected] : found) {
        rejected.cells = cells.size();
        for (const auto* cell : cells)
            add_reasons(deciding_findings(deciding, *cell, judgement), rejected.because);
        sort_reasons(rejected.because);
        out.push_back(std::move(rejected));
    }
    return out;
}

}  // namespace cudamatrix::review
