#include "run/host/nvidia_smi.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/version.hpp"

namespace cudamatrix::probe {
namespace {

constexpr std::size_t kLongestGpuName = 64;
constexpr std::size_t kLongestMessage = 200;

// "index, name, [compute,] driver" lines.
std::vector<Gpu> parse(std::string_view csv, bool with_compute) {
    std::vector<Gpu> gpus;
    for (const auto& line : text::split(csv, '\n')) {
        const auto columns = text::split(line, ',');
        if (columns.size() != (with_compute ? 4u : 3u)) continue;
        const auto index = text::whole_number<unsigned>(text::trim(columns[0]));
        if (!index) continue;
        Gpu gpu;
        gpu.index = *index;
        gpu.name = text::printable(text::trim(columns[1]));
        if (with_compute) gpu.compute = text::trim(columns[2]);
        gpu.driver = text::trim(columns.back());
        if (gpu.name.empty() || gpu.name.size() > kLongestGpuName || !Version::parse(gpu.driver)) continue;
        if (with_compute && !Version::parse(gpu.compute)) continue;
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

Result<Outcome> query(const std::string& program, std::string_view fields, const Environment& environment,
                      const Cancellation* cancellation, std::chrono::milliseconds time_limit) {
    return ask_tool({program, fmt::format("--query-gpu={}", fields), "--format=csv,noheader"}, environment,
                    cancellation, time_limit);
}

}  // namespace

Result<Outcome> ask_tool(std::vector<std::string> argv, const Environment& environment,
                         const Cancellation* cancellation, std::chrono::milliseconds time_limit) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment;
    command.time_limit = time_limit;
    command.grace = std::chrono::seconds(1);
    command.output_limit = 64u << 10;
    command.stop_on_flood = true;
    return cudamatrix::run(command, cancellation);
}

std::string failure_text(const Outcome& outcome) {
    const auto& said = outcome.out.empty() ? outcome.err : outcome.out;
    std::string text;
    for (const auto& line : text::split(std::string_view(said).substr(0, kLongestMessage), '\n')) {
        const auto words = text::printable(text::trim(line));
        if (!words.empty()) text += (text.empty() ? "" : "; ") + words;
    }
    if (said.size() > kLongestMessage) text += " ...";
    return text.empty() ? outcome.describe() : fmt::format("{}: {}", outcome.describe(), text);
}

std::vector<Gpu> parse_gpus(std::string_view csv) {
    return parse(csv, true);
}

SmiAnswer ask_nvidia_smi(const Environment& environment, const Cancellation* cancellation,
                         std::chrono::milliseconds time_limit) {
    SmiAnswer answer;
    const auto program = find_program("nvidia-smi", environment);
    if (!program) {
        answer.why_not = "it is not on PATH";
        return answer;
    }
    answer.program = *program;
    bool with_compute = true;
    auto outcome =
        query(*program, "index,name,compute_cap,driver_version", environment, cancellation, time_limit);
    if (outcome.ok() && !outcome->success() &&
        (outcome->out + outcome->err).find("\"compute_cap\" is not a valid field") != std::string::npos) {
        with_compute = false;
        outcome = query(*program, "index,name,driver_version", environment, cancellation, time_limit);
    }
    answer.failed = !outcome.ok() || !outcome->success();
    if (!outcome.ok()) {
        answer.why_not = outcome.failure().diagnostics.front().message;
    } else if (answer.failed) {
        answer.why_not = failure_text(*outcome);
    } else {
        answer.gpus = parse(outcome->out, with_compute);
        if (answer.gpus.empty()) answer.why_not = "it lists no GPU that could be understood";
    }
    return answer;
}

std::map<unsigned, std::string> ask_of_each_gpu(std::string_view question, const Environment& environment,
                                                const Cancellation* cancellation,
                                                std::chrono::milliseconds time_limit) {
    std::map<unsigned, std::string> answers;
    const auto program = find_program("nvidia-smi", environment);
    if (!program) return answers;
    const auto outcome =
        query(*program, fmt::format("index,{}", question), environment, cancellation, time_limit);
    if (!outcome.ok() || !outcome->success()) return answers;
    for (const auto& line : text::split(outcome->out, '\n')) {
        const auto columns = text::split(line, ',');
        if (columns.size() != 2) continue;
        if (const auto index = text::whole_number<unsigned>(text::trim(columns[0])))
            answers[*index] = text::trim(columns[1]);
    }
    return answers;
}

}  // namespace cudamatrix::probe

namespace cudamatrix::engine {

Gpus find_gpus(const Environment& environment, const Cancellation* cancellation) {
    Gpus gpus;
    std::error_code error;
    const bool node = std::filesystem::exists("/dev/nvidiactl", error);
    auto answer = probe::ask_nvidia_smi(environment, cancellation);
    if (answer.program.empty()) {
        if (node) gpus.note = "/dev/nvidiactl exists, but nvidia-smi is not on PATH to tell which GPU it is";
        return gpus;
    }
    if (answer.failed || (node && answer.gpus.empty())) {
        gpus.note = "nvidia-smi: " + answer.why_not;
        return gpus;
    }
    gpus.list = std::move(answer.gpus);
    std::erase_if(gpus.list, [](const Gpu& gpu) { return gpu.compute.empty(); });
    return gpus;
}

}  // namespace cudamatrix::engine

namespace cudamatrix::probe {}  // namespace cudamatrix::probe
