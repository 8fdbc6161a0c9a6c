// What pip's own resolver said of the cell's torch and packages with all that they demand in turn, where
// --look asked it. Without such a row the rule says nothing: packages-agree judges what single rows demand.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/pip_question.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::string joined(const facts::Values& values) {
    return text::join({values.begin(), values.end()}, "; ");
}

// "The user requested torch==2.6.0", "fastai 2.7.18 depends on torch<2.6": what a pin itself demands,
// whatever releases there are of everything else.
bool is_about_pin(std::string_view line, const PipQuestion& question) {
    if (line.starts_with("The user requested ")) return true;
    const auto words = text::split(line, ' ');
    return words.size() > 2 && words[2] == "depends" &&
           std::ranges::find(question.pins, fmt::format("{}=={}", pep440::canonical_name(words[0]),
                                                        words[1])) != question.pins.end();
}

void judge_conflict(Ask& ask, const PipQuestion& question, const Row& row) {
    const auto lines = row.list("conflict");
    const auto text = fmt::format("pip {} finds no set of wheels for {}: {}", row.text("pip"),
                                  question.machine(), joined(lines));
    const bool holds =
        std::ranges::all_of(lines, [&](std::string_view line) { return is_about_pin(line, question); });
    // Between others a release that has a source only might fit.
    if (holds || gets_image(ask.cell)) {
        ask.reject("{}", text).because(row.ref());
    } else {
        ask.unknown_as("{}; whether releases that are built from source fit was not asked", text)
            .because(row.ref());
    }
}

void judge_absent(Ask& ask, const PipQuestion& question, const Row& row) {
    const auto text =
        fmt::format("pip {} for {}: {}", row.text("pip"), question.machine(), joined(row.list("absent")));
    if (gets_image(ask.cell)) {
        ask.reject("{}; the images of a family get wheels only", text).because(row.ref());
    } else {
        ask.unknown_as("{}; whether its source can be built was not asked", text).because(row.ref());
    }
}

void judge_packages_resolve(Ask& ask) {
    if (ask.facts.rows("resolutions").empty()) return;
    const auto written = ask.cell.as_written();
    const auto question = pip_question(ask.on(written));
    const auto row = question ? lookup::resolution(ask.facts, *question) : std::nullopt;
    if (!row) return;
    std::vector<Field> about;
    for (const auto field : {Field::packages, Field::torch}) {
        if (ask.cell.has(field)) about.push_back(field);
    }
    ask.question(std::move(about), fmt::format("whether pip finds wheels of {}", question->text()));
    if (row->has("conflict")) return judge_conflict(ask, *question, *row);
    if (row->has("absent")) return judge_absent(ask, *question, *row);
    ask.accept({row->ref()}, "pip {} finds wheels of {}: it takes {}", row->text("pip"), question->text(),
               text::count(row->list("takes").size(), "package"));
}

}  // namespace

Rule packages_resolve() {
    return {.id = "packages-resolve",
            .stage = Stage::install,
            .summary =
                "pip's resolver finds wheels that meet all demands of torch, the packages and what "
                "they bring along.",
            .why =
                "What a package demands demands other packages in turn, down to conflicts that no pin of "
                "the cell shows: pip tries older releases, and ends with \"ResolutionImpossible\" or \"No "
                "matching distribution found\". `--look` asks pip itself (25.3 or newer, with the cell's "
                "python on a machine of its kind) and keeps the answer; without one the rule is silent.",
            .fails = "python: \"3.12\", packages: {sentence-transformers: 3.3.1, huggingface_hub: 0.19.4}",
            .passes = "python: \"3.12\", torch: 2.6.0, packages: {accelerate: 1.1.1, transformers: 4.46.3}",
            .reads = kReadByPipQuestion,
            .needs = {{Field::packages, Field::torch}, {Field::python}},
            .judge = judge_packages_resolve,
            .judges_nightlies = true};
}

}  // namespace cudamatrix::rules
