// What containers and programs meet: the container toolkit, CDI, shared memory, the path of libraries.
#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "matrix/condition.hpp"
#include "run/doctor/probes.hpp"

namespace cudamatrix::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestSpec = 4u << 20;
constexpr std::uint64_t kLargestConfig = 1u << 20;
constexpr std::string_view kToolkitConfig = "/etc/nvidia-container-runtime/config.toml";
constexpr std::size_t kMostSpecs = 256;
constexpr std::uint64_t kDockersSharedMemory = 64u << 20;
constexpr std::string_view kCdiGuide =
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html";
constexpr std::string_view kWriteCdi = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml";

struct Spec {
    std::string path;     // as it is on the machine
    std::string release;  // of the driver whose libraries it names; may be empty
};

// "550.54.15" of the first "libcuda.so.550.54.15".
std::string driver_of_spec(std::string_view content) {
    constexpr std::string_view name = "libcuda.so.";
    for (auto at = content.find(name); at != std::string_view::npos; at = content.find(name, at + 1)) {
        const auto rest = content.substr(at + name.size());
        auto release = rest.substr(0, rest.find_first_not_of("0123456789."));
        if (release.find('.') != std::string_view::npos && release.size() <= 32) return std::string(release);
    }
    return {};
}

std::vector<Spec> nvidia_specs(const Context& context) {
    std::vector<Spec> specs;
    for (const std::string_view folder : {"/etc/cdi", "/var/run/cdi"}) {
        std::error_code error;
        fs::directory_iterator entry(context.below(folder), error);
        std::size_t seen = 0;
        for (const fs::directory_iterator end; !error && entry != end && seen < kMostSpecs;
             entry.increment(error), ++seen) {
            const auto extension = entry->path().extension();
            if (extension != ".yaml" && extension != ".json") continue;
            const auto content = file::read(entry->path(), kLargestSpec);
            if (!content.ok() || content->find("nvidia.com/gpu") == std::string::npos) continue;
            specs.push_back(
                {fmt::format("{}/{}", folder, entry->path().filename().string()), driver_of_spec(*content)});
        }
    }
    std::ranges::sort(specs, {}, &Spec::path);
    return specs;
}

// One condition of the row, which is on the toolkit: the table's self-check sees to it.
bool strikes(const KnownProblem& problem, const std::string& toolkit) {
    return std::ranges::all_of(problem.when, [&](const KnownProblem::Clause& clause) {
        return clause.field == Field::toolkit && clause.test &&
               clause.test->holds({{Field::toolkit, toolkit}});
    });
}

}  // namespace

Lines toolkit_lines(const Context& context) {
    const auto& toolkit = context.host.toolkit;
    if (!toolkit) {
        return {{"toolkit", context.has_driver() ? Health::warn : Health::skipped,
                 "none found: " + context.host.why_no("toolkit"),
                 context.has_driver() ? "install nvidia-container-toolkit" : "",
                 context.has_driver() ? std::string(kCdiGuide) : ""}};
    }
    Lines lines{{"toolkit", Health::ok, fmt::format("{} from {}", toolkit->value, toolkit->from), {}, {}}};
    for (const auto& problem : context.subject->facts.known_problems("container-toolkit-vulnerable")) {
        if (!strikes(problem, toolkit->value)) continue;
        lines.push_back(
            {"toolkit", Health::warn, fmt::format("{} has {}", toolkit->value, problem.row.text("says")),
             fmt::format("update nvidia-container-toolkit to {}", problem.row.text("fix.toolkit")),
             fmt::format("cudamatrix facts show {}", problem.row.id())});
    }
    return lines;
}

std::optional<bool> leaves_cgroups_alone(const Context& context) {
    const auto content = file::read(context.below(kToolkitConfig), kLargestConfig);
    if (!content.ok()) return std::nullopt;
    for (const auto& line : text::split(*content, '\n')) {
        const auto equals = line.find('=');
        if (equals == std::string::npos || text::trim(line.substr(0, equals)) != "no-cgroups") continue;
        const auto value = line.substr(equals + 1);
        if (text::trim(value.substr(0, value.find('#'))) == "true") return true;
    }
    return false;
}

