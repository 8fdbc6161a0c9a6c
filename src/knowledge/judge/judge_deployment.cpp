// Judging what images and services of the matrix file add to cells: packages and environment variables.

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "knowledge/facts/images.hpp"
#include "knowledge/finding/finding.hpp"
#include "knowledge/judge/deciding.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/judge/own_rules.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/deployment/extended_cell.hpp"
#include "matrix/deployment/services.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

// Why cells are unknown by what is added to them, by their place in the judgement.
using UnknownCells = std::map<std::size_t, std::pair<Stage, std::string>>;

// What one entry adds, to which cells.
struct Addition {
    std::string what;                   ///< "images: train", "services: trainer"
    const ImageEntry* image = nullptr;  ///< nullptr: the cells as they are
    const Service* service = nullptr;   ///< nullptr: the entry of images alone
    std::vector<Variable> members;      ///< what is judged: its packages and variables
};

constexpr std::string_view kCapabilities = "NVIDIA_DRIVER_CAPABILITIES";

// What a service sets. An engine writes the capabilities of a reservation into that variable, over any other.
std::vector<Variable> judged_variables(const Service& service) {
    const auto& words = service.gpu.capabilities;
    auto members = service.environment;
    if (words.empty()) return members;
    members.erase(std::remove_if(members.begin(), members.end(),
                                 [](const Variable& member) { return member.name == kCapabilities; }),
                  members.end());
    std::vector<std::string> names;
    for (const auto& word : words)
        names.push_back(word.text);
    members.push_back({std::string(kCapabilities), text::join(names, ","), words.front().where});
    return members;
}

std::vector<Addition> additions_of(const Deployment& deployment) {
    std::vector<Addition> out;
    for (const auto& image : deployment.images) {
        Addition added{"images: " + image.name, &image, nullptr, image.pip};
        added.members.insert(added.members.end(), image.env.begin(), image.env.end());
        out.push_back(std::move(added));
    }
    for (const auto& service : deployment.services) {
        const auto members = judged_variables(service);
        const auto add = [&](const ImageEntry* image) {
            out.push_back({"services: " + service.name, image, &service, members});
        };
        if (deployment.images.empty()) add(nullptr);
        for (const auto& image : deployment.images) {
            if (service.image.text.empty() || service.image.text == image.name) add(&image);
        }
    }
    return out;
}

bool is_waived(const Matrix& matrix, const Cell& cell, std::string_view rule, std::string_view today) {
    return std::any_of(matrix.waivers.begin(), matrix.waivers.end(), [&](const Waiver& waiver) {
        return waiver.rule == rule && waiver.until >= today && matches(waiver.when, cell);
    });
}

// The member that a finding is about: rules name it.
const Variable& about(const Addition& addition, const Finding& finding) {
    const auto named =
        std::find_if(addition.members.begin(), addition.members.end(), [&](const Variable& member) {
            return finding.aspect == member.name || finding.message.find(member.name) != std::string::npos;
        });
    return named == addition.members.end() ? addition.members.front() : *named;
}

// What a rule can see of a cell: cells alike in it get one answer.
std::string view_of(const Rule& rule, const Cell& cell) {
    std::string view;
    const auto fields = depends_on(rule, {.releases = has_unpinned(cell.get(Field::packages))});
    for (const auto& field : all_fields()) {
        const auto* value = fields.contains(field.field) ? cell.get(field.field) : nullptr;
        view += value == nullptr ? "-\n" : value->text + "\n";
    }
    return view;
}

class Additions {
  public:
    Additions(const Matrix& matrix, const Facts& facts, const Judgement& judgement, std::string_view today)
        : matrix_(matrix), facts_(facts), judgement_(judgement), today_(today) {}

    void judge(const Addition& addition) {
        if (addition.members.empty()) return;
        first_ = out_.size();
        for (const auto& rule : all_rules()) {
            if (!rule.reads.contains(Field::env) && !rule.reads.contains(Field::packages)) continue;
            std::map<std::string, Findings> known;
            for (const auto& cell : judgement_.cells) {
                if (cell.verdict != Verdict::accepted && cell.verdict != Verdict::degraded) continue;
                if (addition.image == nullptr || matches(addition.image->when, cell.cell))
                    judge_cell(addition, rule, cell, known);
            }
        }
    }

