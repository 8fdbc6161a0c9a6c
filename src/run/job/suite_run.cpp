#include "run/job/suite_run.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix::job {
namespace {

constexpr int kEngineFailed = 125;  // from here on an exit code is of docker run, not of what ran in it

Status save_log(const std::filesystem::path& out, const Outcome& outcome, CellResult& cell) {
    cell.log = "logs/" + cell.id + ".log";
    const auto path = out / cell.log;
    CM_TRY(file::make_directories(path.parent_path()));
    const auto content = fmt::format("# ended: {}\n# standard output\n{}\n# standard error\n{}\n",
                                     outcome.describe(), outcome.out, outcome.err);
    CM_TRY(file::write(path, content));
    return Done{};
}

// How the process ended explains missing lines better than their absence does.
void judge_end(const Outcome& outcome, const SuiteOutput& output, CellResult& cell) {
    if (outcome.how != Ended::exited) {
        cell.outcome = CellOutcome::errored;
        cell.reason = "the suite: " + outcome.describe();
    } else if (outcome.exit_code >= kEngineFailed && output.tests.empty()) {
        cell.outcome = CellOutcome::errored;
        const auto said = text::printable(text::trim(outcome.err)).substr(0, 300);
        cell.reason = fmt::format("the container did not start: {}: {}", outcome.describe(), said);
    }
}

}  // namespace

Status run_suite(const SuiteCall& call, CellResult& cell) {
    SuiteReader reader(call.expectation);
    CM_TRY_ASSIGN(const auto outcome, call.start([&reader](std::string_view line, bool is_stderr) {
        if (!is_stderr) reader.take(line);
    }));
    CM_TRY(save_log(call.out, outcome, cell));
    if (outcome.how == Ended::cancelled) {
        cell.reason = "interrupted";
        return Done{};
    }
    const auto exit_code = outcome.how == Ended::exited ? std::optional(outcome.exit_code) : std::nullopt;
    const auto output = std::move(reader).finish(exit_code);
    const auto before = cell.proof;
    conclude(output, call.gpu, cell);
    judge_end(outcome, output, cell);
    if (cell.outcome == CellOutcome::failed || cell.outcome == CellOutcome::errored) cell.proof = before;
    if (cell.outcome == CellOutcome::passed_without_gpu) cell.reason = call.why_no_gpu;
    return Done{};
}

std::set<std::string> required_tests(const Image& image) {
    for (const auto& file : embedded_suite()) {
        if (file.path != "kernels/registry.def") continue;
        auto ids = registered_tests(file.content);
        // What can never say anything in this image may be left out of a plan, nothing else.
        if (image.torch.empty()) {
            std::erase_if(ids, [](const std::string& id) { return id.substr(0, 6) == "torch."; });
        }
        return ids;
    }
    return {};
}

void compare_with_rules(const Image& image, std::string_view compute, CellResult& cell) {
    if (compute.empty()) return;
    for (const auto& test : cell.tests) {
        const bool suite = test.id == "static.fatbin";  // torch.arch tells the code path of the wheel
        if ((!suite && test.id != "torch.arch") || test.code_path.empty()) continue;
        std::string expected;
        const bool own = suite && std::ranges::find(image.compute, compute) != image.compute.end();
        if (test.code_path.substr(0, 4) == "none") {
            expected = "code that runs on it";
        } else if (own && test.code_path != fmt::format("sass {}", compute)) {
            expected = fmt::format("sass {}", compute);
        }
        if (expected.empty()) continue;
        cell.findings.push_back(
            fmt::format("error: the rules expect {} for compute capability {}, the image has: {} "
                        "[image-agrees-with-rules, at runtime]",
                        expected, compute, test.code_path));
        if (report::has_passed(cell.outcome)) {
            cell.outcome = CellOutcome::failed;
            cell.proof = Proof::built;
        }
        cell.reason =
            fmt::format("rules and image disagree: expected {}, found {}", expected, test.code_path);
    }
}

namespace {

constexpr std::string_view kNoCuda = "None";  // what torch itself says in a build without CUDA

std::string_view text_of(const Cell& cell, Field field) {
    const auto* value = cell.get(field);
    return value == nullptr ? std::string_view{} : std::string_view(value->text);
}

// "9.0a" -> "9.0": a device has no variant.
std::string plain(std::string_view compute) {
    while (!compute.empty() && (compute.back() < '0' || compute.back() > '9'))
        compute.remove_suffix(1);
    return std::string(compute);
}

unsigned count_of(const Cell& cell, Field field) {
    const auto count = Version::parse(text_of(cell, field));
    return count ? count->major() : 0;
}

// GPUs are sold by decimal gigabytes, and show a little less where ECC takes its share: 16 GB are 15,258 MiB,
// of which 95 % must be there.
unsigned memory_mib(unsigned gigabytes) {
    return static_cast<unsigned>(std::uint64_t{gigabytes} * 950'000'000 >> 20);
}

}  // namespace