Lines cgroup_lines(const Context& context) {
    const auto alone = leaves_cgroups_alone(context);
    if (!alone)
        return {{"cgroups", Health::skipped, fmt::format("{} cannot be read", kToolkitConfig), {}, {}}};
    if (!*alone) {
        return {
            {"cgroups", Health::ok, fmt::format("{} leaves cgroups to the toolkit", kToolkitConfig), {}, {}}};
    }
    return {{"cgroups", Health::warn,
             fmt::format("{} has no-cgroups = true: containers of an engine that runs as root get no GPU "
                         "(NVML: Unknown Error), those without root need it",
                         kToolkitConfig),
             "set no-cgroups = false there, then sudo systemctl restart docker",
             "https://github.com/NVIDIA/nvidia-container-toolkit/issues/381"}};
}

Lines cdi_lines(const Context& context) {
    if (!context.has_driver()) return {{"cdi", Health::skipped, "no driver is loaded", {}, {}}};
    Lines lines;
    for (const auto& spec : nvidia_specs(context)) {
        const auto& driver = context.host.driver;
        if (driver && !spec.release.empty() && spec.release != driver->value) {
            lines.push_back({"cdi", Health::fail,
                             fmt::format("{} names libraries of driver {}, loaded is {}", spec.path,
                                         spec.release, driver->value),
                             std::string(kWriteCdi), std::string(kCdiGuide)});
        } else {
            lines.push_back({"cdi", Health::ok, spec.path + " describes GPUs", {}, {}});
        }
    }
    if (lines.empty()) {
        lines.push_back({"cdi", Health::warn, "no file of /etc/cdi or /var/run/cdi describes GPUs of NVIDIA",
                         std::string(kWriteCdi), std::string(kCdiGuide)});
    }
    return lines;
}

Lines shared_memory_lines(const Context& context) {
    const auto space = context.subject->space(context.below("/dev/shm"));
    if (!space) return {{"shared-memory", Health::skipped, "/dev/shm cannot be asked for its size", {}, {}}};
    const auto found = fmt::format("/dev/shm holds {}", text::human_bytes(space->all));
    if (space->all > kDockersSharedMemory) return {{"shared-memory", Health::ok, found, {}, {}}};
    return {{"shared-memory", Health::warn, found + ": workers of torch's DataLoader and NCCL may need more",
             "docker run --shm-size=4g ...", "https://github.com/wasserth/TotalSegmentator/pull/526"}};
}

Lines library_path_lines(const Context& context) {
    Lines lines;
    for (const auto& folder :
         text::split(value_of(context.machine().environment, {"LD_LIBRARY_PATH"}), ':')) {
        const auto name =
            fs::path(folder.ends_with('/') ? folder.substr(0, folder.size() - 1) : folder).filename();
        if (name == "stubs") {
            lines.push_back(
                {"library-path", Health::fail,
                 fmt::format("LD_LIBRARY_PATH names {}: its libcuda is a stub (CUDA error 34)", folder),
                 "take the folder out of LD_LIBRARY_PATH", "https://github.com/NVIDIA/warp/issues/219"});
        } else if (name == "compat") {
            lines.push_back(
                {"library-path", Health::warn,
                 fmt::format("LD_LIBRARY_PATH names {}: its libcuda comes before the driver's", folder),
                 "take the folder out of LD_LIBRARY_PATH unless the driver is older than CUDA",
                 "https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html"});
        }
    }
    if (lines.empty())
        lines.push_back(
            {"library-path", Health::ok, "LD_LIBRARY_PATH names no folder of stubs or compat", {}, {}});
    return lines;
}

}  // namespace cudamatrix::doctor
