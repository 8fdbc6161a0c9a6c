// Two variables of the container decide what the toolkit puts into it: without the capability compute, or
// without a device, CUDA finds no driver there.
#include <algorithm>

#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::string_view kCapabilities = "NVIDIA_DRIVER_CAPABILITIES";
constexpr std::string_view kDevices = "NVIDIA_VISIBLE_DEVICES";

FixOption set_all(const Context& context, std::string_view variable, std::string_view given) {
    const auto all = fmt::format("{}=all", variable);
    return set_to(
        Field::env,
        text::replace_all(context.cell.text(Field::env), fmt::format("{}={}", variable, given), all), all);
}

void judge_capabilities(Ask& ask) {
    const auto given = member(ask, Field::env, kCapabilities);
    if (!given || given->empty()) return;
    ask.question({Field::env}, "whether the driver's libraries are there", "capabilities");
    const auto policy = image_policy(ask.facts, "driver-capabilities");
    const auto words = text::split(*given, ',');
    if (std::any_of(words.begin(), words.end(), [&](std::string_view word) {
            return contains(policy.list("values"), text::trim(word));
        })) {
        ask.affirm("{}={} brings the driver's libraries into the container", kCapabilities, *given);
        return ask.accept({policy.ref()});
    }
    // Only the legacy mode heeds the variable; it is no longer what the nvidia runtime takes by default.
    const auto toolkit = container_toolkit(ask);
    if (!toolkit || toolkit->text("mode") == "legacy") {
        ask.reject("{}={} leaves out compute, which CUDA needs", kCapabilities, *given)
            .because(policy.ref())
            .fix(set_all(ask, kCapabilities, *given));
    } else {
        ask.degrade(
               "{}={} leaves out compute, which CUDA needs: the hook behind docker's --gpus heeds it, "
               "the nvidia runtime of container toolkit {} does not",
               kCapabilities, *given, ask.cell.text(Field::toolkit))
            .because(policy.ref())
            .because(toolkit->ref())
            .fix(set_all(ask, kCapabilities, *given));
    }
}

void judge_devices(Ask& ask) {
    const auto given = member(ask, Field::env, kDevices);
    if (!given) return;
    ask.question({Field::env}, "whether a GPU is visible", "devices");
    const auto policy = image_policy(ask.facts, "visible-devices");
    if (!given->empty() && !contains(policy.list("values"), *given)) {
        ask.affirm("{}={} shows the container a GPU", kDevices, *given);
        return ask.accept({policy.ref()});
    }
    ask.degrade("{}={} gives the container no GPU, unless the engine adds devices by itself (--gpus, CDI)",
                kDevices, *given)
        .because(policy.ref())
        .fix(set_all(ask, kDevices, *given));
}

void judge_driver_capabilities(Ask& ask) {
    judge_capabilities(ask);
    judge_devices(ask);
}

}  // namespace

Rule driver_capabilities() {
    return {.id = "driver-capabilities",
            .stage = Stage::container_start,
            .summary = "The container's variables let the toolkit bring in what CUDA needs.",
            .why =
                "The toolkit mounts the driver's libraries by NVIDIA_DRIVER_CAPABILITIES and the devices by "
                "NVIDIA_VISIBLE_DEVICES. Without compute there is no libcuda.so.1 in the container, and "
                "without a device torch.cuda.is_available() is False.",
            .fails = "env: {NVIDIA_DRIVER_CAPABILITIES: \"utility,video\"}",
            .passes = "env: {NVIDIA_DRIVER_CAPABILITIES: \"compute,utility\"}",
            .reads = {Field::env, Field::toolkit},
            .needs = {{Field::env}},
            .judge = judge_driver_capabilities};
}

}  // namespace cudamatrix::rules
