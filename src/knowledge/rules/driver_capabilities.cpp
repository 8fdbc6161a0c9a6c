// Two variables of the container decide what the toolkit puts into it: without the capability compute, or
// without a device, CUDA finds no driver there.
#include "base/text.hpp"
#include "knowledge/resolve/container_toolkits.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::container_start;

void judge_capabilities(const Context& context, Findings& out) {
    const auto given = member(context, Field::env, "NVIDIA_DRIVER_CAPABILITIES");
    const auto policy = image_policy(context.facts, "driver-capabilities");
    if (!given || given->empty()) return;
    for (const auto& word : text::split(*given, ',')) {
        if (contains(policy.list("values"), text::trim(word))) {
            accept(context, out, kStage, "capabilities", {Field::env},
                   "whether the driver's libraries are there", {policy.ref()});
            return;
        }
    }
    std::vector<FactRef> facts{policy.ref()};
    // Only the legacy mode heeds the variable; it is no longer what the nvidia runtime takes by default.
    const auto toolkit = container_toolkit(context);
    const bool is_legacy = !toolkit || toolkit->text("mode") == "legacy";
    auto message = fmt::format("NVIDIA_DRIVER_CAPABILITIES={} leaves out compute, which CUDA needs", *given);
    if (!is_legacy) {
        facts.push_back(toolkit->ref());
        message += fmt::format(
            ": the hook behind docker's --gpus heeds it, the nvidia runtime of container "
            "toolkit {} does not",
            context.cell.text(Field::toolkit));
    }
    auto found = finding(is_legacy ? Severity::error : Severity::warning, kStage, "capabilities",
                         {Field::env}, std::move(message), std::move(facts));
    auto value = std::string(context.cell.text(Field::env));
    const std::string name = "NVIDIA_DRIVER_CAPABILITIES=";
    value = text::replace_all(value, name + std::string(*given), name + "all");
    found.fixes.push_back(set_to(Field::env, value, "NVIDIA_DRIVER_CAPABILITIES=all"));
    out.push_back(std::move(found));
}

void judge_devices(const Context& context, Findings& out) {
    const auto given = member(context, Field::env, "NVIDIA_VISIBLE_DEVICES");
    const auto policy = image_policy(context.facts, "visible-devices");
    if (!given) return;
    if (!given->empty() && !contains(policy.list("values"), *given)) {
        accept(context, out, kStage, "devices", {Field::env}, "whether a GPU is visible", {policy.ref()});
        return;
    }
    auto warning = finding(
        Severity::warning, kStage, "devices", {Field::env},
        fmt::format("NVIDIA_VISIBLE_DEVICES={} gives the container no GPU, unless the engine adds devices "
                    "by itself (--gpus, CDI)",
                    *given),
        {policy.ref()});
    auto value = std::string(context.cell.text(Field::env));
    const std::string name = "NVIDIA_VISIBLE_DEVICES=";
    value = text::replace_all(value, name + std::string(*given), name + "all");
    warning.fixes.push_back(set_to(Field::env, value, "NVIDIA_VISIBLE_DEVICES=all"));
    out.push_back(std::move(warning));
}

void judge(const Context& context, Findings& out) {
    judge_capabilities(context, out);
    judge_devices(context, out);
}

}  // namespace

Rule driver_capabilities() {
    return {.id = "driver-capabilities",
            .stage = kStage,
            .summary = "The container's variables let the toolkit bring in what CUDA needs.",
            .why =
                "The toolkit mounts the driver's libraries by NVIDIA_DRIVER_CAPABILITIES and the devices by "
                "NVIDIA_VISIBLE_DEVICES. Without compute there is no libcuda.so.1 in the container, and "
                "without a device torch.cuda.is_available() is False.",
            .fails = "env: {NVIDIA_DRIVER_CAPABILITIES: \"utility,video\"}",
            .passes = "env: {NVIDIA_DRIVER_CAPABILITIES: \"compute,utility\"}",
            .reads = {Field::env, Field::toolkit},
            .needs = {{Field::env}},
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
