// MIG devices given to one process: the GPU has to have MIG, the process sees one of them.

#include "base/number.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::optional<unsigned> mig_devices(std::string_view text) {
    return text == "true" ? 1U : text::whole_number<unsigned>(text);
}

// The first GPU of the class that can be cut into as many, or of any class.
std::optional<FixOption> gpu_with_mig(const Context& context, unsigned wanted, std::string_view host_class) {
    std::optional<std::string_view> any;
    for (const auto& row : context.facts.rows("gpus")) {
        if (mig_devices(row.text("mig_devices")).value_or(0) < wanted) continue;
        if (row.text("class") == host_class) return set_to(Field::gpu, row.text("name"));
        if (!any) any = row.text("name");
    }
    if (!any) return std::nullopt;
    return set_to(Field::gpu, *any);
}

// Every other GPU of its compute capability has MIG: that no fact says so of this one is no proof.
bool only_one_without_mig(const Facts& facts, const Row& gpu) {
    bool others = false;
    for (const auto& row : facts.rows("gpus")) {
        if (row.text("compute") != gpu.text("compute") || row.text("id") == gpu.text("id")) continue;
        if (!row.has("mig_devices")) return false;
        others = true;
    }
    return others;
}

// False: the GPU has no MIG, or fewer devices than asked for; said.
bool judge_gpu(Ask& ask, unsigned wanted) {
    const auto name = ask.cell.text(Field::gpu);
    ask.question({Field::mig, Field::gpu}, "whether it has MIG", "gpu");
    const auto gpu = lookup::gpu(ask.facts, name);
    if (!gpu) {
        ask.unknown(Field::gpu, "no fact knows gpu {}", name);
        return true;
    }
    std::vector<FactRef> facts{gpu->ref()};
    if (!gpu->has("mig_devices")) {
        cite(facts, ask.facts, "policy-mig-supported-gpus");
        if (only_one_without_mig(ask.facts, *gpu)) {
            ask.unknown(Field::gpu, "the facts have no MIG for {}, and MIG for every other GPU of compute {}",
                        name, gpu->text("compute"))
                .because(facts);
            return true;
        }
        auto answer = ask.reject("{} has no MIG: it cannot be given as MIG devices", name);
        answer.because(facts);
        if (auto option = gpu_with_mig(ask, wanted, gpu->text("class"))) answer.fix(*std::move(option));
        return false;
    }
    const auto most = mig_devices(gpu->text("mig_devices"));
    if (wanted > *most) {
        ask.reject("{} can be cut into {} MIG devices at most: there are no {}", name, *most, wanted)
            .because(facts)
            .fix(Field::mig, "1");
        return false;
    }
    ask.reword(fmt::format("whether {} has MIG", name));
    ask.accept(std::move(facts));
    return true;
}

void judge_mig_one_device(Ask& ask) {
    const auto wanted = mig_devices(ask.cell.text(Field::mig));
    if (!wanted || *wanted == 0) return;
    if (ask.cell.has(Field::gpu) && !judge_gpu(ask, *wanted)) return;
    if (*wanted == 1) return;
    ask.question({Field::mig}, {}, "process");
    ask.degrade(
           "a CUDA process uses one MIG device: of the {} given to it the others stay unused, and it "
           "counts one GPU",
           *wanted)
        .because(ask.facts.row("policy-mig-one-device"))
        .fix(set_to(Field::mig, "1", "mig 1 and one process for each device"));
}

}  // namespace

Rule mig_one_device() {
    return {
        .id = "mig-one-device",
        .stage = Stage::runtime,
        .summary = "The GPU has MIG, and a process is given one MIG device.",
        .why =
            "CUDA shows one MIG device to a process, however many its container was given: "
            "torch.cuda.device_count() is 1, and data-parallel programs stop or run on one device. Only some "
            "GPUs of the data centre and a few workstation cards have MIG at all.",
        .fails = "gpu: A100 80GB, mig: 2",
        .passes = "gpu: A100 80GB, mig: 1",
        .reads = {Field::mig, Field::gpu},
        .needs = {{Field::mig}},
        .judge = judge_mig_one_device};
}

}  // namespace cudamatrix::rules
