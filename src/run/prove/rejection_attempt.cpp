#include "run/prove/rejection_attempt.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "render/image/image_plan.hpp"

namespace cudamatrix::job {
namespace {

using rules::Attempt;

// Asks the runtime for a device. 100 is the stand-in's own answer: the runtime took the driver's version and
// went on to cuInit.
constexpr std::string_view kStart = R"(#include <cuda_runtime_api.h>
#include <cstdio>

int main() {
    int driver = 0, runtime = 0, devices = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const cudaError_t answer = cudaGetDeviceCount(&devices);
    std::printf("driver %d, runtime %d: cudaGetDeviceCount answers %d: %s\n", driver, runtime,
                static_cast<int>(answer), cudaGetErrorString(answer));
    return answer == cudaSuccess || answer == cudaErrorNoDevice ? 0 : 1;
}
)";

// A libcuda.so.1 that knows its version and has no device.
constexpr std::string_view kStandIn = R"(#include <cstdlib>

extern "C" int cuInit(unsigned) { return 100; }
extern "C" int cuDriverGetVersion(int* version) {
    const char* text = std::getenv("CUDAMATRIX_STANDIN_CUDA");
    *version = text != nullptr ? std::atoi(text) : 0;
    return 0;
}
)";

constexpr FieldSet kToolkitFields{Field::cuda,   Field::os,   Field::cuda_from,
                                  Field::family, Field::arch, Field::image};

// "9.0a" -> "90a": as nvcc's options name a target.
std::string target_of(std::string_view compute) {
    return text::replace_all(compute, ".", "");
}

std::vector<std::string> compile(const ToolkitPaths& paths, std::string_view ccbin, std::string_view target) {
    return {paths.nvcc,
            "-std=c++17",
            "-ccbin",
            std::string(ccbin),
            "-I" + paths.include,
            "-gencode",
            fmt::format("arch=compute_{0},code=sm_{0}", target),
            "-c",
            "kernel.cu",
            "-o",
            "/tmp/kernel.o"};
}

PlannedAttempt compiling(Image image) {
    PlannedAttempt planned;
    planned.image = std::move(image);
    planned.request.compiles = true;
    planned.request.files = {kernel_file()};
    return planned;
}

MaybeAttempt compile_target(const RejectedCell& rejected) {
    auto image = image_of(rejected, kToolkitFields);
    if (auto* reason = std::get_if<std::string>(&image)) return std::move(*reason);
    const rules::ProjectedCell view(rejected.cell, {Field::gpu, Field::compute});
    const auto device = rules::device({view, rejected.facts, {}});
    if (!std::holds_alternative<rules::Device>(device)) return "no fact knows its compute capability";
    const auto target = target_of(fatbin::to_text(std::get<rules::Device>(device).arch));
    auto planned = compiling(std::move(std::get<Image>(image)));
    const auto paths = toolkit_paths(planned.image);
    const auto known = target_of(planned.image.ptx);  // the highest that the facts list for this nvcc
    planned.signatures = signatures_of(rejected.rule, {{"target", target}});
    planned.attempt = fmt::format("nvcc of CUDA {} compiles for sm_{}", planned.image.cuda, target);
    planned.control = fmt::format("the same file for sm_{}", known);
    add_steps(planned, compile(paths, paths.ccbin, target), compile(paths, paths.ccbin, known));
    return planned;
}

MaybeAttempt compile_with(const RejectedCell& rejected) {
    if (text_of(rejected.cell, Field::compiler).starts_with("msvc-"))
        return std::string("msvc runs on Windows only");
    auto image = image_of(rejected, kToolkitFields);
    if (auto* reason = std::get_if<std::string>(&image)) return std::move(*reason);
    const auto wanted = text_of(rejected.cell, Field::compiler);
    const auto dash = wanted.find('-');
    const auto major = text::split(wanted.substr(dash + 1), '.').front();
    const bool gcc = wanted.starts_with("gcc-");
    auto planned = compiling(std::move(std::get<Image>(image)));
    const auto paths = toolkit_paths(planned.image);
    const auto known = target_of(planned.image.ptx);
    planned.request.beside = {(gcc ? "g++-" : "clang-") + major};
    planned.signatures = signatures_of(rejected.rule, {});
    const auto program = (gcc ? "g++-" : "clang++-") + major;
    planned.attempt = fmt::format("nvcc of CUDA {} compiles with {}", planned.image.cuda, program);
    planned.control = fmt::format("the same file with {}", paths.ccbin);
    add_steps(planned, compile(paths, program, known), compile(paths, paths.ccbin, known));
    return planned;
}

// 11.4 -> 11040: as cuDriverGetVersion tells it.
std::optional<unsigned> driver_cuda(const Facts& facts, std::string_view driver) {
    const auto found = lookup::driver(facts, driver);
    const auto cuda = found && found->branch ? Version::parse(found->branch->text("cuda")) : std::nullopt;
    if (!cuda) return std::nullopt;
    return cuda->major() * 1000 + cuda->minor() * 10;
}

