// Does that torch know the settings of its CUDA allocator that the environment holds? An unknown option stops
// it, an unknown variable is not read.
#include <algorithm>
#include <array>

#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

constexpr std::array<std::string_view, 2> kVariables{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};

// One part of the variable. A list in brackets is one value, whatever commas and colons it has.
struct Option {
    std::string name;                  ///< "expandable_segments"; of a part without ':' all of it
    std::optional<std::string> value;  ///< "True"
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

std::vector<Option> options_in(std::string_view value) {
    std::vector<Option> out;
    while (!value.empty()) {
        std::size_t end = 0;
        for (bool list = false; end < value.size() && (list || value[end] != ','); ++end)
            list = value[end] == '[' || (list && value[end] != ']');
        const auto part = trimmed(value.substr(0, end));
        value.remove_prefix(std::min(end + 1, value.size()));
        if (part.empty()) continue;
        const auto colon = part.find(':');
        auto& option = out.emplace_back(Option{std::string(trimmed(part.substr(0, colon))), {}});
        if (colon != part.npos) option.value = trimmed(part.substr(colon + 1));
        if (option.name.empty()) option.name = part;
    }
    return out;
}

bool knows(const Row& setting, const Version& torch) {
    const auto last = Version::parse(setting.text("torch_last"));
    return torch >= lookup::required_version(setting, "torch_first") && (!last || torch <= *last);
}

std::string range_text(const Row& setting) {
    return setting.has("torch_last")
               ? fmt::format("torch {} to {}", setting.text("torch_first"), setting.text("torch_last"))
               : fmt::format("torch {} and newer", setting.text("torch_first"));
}

Unresolved unknown_option(const Facts& facts, std::string_view variable, const Option& option) {
    std::vector<std::string> names;
    for (const auto& row : facts.rows("torch_settings")) {
        if (row.text("kind") == "option") names.emplace_back(row.text("name"));
    }
    // Without ':' there is no value, and no name that torch could know.
    const auto name = option.name.substr(0, option.name.find('='));
    Unresolved gap{Field::env, fmt::format("no fact knows the option {} in {}", option.name, variable), {}};
    if (!option.value) gap.what += ", which has no ':' before its value";
    if (const auto near = text::did_you_mean(name, names))
        gap.what += fmt::format(" (did you mean {}{}?)", *near, option.value ? "" : ":VALUE");
    return gap;
}

void judge_option(Ask& ask, const TorchBuild& build, const std::string& torch, std::string_view variable,
                  const Option& option) {
    ask.question({Field::env, Field::torch}, fmt::format("whether {} does", torch), variable);
    const auto setting = ask.facts.row(fmt::format("setting-{}", option.name));
    if (!setting || setting->text("kind") != "option" || !option.value) {
        ask.unknown(unknown_option(ask.facts, variable, option));
        return;
    }
    if (!knows(*setting, build.torch.exact)) {
        ask.reject("{} stops at the option {} in {}: only {} know it", torch, option.name, variable,
                   range_text(*setting))
            .because(setting->ref())
            .accepted_other(Field::torch);
        return;
    }
    if (setting->has("values") && !contains(setting->list("values"), *option.value)) {
        ask.reject("{} stops at {}:{} in {}: it takes {}", torch, option.name, *option.value, variable,
                   listed(setting->list("values")))
            .because(setting->ref());
        return;
    }
    // On some systems torch takes the option, warns and goes on without it.
    const auto os = other_os(ask);
    if (os && contains(setting->list("not_on"), os->os) &&
        member(ask, Field::env, variable).value_or("").find(option.name + ":False") == std::string::npos) {
        ask.question({Field::env, Field::os}, {}, variable);
        ask.degrade(
               "{} does nothing with {} in {} on {}: it warns \"{} not supported on this platform\", "
               "and memory fragments as without it",
               torch, option.name, variable, os->row.text("name"), option.name)
            .because(setting->ref());
        return;
    }
    ask.reword(fmt::format("whether {} knows {} in {}", torch, option.name, variable));
    ask.record_pass({setting->ref()});
}

void judge_build(Ask& ask, const TorchBuild& build) {
    // The variant does not matter here.
    const auto torch = build.torch.variant.empty() ? build.text : "torch " + build.torch.exact.text();
    for (const auto& [name, value] : ask.cell.value(Field::env)->items) {
        const auto* const variable = std::find(kVariables.begin(), kVariables.end(), name);
        if (variable == kVariables.end()) continue;
        const auto setting = ask.facts.row(fmt::format("setting-{}", *variable));
        if (!knows(*setting, build.torch.exact)) {  // nor are its options read
            ask.question({Field::env, Field::torch}, {}, *variable);
            ask.degrade("{} does not heed {} in its CUDA allocator: only {} do", torch, *variable,
                        range_text(*setting))
                .because(setting->ref())
                .accepted_other(Field::torch);
            continue;
        }
        for (const auto& option : options_in(value))
            judge_option(ask, build, torch, *variable, option);
    }
}

void judge_allocator_setting_known_to_torch(Ask& ask) {
    if (!wants_torch(ask)) return;
    const auto& items = ask.cell.value(Field::env)->items;
    const bool asks = std::any_of(items.begin(), items.end(), [](const auto& item) {
        return std::find(kVariables.begin(), kVariables.end(), item.first) != kVariables.end();
    });
    if (!asks) return;
    if (const auto own = image_torch(ask)) {
        ask.question(own->about(ask, Field::env), "whether it knows the allocator settings");
        return judge_stand_ins(ask, *own, judge_build);
    }
    const auto build = if_known(torch_build(ask));
    if (!build || build->torch.variant == "cpu" || never_published(*build)) return;
    judge_build(ask, *build);
}

}  // namespace

Rule allocator_setting_known_to_torch() {
    return {.id = "allocator-setting-known-to-torch",
            .stage = Stage::runtime,
            .summary = "The settings of the CUDA allocator in the environment exist in that torch.",
            .why =
                "torch parses them when it first uses CUDA and raises \"Unrecognized CachingAllocator "
                "option\" for one that it does not know. A variable under a name that it does not read has "
                "no effect, and nothing says so.",
            .fails = "torch: 2.0.1, env: {PYTORCH_CUDA_ALLOC_CONF: \"expandable_segments:True\"}",
            .passes = "torch: 2.1.0, env: {PYTORCH_CUDA_ALLOC_CONF: \"expandable_segments:True\"}",
            .reads = {Field::torch, Field::env, Field::arch, Field::os, Field::image, Field::family,
                      Field::cuda, Field::python},
            .needs = {{Field::torch}, {Field::env}},
            .judge = judge_allocator_setting_known_to_torch};
}

}  // namespace cudamatrix::rules