    // Cells that a missing fact keeps from an answer.
    UnknownCells unknown;

    std::vector<Diagnostic> take() {
        for (std::size_t i = 0; i < out_.size(); ++i) {
            out_[i].notes.insert(
                out_[i].notes.begin(),
                fmt::format("{}, first {}", text::count(cells_[i].count, "cell"), cells_[i].first));
        }
        return std::move(out_);
    }

  private:
    struct Cells {
        std::size_t count = 0;
        std::string first;
    };

    void judge_cell(const Addition& addition, const Rule& rule, const JudgedCell& judged,
                    std::map<std::string, Findings>& known) {
        ExtendedCell before(judged.cell);
        ExtendedCell after(judged.cell);
        // A contradiction is what rendering refuses the cell for.
        for (auto* cell : {&before, &after}) {
            if (addition.image == nullptr || (addition.service == nullptr && cell == &before)) continue;
            if (!cell->add_packages(addition.image->pip).empty() ||
                !cell->add_env(addition.image->env).empty())
                return;
        }
        if (addition.service != nullptr) after.set_env(addition.members);
        const auto [place, fresh] =
            known.try_emplace(view_of(rule, after.cell()) + view_of(rule, before.cell()));
        if (fresh) place->second = news(rule, before.cell(), after.cell());
        for (const auto& finding : place->second) {
            if (is_waived(matrix_, judged.cell, rule.id, today_)) continue;
            add(addition, finding, judged.id);
            if (finding.severity != Severity::unknown) continue;
            const auto place_of = static_cast<std::size_t>(&judged - judgement_.cells.data());
            unknown.try_emplace(place_of, finding.stage,
                                fmt::format("{}: {}", addition.what, finding.message));
        }
    }

    // What the rule says only of the cell with the addition.
    Findings news(const Rule& rule, const Cell& before, const Cell& after) const {
        if (!applies(rule, after)) return {};
        auto findings = evaluate(rule, after, facts_, today_);
        if (!applies(rule, before)) return findings;
        const auto old = ask(rule, before, facts_, today_);
        findings.erase(std::remove_if(findings.begin(), findings.end(),
                                      [&](const Finding& finding) {
                                          return std::any_of(old.begin(), old.end(),
                                                             [&](const Finding& other) {
                                                                 return other.message == finding.message;
                                                             });
                                      }),
                       findings.end());
        return findings;
    }

    void add(const Addition& addition, const Finding& finding, const std::string& cell) {
        const auto message = fmt::format("{}: {} [{}, at {}]", addition.what, finding.message, finding.rule,
                                         to_string(finding.stage));
        const auto& where = about(addition, finding).where;
        for (std::size_t i = first_; i < out_.size(); ++i) {
            if (out_[i].message != message) continue;
            ++cells_[i].count;
            return;
        }
        Diagnostic diagnostic{finding.severity, where, message, fact_notes(finding), finding.fix_text()};
        out_.push_back(std::move(diagnostic));
        cells_.push_back({1, cell});
    }

    const Matrix& matrix_;
    const Facts& facts_;
    const Judgement& judgement_;
    std::string_view today_;
    std::size_t first_ = 0;  ///< where the diagnostics of the current addition begin
    std::vector<Diagnostic> out_;
    std::vector<Cells> cells_;
};

std::vector<Diagnostic> idle_images(const Matrix& matrix, const Deployment& deployment,
                                    const Judgement& judgement) {
    std::vector<Diagnostic> out;
    for (const auto& image : deployment.images) {
        if (std::any_of(judgement.cells.begin(), judgement.cells.end(),
                        [&](const JudgedCell& judged) { return matches(image.when, judged.cell); }))
            continue;
        out.push_back(
            Diagnostic::warning(fmt::format("images: no cell meets `when` of {}{}: it gives no image",
                                            image.name, missing_fields(matrix, image.when)),
                                image.where)
                .with_fix("delete it, or change when"));
    }
    return out;
}

