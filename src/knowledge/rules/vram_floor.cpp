// Does what the workload needs (vram_gb) fit into the memory of the GPU, or of one MIG device of it? Where a
// name is sold in several sizes, the size in the name decides if there is one.
#include <algorithm>
#include <charconv>

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

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

// `memory` is that of the whole GPU; a GPU without MIG is whole, whatever mig says: mig-one-device rejects
// that.
void judge_mig(Ask& ask, const Row& gpu, const Memory& memory, unsigned wanted) {
    const bool knows_smallest = gpu.has("mig_smallest_gb");
    const auto smallest = number(gpu.text("mig_smallest_gb"));
    if (knows_smallest && wanted <= smallest) return;
    ask.question({Field::vram_gb, Field::gpu, Field::mig}, ask.text());
    auto answer = ask.degrade(
        "{} GB need a MIG device of that size: those of {} have {}", wanted, ask.cell.text(Field::gpu),
        knows_smallest ? fmt::format("between {} GB and {} GB", smallest, memory.most)
                       : fmt::format("{} GB at most, and most of them less", memory.most));
    answer.because(gpu.ref());
    if (knows_smallest) answer.fix(Field::vram_gb, std::to_string(smallest));
}

void judge_vram_floor(Ask& ask) {
    const auto wanted = number(ask.cell.text(Field::vram_gb));
    const auto name = ask.cell.text(Field::gpu);
    ask.question({Field::vram_gb, Field::gpu}, fmt::format("whether {} GB fit", wanted));
    const auto gpu = lookup::gpu(ask.facts, name);
    if (!gpu) {
        ask.unknown(Field::gpu, "no fact knows gpu {}", name);
        return;
    }
    if (gpu->list("memory_gb").empty()) {
        ask.unknown(Field::gpu, "no fact gives the memory of {}", name);
        return;
    }
    const auto memory = memory_of(*gpu, name);
    if (wanted > memory.most) {
        ask.reject("{} has {} GB{} of memory: {} GB do not fit (CUDA out of memory)", name, memory.most,
                   memory.least == memory.most ? "" : " at most", wanted)
            .because(gpu->ref())
            .fix(Field::vram_gb, std::to_string(memory.most));
    } else if (ask.cell.has(Field::mig) && gpu->has("mig_devices")) {
        judge_mig(ask, *gpu, memory, wanted);
    } else if (wanted > memory.least) {
        ask.degrade("{} is sold with {} GB to {} GB of memory: {} GB fit only into some", name, memory.least,
                    memory.most, wanted)
            .because(gpu->ref())
            .fix(Field::vram_gb, std::to_string(memory.least));
    } else {
        ask.reword(fmt::format("whether {} GB fit into {}", wanted, name));
        ask.accept({gpu->ref()});
    }
}

}  // namespace

Rule vram_floor() {
    return {
        .id = "vram-floor",
        .stage = Stage::runtime,
        .summary = "The GPU, or one MIG device of it, has the memory that the workload needs.",
        .why =
            "A model that does not fit ends in CUDA out of memory, after the image was built and the data "
            "loaded. A MIG device has a part of the GPU's memory only, and several cards are sold in more "
            "than one size under one name.",
        .fails = "gpu: T4, vram_gb: 24",
        .passes = "gpu: L4, vram_gb: 24",
        .reads = {Field::vram_gb, Field::gpu, Field::mig},
        .needs = {{Field::vram_gb}, {Field::gpu}},
        .judge = judge_vram_floor};
}

}  // namespace cudamatrix::rules
