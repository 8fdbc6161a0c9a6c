// Has each package code for the GPU? Mostly floors: what a package's binaries hold above them is for the scan
// of the wheel to say, except where a row lists their machine code.
#include "base/text.hpp"
#include "knowledge/resolve/gpu_code.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

// Whether the row speaks of this release beside this torch.
bool speaks_of(const Row& row, const Package& package, std::string_view cuda) {
    if (row.text("package") != package.name) return false;
    if (!covers(row, "versions", *package.version)) return false;
    if (!row.has("torch_cuda")) return true;
    const auto version = pep440::Version::parse(cuda);
    return version && covers(row, "torch_cuda", *version);
}

bool below(const Device& device, const Row& row) {
    const auto floor = fatbin::parse_arch(row.text("compute_min"));
    return std::pair(device.arch.major, device.arch.minor) < std::pair(floor->major, floor->minor);
}

bool left_out(const Device& device, const Row& row) {
    return row.has("sass") && !has_sass(row.list("sass"), device_arch(device.arch));
}

std::string needs_text(const Device& device, const Row& row) {
    if (below(device, row) || !row.has("sass"))
        return fmt::format("needs compute {} or higher", row.text("compute_min"));
    return fmt::format("has machine code for compute {} and no PTX", listed(row.list("sass")));
}

bool worse(const Row& a, const Row& b) {
    if (severity_in(a) != severity_in(b)) return severity_in(a) == Severity::error;
    return Version::parse(a.text("compute_min")) > Version::parse(b.text("compute_min"));
}

// The row that says most: an error before a warning, the higher floor before the lower.
std::optional<Row> verdict_on(const Context& context, const Package& package, const Device& device) {
    std::optional<Row> worst;
    const auto cuda = torch_cuda(context);
    for (const auto& row : context.facts.rows("package_gpu_floors")) {
        const bool fails = below(device, row) || left_out(device, row);
        if (fails && speaks_of(row, package, cuda) && (!worst || worse(row, *worst))) worst = row;
    }
    return worst;
}

// Whether the table has rows for the package, and whether one of them speaks of this release.
enum class Coverage { other_package, other_releases, known };
Coverage coverage(const Facts& facts, std::string_view name, const pep440::Version& version) {
    auto found = Coverage::other_package;
    for (const auto& row : facts.rows("package_gpu_floors")) {
        if (row.text("package") != name) continue;
        if (covers(row, "versions", version)) return Coverage::known;
        found = Coverage::other_releases;
    }
    return found;
}

// Releases that are known to do better on the GPU.
std::vector<FixOption> better(const Context& context, const Package& package, const Device& gpu,
                              const Row& row) {
    return release_options(context, package, [&](const Release& release) {
        Package other = package;
        other.version = release.version;
        const auto left = verdict_on(context, other, gpu);
        return coverage(context.facts, package.name, release.version) == Coverage::known &&
               (!left || severity_in(*left) < severity_in(row));
    });
}

void judge_package(const Context& context, const Package& package, const Device& gpu, Findings& out) {
    const std::vector<Field> about{Field::packages, gpu.field};
    const auto row = verdict_on(context, package, gpu);
    if (!row) {
        for (const auto& met : context.facts.rows("package_gpu_floors")) {
            if (!speaks_of(met, package, torch_cuda(context))) continue;
            passed(context, [&] {
                return Acceptance{{},
                                  kStage,
                                  about,
                                  fmt::format("whether {}, which needs compute {}, runs on {}", package.text,
                                              met.text("compute_min"), gpu.text),
                                  {met.ref()}};
            });
        }
        // A release that no fact knows is said by packages-agree.
        if (!package.row ||
            coverage(context.facts, package.name, *package.version) != Coverage::other_releases)
            return;
        const Unresolved gap{
            Field::packages, fmt::format("no fact says for which GPUs {} has code", package.text), {}};
        out.push_back(unknown(kStage, package.row->text("package"), about, gap,
                              fmt::format("whether it runs on {}", gpu.text)));
        return;
    }
    std::vector<FactRef> facts{row->ref()};
    facts.insert(facts.end(), gpu.facts.begin(), gpu.facts.end());
    auto found = finding(severity_in(*row), kStage, row->text("package"), about,
                         fmt::format("{} {}; the cell has {}: {}", package.text, needs_text(gpu, *row),
                                     gpu.text, row->text("consequence")),
                         std::move(facts));
    found.fixes = better(context, package, gpu, *row);
    if (gpu.field == Field::compute) found.fixes.push_back(set_to(Field::compute, row->text("compute_min")));
    found.fixes.push_back(without_package(context, package.name));
    out.push_back(std::move(found));
}

void judge(const Context& context, Findings& out) {
    const auto resolved = device(context);
    const auto* gpu = std::get_if<Device>(&resolved);
    if (gpu == nullptr) return;  // an unknown GPU is said by driver-supports-gpu and its like
    for (const auto& package : packages_of(context)) {
        if (package.version) judge_package(context, package, *gpu, out);
    }
}

}  // namespace

Rule package_supports_gpu() {
    return {.id = "package-supports-gpu",
            .stage = kStage,
            .summary = "The GPU is not below what each Python package has code for.",
            .why =
                "Packages with kernels of their own support fewer GPUs than torch does. On an older one they "
                "stop at the first call (\"FlashAttention only supports Ampere GPUs or newer\", \"no kernel "
                "image is available for execution on the device\").",
            .fails = "gpu: T4, packages: {flash-attn: 2.7.4}",
            .passes = "gpu: A100, packages: {flash-attn: 2.7.4}",
            .reads = {Field::packages, Field::gpu, Field::compute, Field::torch, Field::arch, Field::image,
                      Field::family, Field::cuda, Field::python, Field::os},
            .needs = {{Field::packages}, {Field::gpu, Field::compute}},
            .judge = plain(judge),
            .add_up = {Field::packages, Field::torch}};
}

}  // namespace cudamatrix::rules