Diagnostic unknown_word(std::string_view message, std::string_view word,
                        const std::vector<std::string>& known, const Location& where) {
    const auto near = text::did_you_mean(word, known);
    return Diagnostic::error(fmt::format("{}: expected {}", message, text::join(known, ", ")), where)
        .with_fix(near ? fmt::format("did you mean {}?", *near) : "");
}

// Words of closed lists that the facts have: what a GPU can be asked for.
std::vector<Diagnostic> unknown_capabilities(const Deployment& deployment, const Facts& facts) {
    std::vector<Diagnostic> out;
    const auto look_at = [&](const std::string& entry, const std::vector<Variable>& variables) {
        for (const auto& [name, value, where] : variables) {
            const auto word = name == kCapabilities ? lookup::unknown_capability(facts, value) : "";
            if (word.empty()) continue;
            auto known = lookup::gpu_capabilities(facts, false);
            known.insert(known.begin(), "all");
            out.push_back(unknown_word(fmt::format("{}: {} {}: no capability of a driver is called {}", entry,
                                                   name, in_quotes(value), word),
                                       word, known, where));
        }
    };
    for (const auto& image : deployment.images)
        look_at("images: " + image.name, image.env);
    const auto reserved = lookup::gpu_capabilities(facts, true);
    for (const auto& service : deployment.services) {
        for (const auto& [text, where] : service.gpu.capabilities) {
            if (std::find(reserved.begin(), reserved.end(), text) != reserved.end()) continue;
            auto& said = out.emplace_back(
                unknown_word(fmt::format("services: {}: capabilities: a GPU cannot be reserved with {}",
                                         service.name, text),
                             text, reserved, where));
            if (text == "gpu") said.fix = "delete it: gpu is always among them";
        }
        look_at("services: " + service.name, service.environment);
    }
    return out;
}

// Like cells that say it by themselves, where the stage decides.
void mark_unknown(const Matrix& matrix, const UnknownCells& unknown, Judgement& judgement) {
    const auto counted = [&](Verdict verdict) -> std::uint64_t& {
        return judgement.verdicts[static_cast<std::size_t>(verdict)];
    };
    const DecidingStages deciding(matrix);
    for (const auto& [place, why] : unknown) {
        auto& cell = judgement.cells[place];
        auto& stage = cell.stages[static_cast<std::size_t>(why.first)];
        stage = std::max(stage, Verdict::unknown);
        if (!deciding.contain(why.first, cell.cell)) continue;
        --counted(cell.verdict);
        ++counted(cell.verdict = Verdict::unknown);
        cell.held = why.second;
    }
}

}  // namespace
}  // namespace cudamatrix::rules

namespace cudamatrix {

void judge_deployment(const Matrix& matrix, const Facts& facts, std::string_view today,
                      Judgement& judgement) {
    const auto& deployment = matrix.deployment;
    auto& out = judgement.deployment;
    out = rules::unknown_capabilities(deployment, facts);
    if (judgement.cells.empty()) return;
    for (auto& warning : rules::idle_images(matrix, deployment, judgement))
        out.push_back(std::move(warning));
    rules::Additions additions(matrix, facts, judgement, today);
    for (const auto& addition : rules::additions_of(deployment))
        additions.judge(addition);
    for (auto& finding : additions.take())
        out.push_back(std::move(finding));
    rules::mark_unknown(matrix, additions.unknown, judgement);
}

Result<Judgement> judge_whole(const Matrix& matrix, const Facts& facts, const JudgeOptions& options) {
    auto judgement = judge(matrix, facts, options);
    if (judgement.ok()) judge_deployment(matrix, facts, options.today, *judgement);
    return judgement;
}

bool Judgement::deployment_has(Severity severity) const {
    return std::any_of(deployment.begin(), deployment.end(),
                       [&](const Diagnostic& each) { return each.severity == severity; });
}

std::vector<Diagnostic> all_warnings(const Matrix& matrix, const Judgement& judgement) {
    auto out = matrix.warnings;
    out.insert(out.end(), judgement.warnings.begin(), judgement.warnings.end());
    out.insert(out.end(), judgement.deployment.begin(), judgement.deployment.end());
    return out;
}

}  // namespace cudamatrix