CellDevice cell_device(const Facts& facts, const Cell& cell) {
    CellDevice device;
    if (cell.has(Field::compute)) {
        device.compute = plain(text_of(cell, Field::compute));
    } else if (cell.has(Field::gpu)) {
        if (const auto gpu = lookup::gpu(facts, text_of(cell, Field::gpu)))
            device.compute = gpu->text("compute");
    }
    if (cell.has(Field::driver)) {
        const auto driver = lookup::driver(facts, text_of(cell, Field::driver));
        if (driver && driver->branch) device.ptx_isa = driver->branch->text("ptx_isa");
    }
    device.memory_mib = memory_mib(count_of(cell, Field::vram_gb));
    device.shm_mib = count_of(cell, Field::shm_gb) * 1024;
    return device;
}

std::string why_another_gpu(const engine::Gpu& gpu, const Cell& cell, const CellDevice& device) {
    if (cell.has(Field::driver)) {
        const auto wanted_text = driver_number(text_of(cell, Field::driver));
        const auto wanted = Version::parse(wanted_text);
        const auto here = Version::parse(gpu.driver);
        if (!wanted || !here || !wanted->covers(*here))
            return fmt::format("its driver is {}, the cell's {}", gpu.driver, text::printable(wanted_text));
    }
    if (device.compute.empty() || gpu.compute == device.compute) return {};
    return fmt::format("its compute capability is {} ({}), the cell's {}", gpu.compute, gpu.name,
                       device.compute);
}

ContainerNeeds needs_of(const Image& image, const CellDevice& device) {
    ContainerNeeds needs;
    if (!image.torch.empty()) needs = {8192, 256};
    if (device.shm_mib != 0) needs.shm_mib = device.shm_mib;
    return needs;
}

GpuChoice choose_gpu(const std::vector<engine::Gpu>& gpus, const Cell& cell, const CellDevice& device) {
    GpuChoice choice;
    for (const auto& gpu : gpus) {
        const auto why_not = why_another_gpu(gpu, cell, device);
        if (why_not.empty()) return {gpu.index, {}};
        if (choice.why_not.empty()) choice.why_not = "not run on this machine's GPU: " + why_not;
    }
    return choice;
}

std::vector<std::string> suite_arguments(const Image& image, std::string_view cell_id,
                                         const CellDevice& device, bool gpu) {
    std::vector<std::string> arguments{"run", "--cell", std::string(cell_id)};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) arguments.insert(arguments.end(), {name, value});
    };
    add("--compute", device.compute);
    add("--ptx-isa", device.ptx_isa);
    add("--expect-cuda", image.cuda);
    if (!image.torch.empty()) {
        add("--expect-torch",
            image.torch_variant.empty() ? image.torch : image.torch + "+" + image.torch_variant);
        if (image.torch_cuda != kNoCuda) add("--expect-torch-cuda", image.torch_cuda);
    }
    if (device.memory_mib != 0) add("--min-memory-mib", std::to_string(device.memory_mib));
    if (device.shm_mib != 0) add("--min-shm-mib", std::to_string(device.shm_mib));
    add("--mode", gpu ? "gpu" : "nogpu");
    return arguments;
}

std::vector<std::string> level_arguments(std::string_view level, unsigned soak_minutes) {
    if (level == "quick") return {};
    std::vector<std::string> arguments{"--level", std::string(level)};
    if (level == "soak")
        arguments.insert(arguments.end(), {"--soak-seconds", std::to_string(soak_minutes * 60)});
    return arguments;
}

std::vector<std::string> image_arguments(const Image& image) {
    std::vector<std::string> arguments;
    if (!image.cudart.empty()) arguments.insert(arguments.end(), {"--lib", image.cudart});
    if (image.torch.empty()) return arguments;
    arguments.insert(arguments.end(), {"--python", "/opt/venv/bin/python"});
    if (!image.torch_cuda.empty() && image.torch_cuda != kNoCuda) {
        arguments.insert(arguments.end(),
                         {"--fatbin", fmt::format("/opt/venv/lib/python{}/site-packages/torch/lib/"
                                                  "libtorch_cuda.so",
                                                  image.python)});
    }
    return arguments;
}

std::set<std::string> registered_tests(std::string_view registry) {
    std::set<std::string> ids;
    for (const auto& line : text::split(registry, '\n')) {
        const auto trimmed = text::trim(line);
        if (trimmed.substr(0, 11) != "CUDAMATRIX_") continue;
        const auto open = trimmed.find("(\"");
        if (open == std::string_view::npos) continue;
        const auto rest = trimmed.substr(open + 2);
        const auto close = rest.find('"');
        if (close != std::string_view::npos && close > 0) ids.emplace(rest.substr(0, close));
    }
    return ids;
}

}  // namespace cudamatrix::job
