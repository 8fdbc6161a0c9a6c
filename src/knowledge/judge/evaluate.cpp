#include "knowledge/judge/evaluate.hpp"

#include <algorithm>
#include <deque>

#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/candidates.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "knowledge/rules/nightly.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::rules {
namespace {

bool same_question(const Finding& a, const Finding& b) {
    return a.aspect == b.aspect;
}

// A verdict on an unverified fact would be a guess: it becomes unknown and says what it would have been.
void doubt_unverified(Finding& finding) {
    if (finding.severity == Severity::unknown) return;
    const auto doubtful = std::find_if(finding.facts.begin(), finding.facts.end(), [](const FactRef& fact) {
        return fact.confidence == Confidence::unverified;
    });
    if (doubtful == finding.facts.end()) return;
    finding.message = fmt::format("{}; this rests on fact {}, which is unverified: {} if it is right",
                                  finding.message, doubtful->id, to_string(finding.verdict()));
    finding.severity = Severity::unknown;
}

// Where an answer is told, each fact behind it says that it is old by itself: no newer one hides it.
template <typename Answers>
void date_facts(Answers& answers, std::string_view today) {
    for (auto& answer : answers) {
        for (auto& fact : answer.facts)
            fact.is_old = is_old(fact.as_of, today);
    }
}

// What a cell that says no arch is asked with instead, and the GPU that implies it.
struct ImpliedArch {
    Value arch;
    std::string gpu;
    FactRef fact;
};

std::optional<ImpliedArch> implied_arch(FieldSet reads, const Facts& facts, const Cell& cell) {
    if (!reads.contains(Field::arch)) return std::nullopt;
    const auto arch = rules::implied_arch(facts, cell);
    if (arch.empty()) return std::nullopt;
    const auto& gpu = cell.get(Field::gpu)->text;
    return ImpliedArch{{std::string(arch), {}, {}}, gpu, lookup::gpu(facts, gpu)->ref()};
}

// What a rule that reads `reads` sees of a cell: what the cell implies stands in the place of what it leaves
// open. All rules of a cell see the same, so it is found by more fields than a rule may declare.
class View {
  public:
    View(FieldSet reads, const Cell& cell, const Facts& facts, Memo* memo, ReadLog* log)
        : arch_(implied_arch(reads, facts, cell)), cell_(cell, reads, log) {
        if (arch_) cell_ = cell_.with(Field::arch, &arch_->arch);
        if (reads.contains(Field::packages)) packages_ = with_releases(cell, facts, memo, log);
        if (packages_) cell_ = cell_.with_releases(&*packages_);
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    [[nodiscard]] const ProjectedCell& cell() const { return cell_; }
    [[nodiscard]] const std::optional<ImpliedArch>& arch() const { return arch_; }

  private:
    std::optional<ImpliedArch> arch_;
    std::optional<Value> packages_;
    ProjectedCell cell_;
};

// What is about the arch is about the GPU that implies it. True where it was.
bool name_gpu(std::vector<Field>& about) {
    const auto arch = std::find(about.begin(), about.end(), Field::arch);
    if (arch == about.end()) return false;
    if (std::find(about.begin(), about.end(), Field::gpu) == about.end()) {
        *arch = Field::gpu;
    } else {
        about.erase(arch);
    }
    return true;
}

void name_gpu(Findings& found, const std::optional<ImpliedArch>& implied) {
    if (!implied) return;
    for (auto& finding : found) {
        if (finding.primary == Field::arch) finding.primary = Field::gpu;
        if (!name_gpu(finding.about)) continue;
        finding.message += fmt::format(" ({} is in hosts of {} only)", implied->gpu, implied->arch.text);
        finding.facts.push_back(implied->fact);
        finding.drop_bounds(Field::arch);
    }
}

Findings ask_projected(const Rule& rule, const Context& context) {
    Findings found;
    Ask ask(context, rule.stage, found);
    rule.judge(ask);
    for (auto& finding : found) {
        finding.rule = rule.id;
        doubt_unverified(finding);
    }
    return found;
}

struct Answers {
    Findings findings;
    Acceptances passed;
};

Verdict worst_answer(const Finding& question, const Findings& findings) {
    auto verdict = Verdict::accepted;
    for (const auto& finding : findings) {
        if (same_question(finding, question)) verdict = std::max(verdict, finding.verdict());
    }
    return verdict;
}

// What the rule says once `option` is applied; nothing when a value of it is not one of its field.
std::optional<Answers> after_fix(const Rule& rule, const Cell& cell, const FixOption& option,
                                 const Facts& facts, std::string_view today, Memo& memo) {
    std::deque<Value> storage;
    Cell changed = cell;
    for (const auto& [field, text] : option.set) {
        auto value = value_from_text(field, text);
        if (std::holds_alternative<ValueProblem>(value)) return std::nullopt;
        changed.set(field, &storage.emplace_back(std::get<Value>(std::move(value))));
    }
    const View view(rule.reads, changed, facts, &memo, nullptr);
    Answers out;
    out.findings = ask_projected(rule, {view.cell(), facts, today, &memo, &out.passed});
    return out;
}

// A limit is no worse: the rule names it.
bool makes_worse(const Findings& before, const Findings& after) {
    return std::any_of(after.begin(), after.end(), [&](const Finding& now) {
        if (now.verdict() < Verdict::unknown) return false;
        return std::none_of(before.begin(), before.end(), [&](const Finding& then) {
            return same_question(then, now) && then.verdict() >= now.verdict();
        });
    });
}

// What an option makes of a finding: the rule falls silent, having nothing to look at any more, says
// something milder, or yes.
enum class Effect { none, silence, milder, accepted };

// Finds what satisfies the rule, by asking it.
class Satisfying {
  public:
    Satisfying(const Rule& rule, const Cell& cell, const ProjectedCell& projected, const Facts& facts,
               std::string_view today, const Findings& found)
        : rule_(rule), cell_(cell), context_{projected, facts, today, &memo_, nullptr}, found_(found) {}

