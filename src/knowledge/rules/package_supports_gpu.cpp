// Has each package code for the GPU? Most rows are floors; what the binaries hold above them only a scan of
// the wheel tells, except where a row lists their code.
#include "base/text.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// Whether the row is about this release beside this torch.
bool is_about(const Row& row, const Package& package, std::string_view cuda) {
    if (!describes(row, package.name, *package.version)) return false;
    if (!row.has("torch_cuda")) return true;
    const auto version = pep440::Version::parse(cuda);
    return version && covers(row, "torch_cuda", *version);
}

bool below(const Device& device, const Row& row) {
    const auto floor = fatbin::parse_arch(row.text("compute_min"));
    return std::pair(device.arch.major, device.arch.minor) < std::pair(floor->major, floor->minor);
}

bool left_out(const Device& device, const Row& row) {
    return row.has("sass") && !has_code(row, "sass", device_arch(device.arch));
}

bool has_only_ptx(const Device& device, const Row& row) {
    return row.has("sass") && !has_sass(row.list("sass"), device_arch(device.arch));
}

// "machine code for compute 7.0, 8.0 and no PTX", "machine code for compute 7.0, 8.0 and PTX of 8.0".
std::string code_of(const Row& row) {
    return fmt::format("machine code for compute {} and {}", listed(row.list("sass")),
                       row.has("ptx") ? fmt::format("PTX of {}", listed(row.list("ptx"))) : "no PTX");
}

bool worse(const Row& a, const Row& b) {
    if (severity_in(a) != severity_in(b)) return severity_in(a) == Severity::error;
    return Version::parse(a.text("compute_min")) > Version::parse(b.text("compute_min"));
}

// The row that says most: an error before a warning, the higher floor before the lower.
std::optional<Row> worst_unmet(const Context& context, const Package& package, const Device& device) {
    std::optional<Row> worst;
    const auto cuda = torch_cuda(context);
    for (const auto& row : context.facts.rows("package_gpu_floors")) {
        const bool fails = is_about(row, package, cuda) && (below(device, row) || left_out(device, row));
        if (fails && (!worst || worse(row, *worst))) worst = row;
    }
    return worst;
}

// Whether the table has rows for the package, and whether one of them covers this release.
enum class Coverage { other_package, other_releases, known };
Coverage coverage(const Facts& facts, const Package& package) {
    auto found = Coverage::other_package;
    for (const auto& row : facts.rows("package_gpu_floors")) {
        if (row.text("package") != package.name) continue;
        if (covers(row, "versions", *package.version)) return Coverage::known;
        found = Coverage::other_releases;
    }
    return found;
}

void judge_ptx(Ask& ask, const Package& package, const Device& gpu, const Row& row) {
    auto answer = ask.degrade(
        "{} has {}; the cell has {}: the driver compiles the PTX when it is first loaded: the first start takes "
        "longer, and again after each change of the driver",
        package.text, code_of(row), gpu.text);
    answer.because(row.ref())
        .because(gpu.facts)
        .because(ask.facts.row("policy-ptx-jit-forward"))
        .accepted_release(package.name);
}

void judge_met(Ask& ask, const Package& package, const Device& gpu) {
    const auto cuda = torch_cuda(ask);
    for (const auto& row : ask.facts.rows("package_gpu_floors")) {
        if (!is_about(row, package, cuda)) continue;
        ask.question({Field::packages, gpu.field}, [&] {
            return fmt::format("whether {}, which needs compute {}, runs on {}", package.text,
                               row.text("compute_min"), gpu.text);
        });
        has_only_ptx(gpu, row) ? judge_ptx(ask, package, gpu, row) : ask.record_pass(row);
    }
    // packages-agree reports a release that no fact knows.
    if (!package.row || coverage(ask.facts, package) != Coverage::other_releases) return;
    ask.question({Field::packages, gpu.field}, fmt::format("whether it runs on {}", gpu.text),
                 package.row->text("package"));
    ask.unknown(Field::packages, "no fact says for which GPUs {} has code", package.text);
}

void judge_package(Ask& ask, const Package& package, const Device& gpu) {
    const auto row = worst_unmet(ask, package, gpu);
    ask.question({Field::packages, gpu.field}, {}, row ? row->text("package") : "");
    if (!row) return judge_met(ask, package, gpu);
    const auto needs = below(gpu, *row) || !row->has("sass")
                           ? fmt::format("needs compute {} or higher", row->text("compute_min"))
                           : fmt::format("has {}", code_of(*row));
    auto answer = ask.say(severity_in(*row), fmt::format("{} {}; the cell has {}: {}", package.text, needs,
                                                         gpu.text, row->text("consequence")));
    answer.because(row->ref()).because(gpu.facts).other_release(package.name);
    if (gpu.field == Field::compute) answer.fix(Field::compute, row->text("compute_min"));
    answer.without(package.name);
}

void judge_package_supports_gpu(Ask& ask) {
    const auto gpu = if_known(device(ask));
    if (!gpu) return;  // driver-supports-gpu and its like report an unknown GPU
    for (const auto& package : packages_of(ask)) {
        if (package.version) judge_package(ask, package, *gpu);
    }
}

}  // namespace

Rule package_supports_gpu() {
    return {.id = "package-supports-gpu",
            .stage = Stage::runtime,
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
            .judge = judge_package_supports_gpu,
            .monotone = {Field::packages, Field::torch},
            .apart = {Field::packages}};
}

}  // namespace cudamatrix::rules
