#include "engine/gpu.hpp"

#include <charconv>
#include <filesystem>

#include "base/text.hpp"
#include "base/version.hpp"

namespace cudamatrix::engine {

std::vector<Gpu> parse_gpus(std::string_view csv) {
    std::vector<Gpu> gpus;
    for (const auto& line : text::split(csv, '\n')) {
        const auto columns = text::split(line, ',');
        if (columns.size() != 4) continue;
        Gpu gpu;
        const auto index = text::trim(columns[0]);
        const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), gpu.index);
        if (error != std::errc{} || end != index.data() + index.size()) continue;
        gpu.name = text::printable(text::trim(columns[1]));
        gpu.compute = text::trim(columns[2]);
        gpu.driver = text::trim(columns[3]);
        if (!Version::parse(gpu.compute) || !Version::parse(gpu.driver)) continue;
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

Gpus find_gpus(const Environment& environment, const Cancellation* cancellation) {
    Gpus gpus;
    std::error_code error;
    const bool node = std::filesystem::exists("/dev/nvidiactl", error);
    const auto program = find_program("nvidia-smi", environment);
    if (!program) {
        if (node) gpus.note = "/dev/nvidiactl exists, but nvidia-smi is not on PATH to tell which GPU it is";
        return gpus;
    }
    Command command;
    command.argv = {*program, "--query-gpu=index,name,compute_cap,driver_version", "--format=csv,noheader"};
    command.environment = environment;
    command.time_limit = std::chrono::seconds(20);
    command.grace = std::chrono::seconds(1);
    command.output_limit = 64u << 10;
    const auto outcome = cudamatrix::run(command, cancellation);
    if (!outcome.ok()) return gpus;
    if (!outcome->success()) {
        gpus.note =
            fmt::format("nvidia-smi: {}: {}", outcome->describe(),
                        text::printable(text::trim(outcome->out.empty() ? outcome->err : outcome->out)));
        return gpus;
    }
    gpus.list = parse_gpus(outcome->out);
    if (gpus.list.empty() && node) gpus.note = "nvidia-smi lists no GPU that could be understood";
    return gpus;
}

}  // namespace cudamatrix::engine
