// The engines that answer, and whether a GPU reaches a container of theirs: tried, in an image that is there.
#include <algorithm>

#include "base/text.hpp"
#include "run/doctor/probes.hpp"
#include "run/engine/engine.hpp"

namespace cudamatrix::doctor {
namespace {

constexpr std::string_view kGuide =
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html";
constexpr std::string_view kImageLabel = "io.cudamatrix.image";
constexpr std::chrono::seconds kTrial{10};

// The image in which a GPU is tried: the one that was named, else one that `build` made.
std::string image_for_trial(const Context& context, const engine::Engine& engine) {
    if (!context.subject->image.empty()) return context.subject->image;
    const auto listed =
        engine::ask(engine, engine.dialect->list_images(kImageLabel), context.machine().cancellation);
    if (!listed.ok() || !listed->success()) return {};
    const auto images = engine::read_list(listed->out);
    return images.empty() ? std::string() : images.front().id;
}

DoctorLine trial_line(const Context& context, const engine::Engine& engine) {
    const auto what = fmt::format("a GPU in a container of {}", engine.name());
    if (context.host.gpus.empty())
        return {"engine", Health::skipped, what + ": not tried, for no GPU is known here", {}, {}};
    const auto image = image_for_trial(context, engine);
    if (image.empty()) {
        return {"engine",
                Health::skipped,
                what + ": not tried, for no image of ours is there",
                "cudamatrix doctor --image NAME with a local image (nothing is pulled)",
                {}};
    }
    engine::RunRequest request;
    request.image = image;
    request.name = engine::container_name("doctor", context.subject->today);
    request.run_id = "doctor";
    request.folder = "doctor";
    request.entrypoint = "nvidia-smi";
    request.arguments = {"-L"};
    request.gpu = 0;
    const auto outcome =
        engine::run_container(engine, request, {kTrial, 64u << 10}, context.machine().cancellation);
    const bool ran = outcome.ok() && outcome->success();
    const auto said = !outcome.ok() ? outcome.failure().diagnostics.front().message
                      : ran         ? outcome->out.substr(0, outcome->out.find('\n'))
                                    : engine::reason_of(*outcome);
    const auto found = fmt::format("{}: {}", what, text::printable(said));
    if (ran && said.starts_with("GPU 0:")) return {"engine", Health::ok, found, {}, {}};
    return {"engine", Health::fail, found,
            "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
            std::string(kGuide)};
}

// An engine without root leaves the device cgroup alone, or no container of it starts.
std::optional<DoctorLine> rootless_line(const Context& context, const engine::Engine& engine) {
    if (engine.dialect->security == nullptr || leaves_cgroups_alone(context).value_or(false))
        return std::nullopt;
    const auto said = engine::ask(engine, engine.dialect->security(), context.machine().cancellation);
    if (!said.ok() || !said->success() || said->out.find("name=rootless") == std::string::npos)
        return std::nullopt;
    return DoctorLine{
        "engine", Health::warn, "docker runs without root: the toolkit must leave cgroups alone",
        "sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place", std::string(kGuide)};
}

}  // namespace

Lines engine_lines(const Context& context) {
    Lines lines;
    std::vector<std::string> absent;
    bool any = false;
    for (const auto& dialect : engine::all_dialects()) {
        if (!dialect.containers) continue;
        if (!find_program(dialect.program, context.machine().environment)) {
            absent.emplace_back(dialect.name);
            continue;
        }
        const auto engine = engine::choose({std::string(dialect.name), {}, {}}, context.machine().environment,
                                           context.machine().cancellation);
        if (!engine.ok()) {
            const auto& why = engine.failure().diagnostics.front();
            lines.push_back({"engine", Health::skipped, text::printable(why.message), why.fix, {}});
            continue;
        }
        any = true;
        lines.push_back(
            {"engine", Health::ok, fmt::format("{} {}", engine->name(), engine->version), {}, {}});
        if (const auto folder = engine::storage(*engine, context.machine().cancellation))
            lines.push_back(disk_line(context, *folder, fmt::format("the images of {}", engine->name())));
        if (auto line = rootless_line(context, *engine)) lines.push_back(*std::move(line));
        if (dialect.gpus != engine::GpuForm::none) lines.push_back(trial_line(context, *engine));
    }
    if (!absent.empty())
        lines.push_back({"engine", Health::skipped, "not on PATH: " + text::join(absent, ", "), {}, {}});
    if (!any) {
        lines.push_back({"engine",
                         Health::warn,
                         "no engine answers: images can be rendered, not built",
                         "install docker or podman",
                         {}});
    }
    return lines;
}

}  // namespace cudamatrix::doctor