    std::vector<FixOption> options_for(const Finding& finding) {
        std::vector<FixOption> out;
        for (const auto& bound : finding.bounds) {
            for (auto& option : options_for(finding, bound)) {
                const auto is_same = [&](const FixOption& other) { return other.set == option.set; };
                if (std::none_of(out.begin(), out.end(), is_same)) out.push_back(std::move(option));
            }
        }
        return out;
    }

  private:
    // Of the first tier that has any, the first option of each group. Silence is a way out only where no tier
    // has an answer.
    std::vector<FixOption> options_for(const Finding& finding, const Bound& bound) {
        std::vector<FixOption> silent;
        for (auto& tier : candidates(context_, bound)) {
            std::vector<FixOption> answered, in_silence;
            for (auto& group : tier) {
                const auto effects = effects_of(finding, bound, group);
                const auto at = [&](Effect least) {
                    return static_cast<std::size_t>(
                        std::find_if(effects.begin(), effects.end(),
                                     [&](Effect effect) { return effect >= least; }) -
                        effects.begin());
                };
                const auto first = at(bound.accepted_only ? Effect::accepted : Effect::milder);
                if (first < effects.size()) {
                    answered.push_back(std::move(group[first]));
                } else if (const auto quiet = at(Effect::silence);
                           !bound.accepted_only && quiet < effects.size()) {
                    in_silence.push_back(std::move(group[quiet]));
                }
            }
            if (!answered.empty()) return answered;
            if (silent.empty()) silent = std::move(in_silence);
        }
        return silent;
    }

    // Up to the first that is enough.
    std::vector<Effect> effects_of(const Finding& finding, const Bound& bound,
                                   std::vector<FixOption>& group) {
        std::vector<Effect> out;
        for (auto& option : group) {
            out.push_back(effect_of(finding, option));
            if (out.back() >= (bound.accepted_only ? Effect::accepted : Effect::milder)) break;
        }
        return out;
    }

    Effect effect_of(const Finding& finding, FixOption& option) {
        const auto after = after_fix(rule_, cell_, option, context_.facts, context_.today, memo_);
        if (!after || !vanished(finding, after->findings) || makes_worse(found_, after->findings))
            return Effect::none;
        if (finding.severity == Severity::unknown)
            option.text += fmt::format(" (then {})", to_string(worst_answer(finding, after->findings)));
        const auto is_about = [&](const auto& answer) { return answer.aspect == finding.aspect; };
        const auto is_milder = [&](const Finding& now) {
            return is_about(now) && now.severity != Severity::note;
        };
        const auto& [findings, passed] = *after;
        if (std::any_of(findings.begin(), findings.end(), is_milder)) return Effect::milder;
        // A yes without an aspect is one to all questions of the rule.
        const auto says_yes = [&](const Acceptance& each) { return each.aspect.empty() || is_about(each); };
        return std::any_of(passed.begin(), passed.end(), says_yes) ? Effect::accepted : Effect::silence;
    }

    const Rule& rule_;
    const Cell& cell_;
    Memo memo_;
    Context context_;
    const Findings& found_;
};

}  // namespace

bool gpu_implies_arch(const Matrix& matrix, const Facts& facts) {
    if (std::any_of(matrix.set.begin(), matrix.set.end(),
                    [](const auto& each) { return each.first == Field::arch; }))
        return false;
    bool implies = false;
    for (const auto& axis : matrix.axes) {
        for (std::size_t i = 0; i < axis.fields.size(); ++i) {
            if (axis.fields[i] == Field::arch) return false;
            if (axis.fields[i] != Field::gpu) continue;
            implies = implies || std::any_of(axis.rows.begin(), axis.rows.end(), [&](const auto& row) {
                          return !host_arch(facts, row[i].text).empty();
                      });
        }
    }
    return implies;
}

bool leaves_releases_open(const Matrix& matrix) {
    const auto is_open = [](const std::pair<Field, Value>& each) {
        return each.first == Field::packages && has_unpinned(&each.second);
    };
    if (std::any_of(matrix.set.begin(), matrix.set.end(), is_open)) return true;
    return std::any_of(matrix.axes.begin(), matrix.axes.end(), [](const Axis& axis) {
        return std::any_of(axis.rows.begin(), axis.rows.end(), [&](const std::vector<Value>& row) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (axis.fields[i] == Field::packages && has_unpinned(&row[i])) return true;
            }
            return false;
        });
    });
}

