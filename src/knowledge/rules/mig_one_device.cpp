// MIG devices given to one process: the GPU has to have MIG, the process sees one of them.
#include <charconv>

#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

std::optional<unsigned> number(std::string_view text) {
    if (text == "true") return 1;
    unsigned value = 0;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return value;
}

// The first GPU of the class that can be cut into as many, or of any class.
std::optional<FixOption> gpu_with_mig(const Context& context, unsigned wanted, std::string_view host_class) {
    std::optional<std::string_view> any;
    for (const auto& row : context.facts.rows("gpus")) {
        if (number(row.text("mig_devices")).value_or(0) < wanted) continue;
        if (row.text("class") == host_class) return set_to(Field::gpu, row.text("name"));
        if (!any) any = row.text("name");
    }
    if (!any) return std::nullopt;
    return set_to(Field::gpu, *any);
}

// Every other GPU of its compute capability can be cut: that nobody says so of this one is no proof.
bool stands_alone(const Context& context, const Row& gpu) {
    bool others = false;
    for (const auto& row : context.facts.rows("gpus")) {
        if (row.text("compute") != gpu.text("compute") || row.text("id") == gpu.text("id")) continue;
        if (!row.has("mig_devices")) return false;
        others = true;
    }
    return others;
}

// False: the GPU has no MIG, or fewer devices than asked for; said.
bool judge_gpu(const Context& context, unsigned wanted, Findings& out) {
    const auto name = context.cell.text(Field::gpu);
    const std::vector<Field> about{Field::mig, Field::gpu};
    const auto gpu = lookup::gpu(context.facts, name);
    if (!gpu) {
        const Unresolved gap{Field::gpu, fmt::format("no fact knows gpu {}", name), {}};
        out.push_back(unknown(kStage, "gpu", about, gap, "whether it has MIG"));
        return true;
    }
    std::vector<FactRef> facts{gpu->ref()};
    if (!gpu->has("mig_devices")) {
        cite(facts, context.facts, "policy-mig-supported-gpus");
        if (stands_alone(context, *gpu)) {
            const Unresolved gap{Field::gpu,
                                 fmt::format("the facts have no MIG for {}, and MIG for every other GPU of "
                                             "compute {}",
                                             name, gpu->text("compute")),
                                 {}};
            auto open = unknown(kStage, "gpu", about, gap, "whether it has MIG");
            open.facts = std::move(facts);
            out.push_back(std::move(open));
            return true;
        }
        auto error =
            finding(Severity::error, kStage, "gpu", about,
                    fmt::format("{} has no MIG: it cannot be given as MIG devices", name), std::move(facts));
        if (auto option = gpu_with_mig(context, wanted, gpu->text("class")))
            error.fixes.push_back(*std::move(option));
        out.push_back(std::move(error));
        return false;
    }
    const auto most = number(gpu->text("mig_devices"));
    if (wanted > *most) {
        auto error = finding(
            Severity::error, kStage, "gpu", about,
            fmt::format("{} can be cut into {} MIG devices at most: there are no {}", name, *most, wanted),
            std::move(facts));
        error.fixes.push_back(set_to(Field::mig, "1"));
        out.push_back(std::move(error));
        return false;
    }
    accept(context, out, kStage, "gpu", about, fmt::format("whether {} has MIG", name), std::move(facts));
    return true;
}

void judge(const Context& context, Findings& out) {
    const auto wanted = number(context.cell.text(Field::mig));
    if (!wanted || *wanted == 0) return;
    if (context.cell.has(Field::gpu) && !judge_gpu(context, *wanted, out)) return;
    if (*wanted == 1) return;
    std::vector<FactRef> facts;
    cite(facts, context.facts, "policy-mig-one-device");
    auto warning =
        finding(Severity::warning, kStage, "process", {Field::mig},
                fmt::format("a CUDA process uses one MIG device: of the {} given to it the others stay "
                            "unused, and it counts one GPU",
                            *wanted),
                std::move(facts));
    warning.fixes.push_back(set_to(Field::mig, "1", "mig 1 and one process for each device"));
    out.push_back(std::move(warning));
}

}  // namespace

Rule mig_one_device() {
    return {
        .id = "mig-one-device",
        .stage = kStage,
        .summary = "The GPU has MIG, and a process is given one MIG device.",
        .why =
            "CUDA shows one MIG device to a process, however many its container was given: "
            "torch.cuda.device_count() is 1, and data-parallel programs stop or run on one device. Only some "
            "GPUs of the data centre and a few workstation cards have MIG at all.",
        .fails = "gpu: A100 80GB, mig: 2",
        .passes = "gpu: A100 80GB, mig: 1",
        .reads = {Field::mig, Field::gpu},
        .needs = {{Field::mig}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
