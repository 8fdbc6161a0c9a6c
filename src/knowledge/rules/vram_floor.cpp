// Does what the workload needs (vram_gb) fit into the memory of the GPU, or of one MIG device of it? Where a
// name is sold in several sizes, the size in the name decides if there is one.
#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

unsigned number(std::string_view text) {
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// The size that stands in the name ("V100 32GB", "Tesla V100-SXM2-16GB"), if it is one of `sizes`.
std::optional<unsigned> size_in_name(std::string_view name, const std::vector<unsigned>& sizes) {
    for (const auto size : sizes) {
        for (const auto* unit : {"GB", "gb", " GB", " gb"}) {
            const auto words = std::to_string(size) + unit;
            const auto at = name.find(words);
            if (at == name.npos) continue;
            const bool is_whole = at == 0 || name[at - 1] < '0' || name[at - 1] > '9';
            if (is_whole) return size;
        }
    }
    return std::nullopt;
}

// The least and the most memory that the cell's device may have, in GB.
struct Memory {
    unsigned least = 0;
    unsigned most = 0;
};

Memory memory_of(const Row& gpu, std::string_view name) {
    std::vector<unsigned> sizes;
    for (const auto size : gpu.list("memory_gb"))
        sizes.push_back(number(size));
    if (const auto said = size_in_name(name, sizes)) return {*said, *said};
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    return {*least, *most};
}

void judge_memory(const Context& context, const Row& gpu, unsigned wanted, Findings& out) {
    const auto name = context.cell.text(Field::gpu);
    const std::vector<Field> about{Field::vram_gb, Field::gpu};
    const auto memory = memory_of(gpu, name);
    std::vector<FactRef> facts{gpu.ref()};
    const auto sizes = memory.least == memory.most ? fmt::format("{} GB", memory.most)
                                                   : fmt::format("{} GB at most", memory.most);
    if (wanted > memory.most) {
        auto error = finding(
            Severity::error, kStage, "", about,
            fmt::format("{} has {} of memory: {} GB do not fit (CUDA out of memory)", name, sizes, wanted),
            std::move(facts));
        error.fixes.push_back(set_to(Field::vram_gb, std::to_string(memory.most)));
        out.push_back(std::move(error));
        return;
    }
    // A GPU without MIG is whole, whatever mig says: mig-one-device rejects that.
    if (context.cell.has(Field::mig) && gpu.has("mig_devices")) {
        const auto smallest = number(gpu.text("mig_smallest_gb"));
        if (gpu.has("mig_smallest_gb") && wanted <= smallest) return;
        auto warning =
            finding(Severity::warning, kStage, "", {Field::vram_gb, Field::gpu, Field::mig},
                    fmt::format("{} GB need a MIG device of that size: those of {} have {}", wanted, name,
                                gpu.has("mig_smallest_gb")
                                    ? fmt::format("between {} GB and {} GB", smallest, memory.most)
                                    : fmt::format("{} GB at most, and most of them less", memory.most)),
                    std::move(facts));
        if (gpu.has("mig_smallest_gb"))
            warning.fixes.push_back(set_to(Field::vram_gb, std::to_string(smallest)));
        out.push_back(std::move(warning));
        return;
    }
    if (wanted > memory.least) {
        auto warning =
            finding(Severity::warning, kStage, "", about,
                    fmt::format("{} is sold with {} GB to {} GB of memory: {} GB fit only into some", name,
                                memory.least, memory.most, wanted),
                    std::move(facts));
        warning.fixes.push_back(set_to(Field::vram_gb, std::to_string(memory.least)));
        out.push_back(std::move(warning));
        return;
    }
    accept(context, out, kStage, "", about, fmt::format("whether {} GB fit into {}", wanted, name),
           std::move(facts));
}

void judge(const Context& context, Findings& out) {
    const auto wanted = number(context.cell.text(Field::vram_gb));
    const auto name = context.cell.text(Field::gpu);
    const std::vector<Field> about{Field::vram_gb, Field::gpu};
    const auto question = fmt::format("whether {} GB fit", wanted);
    const auto gpu = lookup::gpu(context.facts, name);
    if (!gpu) {
        const Unresolved gap{Field::gpu, fmt::format("no fact knows gpu {}", name), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
    } else if (gpu->list("memory_gb").empty()) {
        const Unresolved gap{Field::gpu, fmt::format("no fact gives the memory of {}", name), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
    } else {
        judge_memory(context, *gpu, wanted, out);
    }
}

}  // namespace

Rule vram_floor() {
    return {
        .id = "vram-floor",
        .stage = kStage,
        .summary = "The GPU, or one MIG device of it, has the memory that the workload needs.",
        .why =
            "A model that does not fit ends in CUDA out of memory, after the image was built and the data "
            "loaded. A MIG device has a part of the GPU's memory only, and several cards are sold in more "
            "than one size under one name.",
        .fails = "gpu: T4, vram_gb: 24",
        .passes = "gpu: L4, vram_gb: 24",
        .reads = {Field::vram_gb, Field::gpu, Field::mig},
        .needs = {{Field::vram_gb}, {Field::gpu}},
        .judge = judge};
}

}  // namespace cudamatrix::rules
