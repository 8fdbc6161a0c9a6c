// Does a driver of that branch drive the GPU at all? Old architectures are dropped after a branch, new ones
// start with one, and a GPU that came out later with the release that first lists it.
#include <algorithm>

#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::optional<std::uint32_t> branch_in(const Row& row, std::string_view column) {
    const auto version = Version::parse(row.text(column));
    if (!version) return std::nullopt;
    return version->major();
}

// The GPU that is named, unless a `compute` that decides says something else.
std::optional<Row> named_gpu(const Device& device) {
    return device.gpu && device.gpu->text("compute") == device.compute ? device.gpu : std::nullopt;
}

// Of a GPU that came out later than its architecture: why the driver may be too old for it, with the least
// release that is not. Branches after the last that the row names list the GPU from their start.
std::optional<Unresolved> not_listed(const Device& device, const Row& gpu, const Version& driver) {
    const auto all = gpu.list("first_drivers");
    const auto branch = driver.major();
    // The first that names this branch or a newer one; they are sorted.
    const auto here = std::find_if(all.begin(), all.end(), [&](std::string_view text) {
        return Version::parse(text)->major() >= branch;
    });
    if (here == all.end()) return std::nullopt;
    const auto first = *Version::parse(*here);
    if (driver >= first) return std::nullopt;
    Unresolved gap{Field::driver, {}, {set_to(Field::driver, *here, fmt::format("driver >= {}", *here))}};
    if (here == all.begin()) {
        gap.what = fmt::format("{} is first listed in driver {}", device.text, *here);
    } else if (first.major() == branch) {
        gap.what = fmt::format("branch {} first lists {} in {}", branch, device.text, *here);
    } else {
        gap.what = fmt::format("no release of branch {} lists {}", branch, device.text);
    }
    return gap;
}

// The oldest release for the GPU where its branch is the first of its architecture; the branch by number for
// Windows, whose releases have numbers of their own.
std::string least_of(const Context& context, const Device& device, std::uint32_t branch) {
    if (windows_driver(context)) return std::to_string(branch);
    const auto gpu = named_gpu(device);
    if (gpu && gpu->has("min_driver")) return std::string(gpu->text("min_driver"));
    if (gpu && gpu->has("first_drivers")) return std::string(gpu->list("first_drivers").front());
    const auto row = context.facts.row(fmt::format("driver-r{}", branch));
    return row && row->has("oldest") ? std::string(row->text("oldest")) : std::to_string(branch);
}

// A driver that facts know, of a branch that runs the architecture.
void judge_release(Ask& ask, const Device& device, const lookup::Driver& driver, std::vector<FactRef> facts) {
    // The releases for Windows, with numbers of their own, are in no list of these.
    const auto gpu = windows_driver(ask) ? std::nullopt : named_gpu(device);
    if (!gpu) return ask.accept(std::move(facts));
    auto of_gpu = facts;
    if (device.facts.empty()) of_gpu.push_back(gpu->ref());  // compute is given, too
    const auto least = Version::parse(gpu->text("min_driver"));
    if (least && driver.exact < *least) {
        ask.reject("{} is too old for {}: NVIDIA asks for >= {}", host_driver_text(ask, driver), device.text,
                   least->text())
            .because(of_gpu)
            .at_least(Field::driver, least->text());
    } else if (const auto gap = not_listed(device, *gpu, driver.exact)) {
        ask.unknown(*gap).because(of_gpu);
    } else {
        ask.accept(std::move(facts));
    }
}

void judge_branch(Ask& ask, const Device& device) {
    const auto text = ask.cell.text(Field::driver);
    const auto parsed = lookup::driver(ask.facts, text);
    if (!parsed) return;  // the reader lets versions through only
    const auto& architecture = device.architecture;
    auto facts = device.facts;
    facts.push_back(architecture.ref());
    ask.question(
        {Field::driver, device.field}, [&] { return fmt::format("whether driver {} runs it", text); },
        "branch");
    if (architecture.text("integrated") == "true") {
        ask.unknown(outside_branches({device.field, device.text, {}}))
            .because(facts)
            .because(ask.facts.row("policy-jetson-driver"));
        return;
    }
    // A branch that no fact knows is still too old or too new by its number.
    const auto resolved = host_driver(ask);
    const auto* known = std::get_if<lookup::Driver>(&resolved);
    const auto& driver = known != nullptr ? *known : *parsed;
    const auto number = known != nullptr ? branch_in(*known->branch, "branch").value_or(parsed->exact.major())
                                         : parsed->exact.major();
    const auto name = host_driver_text(ask, driver);
    const auto first = branch_in(architecture, "first_driver_branch");
    const auto last = branch_in(architecture, "last_driver_branch");
    ask.reword(fmt::format("whether {} runs {}", known != nullptr ? name : "it", device.text));
    if (first && number < *first) {
        ask.reject("{} does not know {}: driver branch {} is the first with {}", name, device.text, *first,
                   architecture.text("name"))
            .because(facts)
            .at_least(Field::driver, least_of(ask, device, *first));
    } else if (last && number > *last) {
        ask.reject("{} no longer runs {}: driver branch {} is the last with {}", name, device.text, *last,
                   architecture.text("name"))
            .because(facts)
            .fix(Field::driver, std::to_string(*last));
    } else if (known == nullptr) {
        ask.unknown(std::get<Unresolved>(resolved));
    } else if (!first && !last) {
        ask.unknown(device.field, "no fact names the driver branches of {}", device.text).because(facts);
    } else {
        judge_release(ask, device, driver, std::move(facts));
    }
}

// What a user of the driver should not forget; kernel-module-supports-gpu judges a module that is given.
void mention_module(Ask& ask, const Device& device) {
    if (ask.cell.has(Field::kernel_module) || windows_driver(ask)) return;
    if (open_kernel_module(device) != "required") return;
    ask.question({device.field}, {}, "module");
    ask.note("{} needs the open kernel modules; kernel_module is not given", device.text)
        .because(device.facts)
        .because(device.architecture.ref())
        .because(ask.facts.row("policy-open-kernel-module"));
}

void judge_driver_supports_gpu(Ask& ask) {
    const auto device = rules::device(ask);
    if (const auto* gap = std::get_if<Unresolved>(&device)) {
        ask.question({gap->field, Field::driver},
                     fmt::format("whether driver {} runs it", ask.cell.text(Field::driver)), "branch");
        ask.unknown(*gap);
        return;
    }
    judge_branch(ask, std::get<Device>(device));
    mention_module(ask, std::get<Device>(device));
}

}  // namespace

Rule driver_supports_gpu() {
    return {.id = "driver-supports-gpu",
            .stage = Stage::driver_load,
            .summary = "The driver branch runs the GPU's architecture.",
            .why =
                "Driver branches learn new architectures and drop old ones. Outside that range the kernel "
                "module does not bind the device, and nvidia-smi finds no GPU.",
            .fails = "driver: 535.183.01, gpu: RTX 5090, kernel_module: open",
            .passes = "driver: 580.95.05, gpu: RTX 5090, kernel_module: open",
            .reads = {Field::driver, Field::gpu, Field::compute, Field::kernel_module, Field::os,
                      Field::platform},
            .needs = {{Field::driver}, {Field::gpu, Field::compute}},
            .judge = judge_driver_supports_gpu};
}

}  // namespace cudamatrix::rules
