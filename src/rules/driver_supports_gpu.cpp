// Does a driver of that branch drive the GPU at all? Old architectures are dropped after a branch, new ones
// start with one.
#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/host_driver.hpp"
#include "rules/kernel_modules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::driver_load;

std::optional<std::uint32_t> branch_in(const Row& row, std::string_view column) {
    const auto version = Version::parse(row.text(column));
    if (!version) return std::nullopt;
    return version->major();
}

void judge_branch(const Context& context, const Device& device, Findings& out) {
    const auto text = context.cell.text(Field::driver);
    const auto parsed = lookup::driver(context.facts, text);
    const std::vector<Field> about{Field::driver, device.field};
    if (!parsed) return;  // the reader lets versions through only
    if (device.architecture.text("integrated") == "true") {
        auto open = unknown(kStage, "branch", about, outside_branches({device.field, device.text, {}}),
                            fmt::format("whether driver {} runs it", text));
        open.facts = device.facts;
        open.facts.push_back(device.architecture.ref());
        cite(open.facts, context.facts, "policy-jetson-driver");
        out.push_back(std::move(open));
        return;
    }
    // A branch that no fact knows is still too old or too new by its number.
    const auto resolved = host_driver(context);
    const auto* known = std::get_if<lookup::Driver>(&resolved);
    const auto number = known == nullptr
                            ? parsed->exact.major()
                            : branch_in(*known->branch, "branch").value_or(parsed->exact.major());
    const auto name = host_driver_text(context, known == nullptr ? *parsed : *known);
    const auto first = branch_in(device.architecture, "first_driver_branch");
    const auto last = branch_in(device.architecture, "last_driver_branch");
    auto facts = device.facts;
    facts.push_back(device.architecture.ref());

    if (first && number < *first) {
        auto error = finding(Severity::error, kStage, "branch", about,
                             fmt::format("{} does not know {}: driver branch {} is the first with {}", name,
                                         device.text, *first, device.architecture.text("name")),
                             std::move(facts));
        const auto row = context.facts.row(fmt::format("driver-r{}", *first));
        const bool has_oldest = row && row->has("oldest") && !windows_driver(context);
        const auto least = has_oldest ? std::string(row->text("oldest")) : std::to_string(*first);
        error.fixes.push_back(set_to(Field::driver, least, "driver >= " + least));
        out.push_back(std::move(error));
        return;
    }
    if (last && number > *last) {
        auto error = finding(Severity::error, kStage, "branch", about,
                             fmt::format("{} no longer runs {}: driver branch {} is the last with {}", name,
                                         device.text, *last, device.architecture.text("name")),
                             std::move(facts));
        error.fixes.push_back(set_to(Field::driver, std::to_string(*last), fmt::format("driver {}", *last)));
        out.push_back(std::move(error));
        return;
    }
    const auto question = fmt::format("whether {} runs {}", name, device.text);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "branch", about, *gap, "whether it runs " + device.text));
        return;
    }
    if (!first && !last) {
        const Unresolved gap{
            device.field, fmt::format("no fact names the driver branches of {}", device.text), {}};
        auto open = unknown(kStage, "branch", about, gap, question);
        open.facts = std::move(facts);
        out.push_back(std::move(open));
        return;
    }
    accept(context, out, kStage, "branch", about, question, std::move(facts));
}

// What a user of the driver should not forget; kernel-module-supports-gpu judges a module that is given.
void mention_module(const Context& context, const Device& device, Findings& out) {
    if (context.cell.has(Field::kernel_module) || windows_driver(context)) return;
    if (open_kernel_module(device) != "required") return;
    auto facts = device.facts;
    facts.push_back(device.architecture.ref());
    cite(facts, context.facts, "policy-open-kernel-module");
    out.push_back(
        finding(Severity::note, kStage, "module", {device.field},
                fmt::format("{} needs the open kernel modules; kernel_module is not given", device.text),
                std::move(facts)));
}

void judge(const Context& context, Findings& out) {
    const auto resolved = device(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "branch", {gap->field, Field::driver}, *gap,
                              fmt::format("whether driver {} runs it", context.cell.text(Field::driver))));
        return;
    }
    const auto& known = std::get<Device>(resolved);
    judge_branch(context, known, out);
    mention_module(context, known, out);
}

}  // namespace

Rule driver_supports_gpu() {
    return {.id = "driver-supports-gpu",
            .stage = kStage,
            .summary = "The driver branch runs the GPU's architecture.",
            .why =
                "Driver branches learn new architectures and drop old ones. Outside that range the kernel "
                "module does not bind the device, and nvidia-smi finds no GPU.",
            .fails = "driver: 535.183.01, gpu: RTX 5090, kernel_module: open",
            .passes = "driver: 580.95.05, gpu: RTX 5090, kernel_module: open",
            .reads = {Field::driver, Field::gpu, Field::compute, Field::kernel_module, Field::os,
                      Field::platform},
            .needs = {{Field::driver}, {Field::gpu, Field::compute}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
