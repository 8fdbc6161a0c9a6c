// What a rule is: it joins the fields that it declares with facts, and looks at nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/rules/ask.hpp"

namespace cudamatrix::rules {

/// What `test --prove-rejected` does to see a rejection of the rule happen.
enum class Attempt : std::uint8_t {
    none,              ///< it is not shown by an attempt
    compile_target,    ///< nvcc compiles for the cell's compute capability
    compile_with,      ///< nvcc compiles with the cell's host compiler
    mix_parts,         ///< nvcc compiles, its parts being of the releases that the cell names
    resolve_python,    ///< pip looks for the cell's torch for the cell's python
    resolve_variant,   ///< pip looks for the cell's torch on the index of its CUDA variant
    resolve_together,  ///< pip looks for the cell's torch and the package that the finding is about, at once
    resolve_packages,  ///< pip looks for the two packages whose demands contradict each other, at once
    start_on_driver,   ///< a program of the toolkit starts on a stand-in for the cell's driver
};

/// How a rejection is proved. A failed attempt counts only with a line of the refusing tool that matches one
/// of `signatures`: globs, measured from the tools, in which {target}, {requirement}, {package}, {version},
/// {first}, {second}, {needed} and {driver} stand for what was attempted.
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
    std::function<void(Ask&)> judge;
    Provable proof = {};
    /// Its questions one by one, where they are independent: asked apart where cells are only counted, since
    /// together they have as many answers as their fields have combinations. Each has the id of the rule.
    std::vector<Rule> questions = {};
    /// Fields that add up: to name one of them, or one more package, never makes its answer milder. A search
    /// asks it of parts of a cell first.
    FieldSet monotone = {};
    /// Fields that add up and are judged apart: its verdict is the worst of those on the cells with one of
    /// these fields, or one package, only. A search never asks it of two together.
    FieldSet apart = {};
    /// It knows nightly builds of torch itself. All others are asked about the releases around one
    /// (nightly.hpp).
    bool judges_nightlies = false;
};

/// "driver-supports-cuda: driver", "driver-supports-gpu: gpu or compute": one text for each need of each
/// rule.
[[nodiscard]] std::string need_text(const Rule& rule, FieldSet need);

// The functions of the list in all_rules.def.
#define CUDAMATRIX_RULE(name) [[nodiscard]] Rule name();
#include "knowledge/rules/all_rules.def"
#undef CUDAMATRIX_RULE

/// In the order of all_rules.def.
[[nodiscard]] const std::vector<Rule>& all_rules();
[[nodiscard]] const Rule* rule_named(std::string_view id);

/// Whether every need of the rule is met by the fields of the cell.
[[nodiscard]] bool applies(const Rule& rule, const Cell& cell);

}  // namespace cudamatrix::rules
