// What a rule is: it joins the fields that it declares with facts, and looks at nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.hpp"
#include "matrix/matrix.hpp"
#include "rules/judge.hpp"

namespace cudamatrix::rules {

/// Which fields of a cell were looked at, in the order of the first look: an answer depends on no others.
class ReadLog {
  public:
    void add(Field field) {
        if (seen_.contains(field)) return;
        seen_.insert(field);
        fields_[count_++] = field;
    }
    [[nodiscard]] std::span<const Field> fields() const { return {fields_.data(), count_}; }

  private:
    FieldSet seen_;
    std::array<Field, kFieldCount> fields_{};
    std::size_t count_ = 0;
};

/// The part of a cell that a rule may see: values of undeclared fields are not in it, whatever the cell
/// holds.
class ProjectedCell {
  public:
    /// `log`, where there is one, learns of every look and must outlive this and its copies.
    ProjectedCell(const Cell& cell, FieldSet visible, ReadLog* log = nullptr);

    [[nodiscard]] bool has(Field field) const { return value(field) != nullptr; }
    [[nodiscard]] const Value* value(Field field) const {
        if (log_ != nullptr) log_->add(field);
        return values_[static_cast<std::size_t>(field)];
    }
    /// The text of the value, empty where the matrix says nothing.
    [[nodiscard]] std::string_view text(Field field) const;
    /// What is visible, as a cell.
    [[nodiscard]] Cell cell() const;
    /// The same view with one value replaced; `value` must outlive the copy. Undeclared fields stay
    /// invisible.
    [[nodiscard]] ProjectedCell with(Field field, const Value* value) const;

  private:
    std::array<const Value*, kFieldCount> values_{};
    FieldSet visible_;
    ReadLog* log_ = nullptr;
};

class Memo;

using Findings = std::vector<Finding>;

/// A question of a rule that is answered by yes, and what the answer rests on.
struct Acceptance {
    std::string_view rule;
    Stage stage = Stage::runtime;
    std::vector<Field> about;
    std::string question;  ///< "whether driver 550.54.15 runs CUDA 12.4.1"
    std::vector<FactRef> facts;
};
using Acceptances = std::vector<Acceptance>;

struct Context {
    const ProjectedCell& cell;
    const Facts& facts;
    std::string_view today;           ///< YYYY-MM-DD
    bool wants_fixes = true;          ///< false: look for no ways out, they would not be shown
    Memo* memo = nullptr;             ///< what was looked up before for the same facts (subject.hpp)
    Acceptances* accepted = nullptr;  ///< where acceptances go; nullptr: they are silent

    /// The same question about another cell, which must outlive the answer.
    [[nodiscard]] Context about(const ProjectedCell& other) const {
        return {other, facts, today, wants_fixes, memo, accepted};
    }
};

/// What `test --prove-rejected` does to see a rejection of the rule happen.
enum class Attempt : std::uint8_t {
    none,              ///< it is not shown by an attempt
    compile_target,    ///< nvcc compiles for the cell's compute capability
    compile_with,      ///< nvcc compiles with the cell's host compiler
    mix_parts,         ///< nvcc compiles, its parts being of the releases that the cell names
    resolve_python,    ///< pip looks for the cell's torch for the cell's python
    resolve_variant,   ///< pip looks for the cell's torch on the index of its CUDA variant
    resolve_together,  ///< pip looks for the cell's torch and the package that the finding is about, at once
    start_on_driver,   ///< a program of the toolkit starts on a stand-in for the cell's driver
};

/// How a rejection is proved. A failed attempt counts only with a line of the refusing tool that matches one
/// of `signatures`: globs, measured from the tools, in which {target}, {requirement}, {package}, {version}
/// and {driver} stand for what was attempted.
struct Provable {
    Attempt attempt = Attempt::none;
    std::vector<std::string_view> signatures = {};
};

struct Rule {
    std::string_view id;
    Stage stage;
    std::string_view summary;  ///< one sentence: what it says
    std::string_view why;  ///< what happens otherwise, and by which mechanism: two sentences for `rules show`
    /// Two cells as one would write them under `set:` (flow style, without the braces), shown by `rules show`
    /// and judged by a test: the rule warns of or rejects the first and accepts the second.
    std::string_view fails;
    std::string_view passes;
    FieldSet reads;  ///< every field that the judge function may look at
    /// Of each set at least one field must be there, or the rule does not fire and the cell lists it as not
    /// checked.
    std::vector<FieldSet> needs;
    std::function<void(const Context&, Findings&)> judge;
    Provable proof = {};
    /// Its questions one by one, where they are independent: asked apart where cells are only counted, since
    /// together they have as many answers as their fields have combinations. Each has the id of the rule.
    std::vector<Rule> parts = {};
    /// Fields that add up: to name one of them, or one more package, never makes its answer milder. A search
    /// asks it of parts of a cell first.
    FieldSet add_up = {};
};

/// "driver-supports-cuda: driver", "driver-supports-gpu: gpu or compute": one text for each need of each
/// rule.
[[nodiscard]] std::string need_text(const Rule& rule, FieldSet need);

}  // namespace cudamatrix::rules