std::string cuda_text(unsigned version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The driver that the finding's own fix asks for.
std::string fixed_driver(const Finding& finding) {
    for (const auto& option : finding.fixes) {
        if (option.set.size() == 1 && option.set.front().first == Field::driver)
            return option.set.front().second;
    }
    return {};
}

MaybeAttempt start_on_driver(const RejectedCell& rejected) {
    if (rejected.finding.aspect != "image")
        return "it is about the CUDA inside a torch wheel: only programs of the image's toolkit are started";
    if (rejected.cell.has(Field::cuda_compat)) return "compat libraries cannot be stood in for";
    if (rejected.cell.has(Field::platform)) return "the stand-in is a driver of Linux on no platform";
    auto image = image_of(rejected, kToolkitFields);
    if (auto* reason = std::get_if<std::string>(&image)) return std::move(*reason);
    const auto text = text_of(rejected.cell, Field::driver);
    const auto own = driver_cuda(rejected.facts, text);
    const auto fix = fixed_driver(rejected.finding);
    const auto enough = fix.empty() ? std::nullopt : driver_cuda(rejected.facts, fix);
    if (!own || !enough) return "no fact says which CUDA its driver reports";
    if (*own >= *enough) {
        return fmt::format(
            "a stand-in reports a CUDA version, and that of driver {} is the same as that of {}", text, fix);
    }
    auto planned = compiling(std::move(std::get<Image>(image)));
    const auto paths = toolkit_paths(planned.image);
    planned.request.files = {{"start.cu", std::string(kStart)}, {"standin.cpp", std::string(kStandIn)}};
    planned.signatures = signatures_of(rejected.rule, {{"driver", std::to_string(*own)}});
    planned.attempt =
        fmt::format("a program of CUDA {} starts on a stand-in libcuda.so.1 that reports CUDA {}",
                    planned.image.cuda, cuda_text(*own));
    planned.control =
        fmt::format("the same program, the stand-in reporting CUDA {} (driver {})", cuda_text(*enough), fix);
    planned.request.steps = {{"stand-in",
                              {},
                              {paths.ccbin, "-shared", "-fPIC", "-o", "/attempt/libcuda.so.1", "standin.cpp"},
                              kStepSeconds},
                             {"program",
                              {},
                              {paths.nvcc, "-std=c++17", "-cudart", "static", "-ccbin", paths.ccbin,
                               "-I" + paths.include, "-L" + paths.lib, "start.cu", "-o", "/attempt/start"},
                              kStepSeconds}};
    for (const auto& [step, version] : {std::pair{kAttemptStep, *own}, std::pair{kControlStep, *enough}}) {
        planned.request.steps.push_back(
            {std::string(step),
             {"LD_LIBRARY_PATH=/attempt", fmt::format("CUDAMATRIX_STANDIN_CUDA={}", version)},
             {"/attempt/start"},
             kStepSeconds});
    }
    return planned;
}

}  // namespace

MaybeAttempt plan_attempt(const RejectedCell& written) {
    // Attempted is what was judged: the releases that `any` stands for.
    const auto packages = rules::with_releases(written.cell, written.facts);
    auto cell = written.cell;
    if (packages) cell.set(Field::packages, &*packages);
    const RejectedCell rejected{written.matrix, written.facts, cell, written.rule, written.finding};
    switch (rejected.rule.proof.attempt) {
        case Attempt::compile_target:
            return compile_target(rejected);
        case Attempt::compile_with:
            return compile_with(rejected);
        case Attempt::start_on_driver:
            return start_on_driver(rejected);
        case Attempt::mix_parts:
            return mix_parts(rejected);
        case Attempt::resolve_python:
            return resolve_python(rejected);
        case Attempt::resolve_variant:
            return resolve_variant(rejected);
        case Attempt::resolve_together:
            return resolve_together(rejected);
        case Attempt::resolve_packages:
            return resolve_packages(rejected);
        case Attempt::none:
            break;
    }
    return "no attempt shows it";
}

namespace {

constexpr std::string_view kKernel = R"(__global__ void attempt(int* out) { *out = 1; }

int main() {
    attempt<<<1, 1>>>(nullptr);
    return 0;
}
)";

}  // namespace

std::string text_of(const Cell& cell, Field field) {
    const auto* value = cell.get(field);
    return value == nullptr ? std::string() : value->text;
}

std::variant<Image, std::string> image_of(const RejectedCell& rejected, FieldSet kept) {
    Cell cell;
    for (const auto& field : all_fields()) {
        if (kept.contains(field.field)) cell.set(field.field, rejected.cell.get(field.field));
    }
    auto plan = plan_images(rejected.matrix, {{cell, "attempt"}}, rejected.facts);
    if (plan.images.empty()) return plan.refusals.front().reason;
    if (!plan.images.front().references().empty())
        return std::string(
            "its base comes from a registry: rejections are attempted on bootstrapped bases only");
    return std::move(plan.images.front());
}

std::vector<std::string> signatures_of(const rules::Rule& rule,
                                       const std::vector<std::pair<std::string, std::string>>& names) {
    std::vector<std::string> filled;
    for (const auto signature : rule.proof.signatures) {
        std::string text(signature);
        for (const auto& [name, value] : names)
            text = text::replace_all(text, "{" + name + "}", value);
        filled.push_back(std::move(text));
    }
    return filled;
}

void add_steps(PlannedAttempt& planned, std::vector<std::string> attempt, std::vector<std::string> control) {
    auto& steps = planned.request.steps;
    steps.push_back({std::string(kAttemptStep), {}, std::move(attempt), kStepSeconds});
    steps.push_back({std::string(kControlStep), {}, std::move(control), kStepSeconds});
}

Artifact kernel_file() {
    return {"kernel.cu", std::string(kKernel)};
}

}  // namespace cudamatrix::job
