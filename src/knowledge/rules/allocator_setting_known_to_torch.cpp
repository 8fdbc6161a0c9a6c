// Does that torch know the settings of its CUDA allocator that the environment holds? An unknown option stops
// it, an unknown variable is not read.
#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "knowledge/resolve/image_torch.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"
#include "knowledge/rules/passed.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;
constexpr std::array<std::string_view, 2> kVariables{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
std::vector<Field> about() {
    return {Field::env, Field::torch};
}

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

// The variant does not matter here.
std::string name_of(const TorchBuild& build) {
    return build.torch.variant.empty() ? build.text : "torch " + build.torch.exact.text();
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

void offer_releases(const Context& context, const Row& setting, Finding& finding) {
    finding.fixes = torch_options(
        context, [&](const Row& wheel) { return knows(setting, lookup::required_version(wheel, "torch")); });
}

// False where the variable is not read: its options do not matter then.
bool judge_variable(const Context& context, const TorchBuild& build, std::string_view variable,
                    Findings& out) {
    const auto setting = context.facts.row(fmt::format("setting-{}", variable));
    if (knows(*setting, build.torch.exact)) return true;
    auto warning = finding(Severity::warning, kStage, variable, about(),
                           fmt::format("{} does not heed {} in its CUDA allocator: only {} do",
                                       name_of(build), variable, range_text(*setting)),
                           {setting->ref()});
    offer_releases(context, *setting, warning);
    out.push_back(std::move(warning));
    return false;
}

// torch takes the option there, warns and goes on without it.
void judge_system(const Context& context, const TorchBuild& build, std::string_view variable,
                  const std::string& option, const Row& setting, Findings& out) {
    const auto os = other_os(context);
    if (!os || !contains(setting.list("not_on"), os->os)) return;
    const auto value = member(context, Field::env, variable).value_or("");
    if (value.find(option + ":False") != value.npos) return;
    out.push_back(finding(Severity::warning, kStage, variable, {Field::env, Field::os},
                          fmt::format("{} does nothing with {} in {} on {}: it warns \"{} not supported on "
                                      "this platform\", and memory fragments as without it",
                                      name_of(build), option, variable, os->row.text("name"), option),
                          {setting.ref()}));
}

void judge_unknown(const TorchBuild& build, std::string_view variable, const Option& option,
                   const Facts& facts, Findings& out) {
    std::vector<std::string> names;
    for (const auto& row : facts.rows("torch_settings")) {
        if (row.text("kind") == "option") names.emplace_back(row.text("name"));
    }
    // Without ':' there is no value, and no name that torch could know.
    const auto name = option.name.substr(0, option.name.find('='));
    Unresolved gap{Field::env, fmt::format("no fact knows the option {} in {}", option.name, variable), {}};
    if (!option.value) gap.what += ", which has no ':' before its value";
    if (const auto near = text::did_you_mean(name, names)) {
        gap.what += fmt::format(" (did you mean {}{}?)", *near, option.value ? "" : ":VALUE");
    }
    out.push_back(unknown(kStage, variable, about(), gap, fmt::format("whether {} does", name_of(build))));
}

// Whether torch takes the value, where the facts list all that it takes.
bool judge_value(const TorchBuild& build, std::string_view variable, const Option& option, const Row& setting,
                 Findings& out) {
    if (!setting.has("values") || contains(setting.list("values"), *option.value)) return true;
    out.push_back(finding(Severity::error, kStage, variable, about(),
                          fmt::format("{} stops at {}:{} in {}: it takes {}", name_of(build), option.name,
                                      *option.value, variable, listed(setting.list("values"))),
                          {setting.ref()}));
    return false;
}

void judge_option(const Context& context, const TorchBuild& build, std::string_view variable,
                  const Option& whole, Findings& out) {
    const auto& option = whole.name;
    const auto setting = context.facts.row(fmt::format("setting-{}", option));
    if (!setting || setting->text("kind") != "option" || !whole.value)
        return judge_unknown(build, variable, whole, context.facts, out);
    if (knows(*setting, build.torch.exact)) {
        if (!judge_value(build, variable, whole, *setting, out)) return;
        const auto before = out.size();
        judge_system(context, build, variable, option, *setting, out);
        if (out.size() != before) return;
        return passed(context, [&] {
            return Acceptance{{},
                              kStage,
                              about(),
                              fmt::format("whether {} knows {} in {}", name_of(build), option, variable),
                              {setting->ref()}};
        });
    }
    auto error = finding(Severity::error, kStage, variable, about(),
                         fmt::format("{} stops at the option {} in {}: only {} know it", name_of(build),
                                     option, variable, range_text(*setting)),
                         {setting->ref()});
    offer_releases(context, *setting, error);
    out.push_back(std::move(error));
}

void judge_build(const Context& context, const TorchBuild& build, Findings& out) {
    for (const auto& [name, value] : context.cell.value(Field::env)->items) {
        for (const auto variable : kVariables) {
            if (name != variable || !judge_variable(context, build, variable, out)) continue;
            for (const auto& option : options_in(value))
                judge_option(context, build, variable, option, out);
        }
    }
}

void judge(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    if (const auto own = image_torch(context)) {
        const auto& items = context.cell.value(Field::env)->items;
        const bool asks = std::any_of(items.begin(), items.end(), [](const auto& item) {
            return std::find(kVariables.begin(), kVariables.end(), item.first) != kVariables.end();
        });
        if (asks)
            judge_image_torch(context, *own, kStage, Field::env, "whether it knows the allocator settings",
                              judge_build, out);
        return;
    }
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || build->torch.variant == "cpu" || never_published(*build)) return;
    judge_build(context, *build, out);
}

}  // namespace

Rule allocator_setting_known_to_torch() {
    return {.id = "allocator-setting-known-to-torch",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
