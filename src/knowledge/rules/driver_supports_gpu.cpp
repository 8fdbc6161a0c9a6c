// Does a driver of that branch drive the GPU at all? Old architectures are dropped after a branch, new ones
// start with one, and a GPU that came out later with the release that first lists it.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/resolve/kernel_modules.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::driver_load;

std::optional<std::uint32_t> branch_in(const Row& row, std::string_view column) {
    const auto version = Version::parse(row.text(column));
    if (!version) return std::nullopt;
    return version->major();
}

// The least release that suits the GPU by name, as a fix; of a bare branch nothing older is known to differ.
FixOption at_least(std::string_view least) {
    return set_to(Field::driver, least, fmt::format("driver >= {}", least));
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
    Unresolved gap{Field::driver, {}, {at_least(*here)}};
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

// Of a GPU by name and a driver of a branch that runs its architecture: true where something was said.
bool judge_release(const Context& context, const Device& device, const Row& gpu, const lookup::Driver& driver,
                   std::vector<FactRef> facts, Findings& out) {
    if (device.facts.empty()) facts.push_back(gpu.ref());  // compute is given, too
    const std::vector<Field> about{Field::driver, device.field};
    const auto name = host_driver_text(context, driver);
    const auto least = Version::parse(gpu.text("min_driver"));
    if (least && driver.exact < *least) {
        out.push_back(finding(
            Severity::error, kStage, "branch", about,
            fmt::format("{} is too old for {}: NVIDIA asks for >= {}", name, device.text, least->text()),
            facts));
        out.back().fixes.push_back(at_least(least->text()));
        return true;
    }
    const auto gap = not_listed(device, gpu, driver.exact);
    if (!gap) return false;
    out.push_back(
        unknown(kStage, "branch", about, *gap, fmt::format("whether {} runs {}", name, device.text)));
    out.back().facts = std::move(facts);
    return true;
}

// An integrated GPU, whose driver follows no branch.
void leave_open(const Context& context, const Device& device, Findings& out) {
    auto open = unknown(kStage, "branch", {Field::driver, device.field},
                        outside_branches({device.field, device.text, {}}),
                        fmt::format("whether driver {} runs it", context.cell.text(Field::driver)));
    open.facts = device.facts;
    open.facts.push_back(device.architecture.ref());
    cite(open.facts, context.facts, "policy-jetson-driver");
    out.push_back(std::move(open));
}

void judge_branch(const Context& context, const Device& device, Findings& out) {
    const auto parsed = lookup::driver(context.facts, context.cell.text(Field::driver));
    const std::vector<Field> about{Field::driver, device.field};
    if (!parsed) return;  // the reader lets versions through only
    if (device.architecture.text("integrated") == "true") return leave_open(context, device, out);
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
        error.fixes.push_back(at_least(least_of(context, device, *first)));
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
    // The releases for Windows, with numbers of their own, are in no list of these.
    const auto gpu = windows_driver(context) ? std::nullopt : named_gpu(device);
    if (gpu && judge_release(context, device, *gpu, *known, facts, out)) return;
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
