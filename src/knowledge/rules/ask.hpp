// How a rule speaks: one handle knows the cell, the facts and the question, and takes the answers.
//
//     void judge(Ask& ask) {
//         ask.question({Field::compiler, Field::cuda}, "whether nvcc takes the compiler");
//         const auto cuda = ask.cuda();  // an unknown CUDA says so by itself
//         if (!cuda) return;
//         if (too_old(*cuda)) {
//             ask.reject("nvcc of CUDA {} does not take it", cuda->exact.text()).because(row.ref());
//             return;
//         }
//         ask.accept({row.ref()});
//     }
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// A finding that was just made, to be completed. Valid until the next answer.
class Answer {
  public:
    explicit Answer(Finding& finding) : finding_(finding) {}

    Answer& because(FactRef fact);
    Answer& because(const std::vector<FactRef>& facts);
    Answer& because(const std::optional<Row>& row);  ///< nothing where there is no row
    // What would satisfy the rule: it gives the bound, `evaluate` finds the values by asking it again.
    Answer& fix(FixOption option);
    Answer& fix(std::vector<FixOption> options);
    Answer& fix(Field field, std::string_view value);
    Answer& at_least(Field field) { return bound({.kind = Bound::Kind::at_least, .field = field}); }
    /// The value is known: "driver >= 525.60.13".
    Answer& at_least(Field field, std::string_view value);
    Answer& at_most(Field field, std::string note = {}) {
        return bound({.kind = Bound::Kind::at_most, .field = field, .note = std::move(note)});
    }
    Answer& other(Field field) { return bound({.kind = Bound::Kind::other, .field = field}); }
    /// One that the rule accepts: what makes it fall silent, or say something milder, is no way out.
    Answer& accepted_other(Field field) {
        return bound({.kind = Bound::Kind::other, .field = field, .accepted_only = true});
    }
    /// A torch of that variant.
    Answer& other_build(const std::string& variant) {
        return bound({.kind = Bound::Kind::other, .field = Field::torch, .values = {variant}});
    }
    Answer& other_release(std::string_view package) {
        return bound({Bound::Kind::other, Field::packages, std::string(package)});
    }
    /// Another release that the rule accepts.
    Answer& accepted_release(std::string_view package) {
        return bound({.kind = Bound::Kind::other,
                      .field = Field::packages,
                      .package = std::string(package),
                      .accepted_only = true});
    }
    Answer& without(std::string_view package) {
        return bound({Bound::Kind::without, Field::packages, std::string(package)});
    }
    Answer& one_of(Field field, std::vector<std::string> values) {
        return bound({.kind = Bound::Kind::one_of, .field = field, .values = std::move(values)});
    }
    Answer& one_of(Field field, facts::Values values) {
        return one_of(field, std::vector<std::string>(values.begin(), values.end()));
    }
    Answer& bound(Bound bound);
    /// The caret points at `field`, which stays or becomes one of those that the finding is about.
    Answer& at(Field field);
    [[nodiscard]] Finding& finding() { return finding_; }

  private:
    Finding& finding_;
};

class Ask : public Context {
  public:
    Ask(const Context& context, Stage stage, Findings& out) : Context(context), stage_(stage), out_(&out) {}

    /// What the next answers are about: the fields, the first of which the caret points at, and the question
    /// as it stands in "QUESTION is unknown" ("whether torch 2.6.0 was published"). `aspect` tells apart the
    /// questions of one rule.
    void question(std::vector<Field> about, std::string text, std::string_view aspect = {});
    /// The same with `text` as a callable, worded only where an answer says it: for rules that ask often.
    /// What the callable refers to must outlive the question.
    template <std::invocable Text>
    void question(std::vector<Field> about, Text text, std::string_view aspect = {}) {
        question(std::move(about), std::string(), aspect);
        wording_ = std::move(text);
    }
    /// The same fields and aspect, with more exact words.
    void reword(std::string text);
    /// What an acceptance of this question says, where that is not the question without its "whether":
    /// "flash-attn 2.8.3 is not yanked".
    template <class... Args>
    void affirm(fmt::format_string<Args...> text, Args&&... args) {
        if (accepted != nullptr) affirmed_ = fmt::format(text, std::forward<Args>(args)...);
    }
    [[nodiscard]] const std::vector<Field>& about() const { return about_; }
    [[nodiscard]] std::string text() const { return wording_ ? wording_() : question_; }
    [[nodiscard]] Stage stage() const { return stage_; }
    [[nodiscard]] Findings& out() const { return *out_; }