FieldSet depends_on(const Rule& rule, Implies implies) {
    auto fields = rule.reads;
    if (implies.releases && fields.contains(Field::packages)) fields.insert(kReadByUnpinned);
    if (implies.arch && fields.contains(Field::arch)) fields.insert(Field::gpu);
    return fields;
}

Acceptances passes(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today) {
    const View view(rule.reads, cell, facts, nullptr, nullptr);
    Acceptances accepted;
    Findings found;
    // Without a memo: it remembers findings only.
    Ask ask(Context{view.cell(), facts, today, nullptr, &accepted}, rule.stage, found);
    rule.judge(ask);
    for (auto& each : accepted) {
        each.rule = rule.id;
        if (view.arch() && name_gpu(each.about)) each.facts.push_back(view.arch()->fact);
    }
    date_facts(accepted, today);
    return accepted;
}

bool vanished(const Finding& finding, const Findings& after) {
    return std::none_of(after.begin(), after.end(), [&](const Finding& now) {
        if (now.rule != finding.rule || !same_question(now, finding)) return false;
        if (finding.severity == Severity::unknown) return now.severity == Severity::unknown;
        return now.verdict() >= std::min(finding.verdict(), Verdict::unknown) &&
               now.severity != Severity::note;
    });
}

Findings ask(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today, Memo* memo,
             ReadLog* log) {
    const View view(rule.reads, cell, facts, memo, log);
    auto found = ask_projected(rule, {view.cell(), facts, today, memo, nullptr});
    name_gpu(found, view.arch());
    return found;
}

Findings evaluate(const Rule& rule, const Cell& cell, const Facts& facts, std::string_view today) {
    const View view(rule.reads, cell, facts, nullptr, nullptr);
    auto found = ask_projected(rule, {view.cell(), facts, today, nullptr, nullptr});
    name_gpu(found, view.arch());
    const auto release = release_in_place(view.cell());
    const auto around = release ? view.cell().with(Field::torch, &*release) : view.cell();
    Satisfying satisfying(rule, cell, around, facts, today, found);
    for (auto& finding : found)
        finding.fixes = satisfying.options_for(finding);
    for (auto& finding : found)
        finding.bounds.clear();
    date_facts(found, today);
    return found;
}

namespace {

// The rule and all that its answer depends on.
std::string key_of(const Rule& rule, const Cell& cell) {
    std::string key(rule.id);
    const auto fields = depends_on(rule);
    for (const auto& field : all_fields()) {
        const auto* value = fields.contains(field.field) ? cell.get(field.field) : nullptr;
        key += '\0';
        if (value != nullptr) key.append("=").append(value->text);
    }
    return key;
}

// Two threads may ask the same at once: the answers are equal.
template <class Known, class Question>
Findings remembered(std::mutex& mutex, Known& known, std::string key, const Question& question) {
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    auto findings = question();
    const std::lock_guard lock(mutex);
    return known.try_emplace(std::move(key), std::move(findings)).first->second;
}

}  // namespace

Findings SharedAnswers::asked(const Rule& rule, const Cell& cell, Memo* memo) {
    return remembered(mutex_, asked_, key_of(rule, cell),
                      [&] { return ask(rule, cell, facts_, today_, memo); });
}

Findings SharedAnswers::evaluated(const Rule& rule, const Cell& cell) {
    return remembered(mutex_, evaluated_, key_of(rule, cell),
                      [&] { return evaluate(rule, cell, facts_, today_); });
}

namespace {

// Entries of a dense table (4 bytes each): the matrices that people write fit, and nothing is hashed.
constexpr std::uint64_t kDense = 1u << 20;

}  // namespace

Projection::Projection(const Matrix& matrix, FieldSet fields) {
    std::uint64_t size = 1;
    // Positions beyond 2^64 never come up: a matrix of so many cells is refused.
    for (std::size_t i = matrix.axes.size(); i-- > 0;) {
        const auto& axis = matrix.axes[i];
        if (std::none_of(axis.fields.begin(), axis.fields.end(),
                         [&](Field field) { return fields.contains(field); }))
            continue;
        axes_.emplace_back(i, size);
        size *= axis.rows.size();
        is_dense_ = is_dense_ && size <= kDense;
    }
    if (is_dense_) dense_.assign(size, 0);
}

}  // namespace cudamatrix::rules
