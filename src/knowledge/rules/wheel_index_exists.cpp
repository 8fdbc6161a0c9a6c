// Did the PyTorch project ever publish wheels for that CUDA at all? cu127 and cu112 look like the others and
// never served a release.
#include "base/text.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// The indexes for the next lower and the next higher CUDA.
std::vector<Row> neighbours(const Facts& facts, int number) {
    std::optional<Row> below, above;
    for (const auto& row : facts.rows("wheel_indexes")) {
        const int other = cuda_number(row.text("name"));
        if (other == 0) continue;
        // The rows are sorted.
        if (other < number) below = row;
        if (other > number && !above) above = row;
    }
    std::vector<Row> out;
    for (const auto& row : {below, above}) {
        if (row) out.push_back(*row);
    }
    return out;
}

void judge_wheel_index_exists(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto text = ask.cell.text(Field::torch);
    const auto plus = text.find('+');
    if (plus == text.npos) return;
    const auto variant = text.substr(plus + 1);
    ask.question({Field::torch}, fmt::format("whether there is a wheel index {}", variant));
    if (const auto row = ask.facts.row(fmt::format("index-{}", variant))) return ask.accept({row->ref()});
    if (!no_such_index(ask.facts, variant)) return;  // newer than all: torch-built-for-cuda asks
    const auto near = neighbours(ask.facts, cuda_number(variant));
    std::string names;
    for (const auto& row : near)
        names += fmt::format("{}{} (torch {} to {})", names.empty() ? "" : " and ", row.text("name"),
                             row.text("torch_first"), row.text("torch_last"));
    auto answer = ask.reject("torch {} cannot be installed: there is no wheel index {}, the nearest are {}",
                             text, variant, names);
    answer.because(absent_index(ask.facts, variant));
    for (const auto& row : near)
        answer.because(row.ref());
    answer.other(Field::torch);
}

}  // namespace

Rule wheel_index_exists() {
    return {.id = "wheel-index-exists",
            .stage = Stage::install,
            .summary = "The CUDA variant that the cell names has a wheel index of the PyTorch project.",
            .why =
                "Builds for one CUDA live on an index of its own, and only some CUDA releases ever got one. "
                "Of another name the server knows nothing: pip ends with \"Could not find a version that "
                "satisfies the requirement\".",
            .fails = "torch: 2.6.0+cu127",
            .passes = "torch: 2.6.0+cu126",
            .reads = {Field::torch, Field::arch, Field::family, Field::image},
            .needs = {{Field::torch}},
            .judge = judge_wheel_index_exists};
}

}  // namespace cudamatrix::rules
