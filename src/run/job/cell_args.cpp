#include "run/job/cell_args.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::job {
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

GpuChoice choose_gpu(const std::vector<engine::Gpu>& gpus, const Cell& cell, const CellDevice& device) {
    GpuChoice choice;
    if (gpus.empty()) return choice;
    if (cell.has(Field::driver)) {
        const auto wanted_text = driver_number(text_of(cell, Field::driver));
        const auto wanted = Version::parse(wanted_text);
        const auto here = Version::parse(gpus.front().driver);
        if (!wanted || !here || !wanted->covers(*here)) {
            choice.why_not = fmt::format("not run on this machine's GPU: its driver is {}, the cell's {}",
                                         gpus.front().driver, text::printable(wanted_text));
            return choice;
        }
    }
    for (const auto& gpu : gpus) {
        if (device.compute.empty() || gpu.compute == device.compute) {
            choice.index = gpu.index;
            return choice;
        }
    }
    choice.why_not =
        fmt::format("not run on this machine's GPU: its compute capability is {} ({}), the cell's {}",
                    gpus.front().compute, gpus.front().name, device.compute);
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
