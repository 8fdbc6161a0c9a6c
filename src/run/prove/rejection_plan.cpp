#include "run/prove/rejection_attempt.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::job {
namespace {

// How many of a finding's cells are looked at for one that can be attempted.
constexpr std::size_t kMostTried = 100;

// Why a rejection of this stage cannot be attempted here, whatever the rule.
std::string beyond_attempts(Stage stage) {
    switch (stage) {
        case Stage::driver_load:
            return "at driver_load it needs the GPU and its kernel driver";
        case Stage::image_pull:
            return "at image_pull it needs the image's registry, which is not asked";
        case Stage::container_start:
            return "at container_start it needs the driver and the container toolkit of the cell";
        case Stage::runtime:
        case Stage::torch_compile:
            return fmt::format("at {} it needs the cell's GPU", to_string(stage));
        case Stage::install:
        case Stage::build:
            break;
    }
    return fmt::format("no attempt is known for this rule at {}", to_string(stage));
}

std::vector<std::pair<std::string, std::string>> halves(const Finding& finding, const Cell& cell) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& field : all_fields()) {
        const bool about = std::ranges::find(finding.about, field.field) != finding.about.end();
        const auto* value = about ? cell.get(field.field) : nullptr;
        if (value != nullptr) out.emplace_back(field.name, value->text);
    }
    return out;
}

PlannedRejection plan_one(const RunInput& input, const Finding& finding,
                          const std::vector<const JudgedCell*>& cells) {
    PlannedRejection out;
    out.result.rule = finding.rule;
    out.result.stage = to_string(finding.stage);
    out.result.predicted = finding.message;
    out.result.fields = halves(finding, cells.front()->cell);
    for (const auto* cell : cells)
        out.result.cells.push_back(cell->id);
    const auto* rule = rules::rule_named(finding.rule);
    if (rule == nullptr || rule->proof.attempt == rules::Attempt::none) {
        out.result.reason = rule == nullptr ? "a rule of the matrix file says only what it requires"
                                            : beyond_attempts(finding.stage);
        return out;
    }
    for (std::size_t i = 0; i < std::min(cells.size(), kMostTried); ++i) {
        auto planned = plan_attempt({input.matrix, input.facts, cells[i]->cell, *rule, finding});
        if (auto* reason = std::get_if<std::string>(&planned)) {
            if (out.result.reason.empty()) out.result.reason = std::move(*reason);
            continue;
        }
        out.attempt = std::move(std::get<PlannedAttempt>(planned));
        out.result.attempt = out.attempt->attempt;
        out.result.control = out.attempt->control;
        out.result.reason.clear();
        break;
    }
    return out;
}

}  // namespace

std::vector<PlannedRejection> plan_rejections(const RunInput& input, const Choice& choice) {
    const auto& findings = input.judgement.findings;
    std::vector<std::vector<const JudgedCell*>> cells_of(findings.size());
    for (const auto& judged : input.judgement.cells) {
        if (!choice.means(judged.id, judged.cell)) continue;
        for (const auto index : judged.findings)
            cells_of[index].push_back(&judged);
    }
    std::vector<PlannedRejection> planned;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        if (cells_of[i].empty() || findings[i].verdict() != Verdict::rejected) continue;
        planned.push_back(plan_one(input, findings[i].finding, cells_of[i]));
    }
    return planned;
}

}  // namespace cudamatrix::job