    /// The same question about another cell or into another list of answers; what it refers to must outlive
    /// it.
    [[nodiscard]] Ask on(const ProjectedCell& other) const;
    [[nodiscard]] Ask into(Findings& answers, Acceptances* passes) const;

    // What the fields mean. Nothing: no fact knows, and the question was answered by unknown.
    [[nodiscard]] std::optional<Device> device() { return known(rules::device(*this)); }
    [[nodiscard]] std::optional<lookup::Driver> driver() { return known(rules::driver(*this)); }
    [[nodiscard]] std::optional<lookup::Cuda> cuda() { return known(rules::image_cuda(*this)); }
    [[nodiscard]] std::optional<TorchBuild> torch_build() { return known(rules::torch_build(*this)); }
    template <class T>
    [[nodiscard]] std::optional<T> known(Resolved<T> resolved) {
        if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
            unknown(*gap);
            return std::nullopt;
        }
        return std::get<T>(std::move(resolved));
    }

    template <class... Args>
    Answer reject(fmt::format_string<Args...> text, Args&&... args) {
        return say(Severity::error, fmt::format(text, std::forward<Args>(args)...));
    }
    template <class... Args>
    Answer degrade(fmt::format_string<Args...> text, Args&&... args) {
        return say(Severity::warning, fmt::format(text, std::forward<Args>(args)...));
    }
    template <class... Args>
    Answer note(fmt::format_string<Args...> text, Args&&... args) {
        return say(Severity::note, fmt::format(text, std::forward<Args>(args)...));
    }
    /// An end of life: no verdict. `ended` as in Finding.
    template <class... Args>
    Answer notice(std::string_view ended, fmt::format_string<Args...> text, Args&&... args) {
        auto answer = say(Severity::notice, fmt::format(text, std::forward<Args>(args)...));
        answer.finding().ended = ended;
        return answer;
    }
    /// The whole sentence, where it is not of the form "WHAT: QUESTION is unknown".
    template <class... Args>
    Answer unknown_as(fmt::format_string<Args...> text, Args&&... args) {
        return say(Severity::unknown, fmt::format(text, std::forward<Args>(args)...));
    }
    /// "WHAT: QUESTION is unknown", or an error that says WHAT where the value never was.
    Answer unknown(const Unresolved& gap);
    /// The same for a gap about `field` that has no value near it.
    template <class... Args>
    Answer unknown(Field field, fmt::format_string<Args...> text, Args&&... args) {
        return unknown(Unresolved{field, fmt::format(text, std::forward<Args>(args)...), {}});
    }
    Answer say(Severity severity, std::string message);

    /// Yes, which `explain` shows. Unknown where it rests on an unverified fact.
    void accept(std::vector<FactRef> because);
    /// Yes, for `explain` alone: it makes no verdict.
    void record_pass(std::vector<FactRef> because);
    /// The same with more exact words, or for one row: nothing is made where nobody listens.
    template <class... Args>
    void accept(std::vector<FactRef> because, fmt::format_string<Args...> text, Args&&... args) {
        if (accepted != nullptr || doubtful(because) != nullptr)
            reword(fmt::format(text, std::forward<Args>(args)...));
        accept(std::move(because));
    }
    void record_pass(const Row& row) {
        if (accepted != nullptr) record_pass(std::vector{row.ref()});
    }

    /// Answers that depend on `fields` only: asked once for each of their combinations, where a memo keeps
    /// the answers. `name` tells them apart from those of all other rules.
    void once_per(std::string_view name, std::initializer_list<Field> fields,
                  const std::function<void(Ask&)>& judge);

  private:
    /// The first fact that is unverified.
    [[nodiscard]] static const FactRef* doubtful(const std::vector<FactRef>& facts);

    Stage stage_;
    Findings* out_;
    std::vector<Field> about_;
    std::string question_;
    std::function<std::string()> wording_;  ///< in place of question_, where there is one
    std::string affirmed_;                  ///< see affirm; empty: the question says it
    std::string_view aspect_;
};

}  // namespace cudamatrix::rules
