// Did the PyTorch project ever publish wheels for that CUDA at all? cu127 and cu112 look like the others and
// never served a release.
#include <cstdlib>

#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

struct Neighbours {
    std::optional<Row> below, above;
};

// The indexes for the next lower and the next higher CUDA.
Neighbours neighbours(const Facts& facts, int number) {
    Neighbours out;
    for (const auto& row : facts.rows("wheel_indexes")) {
        const int other = cuda_number(row.text("name"));
        if (other == 0) continue;
        // The rows are sorted.
        if (other < number) out.below = row;
        if (other > number && !out.above) out.above = row;
    }
    return out;
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto text = context.cell.text(Field::torch);
    const auto plus = text.find('+');
    if (plus == text.npos) return;
    const auto variant = text.substr(plus + 1);
    const auto question = fmt::format("whether there is a wheel index {}", variant);
    if (const auto row = context.facts.row(fmt::format("index-{}", variant))) {
        accept(context, out, kStage, "", {Field::torch}, question, {row->ref()});
        return;
    }
    if (!no_such_index(context.facts, variant)) return;  // newer than all: torch-built-for-cuda asks
    const auto near = neighbours(context.facts, cuda_number(variant));
    std::vector<FactRef> facts;
    if (const auto row = absent_index(context.facts, variant)) facts.push_back(row->ref());
    std::string names;
    for (const auto& row : {near.below, near.above}) {
        if (!row) continue;
        facts.push_back(row->ref());
        names += fmt::format("{}{} (torch {} to {})", names.empty() ? "" : " and ", row->text("name"),
                             row->text("torch_first"), row->text("torch_last"));
    }
    auto error = finding(Severity::error, kStage, "", {Field::torch},
                         fmt::format("torch {} cannot be installed: there is no wheel index {}, the nearest "
                                     "are {}",
                                     text, variant, names),
                         std::move(facts));
    error.fixes = torch_options(context, [](const Row&) { return true; });
    out.push_back(std::move(error));
}

}  // namespace

Rule wheel_index_exists() {
    return {.id = "wheel-index-exists",
            .stage = kStage,
            .summary = "The CUDA variant that the cell names has a wheel index of the PyTorch project.",
            .why =
                "Builds for one CUDA live on an index of its own, and only some CUDA releases ever got one. "
                "Of another name the server knows nothing: pip ends with \"Could not find a version that "
                "satisfies the requirement\".",
            .fails = "torch: 2.6.0+cu127",
            .passes = "torch: 2.6.0+cu126",
            .reads = {Field::torch, Field::arch, Field::family, Field::image},
            .needs = {{Field::torch}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
