// Does that torch know the settings of its CUDA allocator that the environment holds? An unknown option stops
// it, an unknown variable is not read.
#include <array>

#include "base/text.hpp"
#include "rules/all_rules.hpp"
#include "rules/images.hpp"
#include "rules/passed.hpp"
#include "rules/subject.hpp"
#include "rules/torch_options.hpp"
#include "rules/wheel_os.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;
constexpr std::array<std::string_view, 2> kVariables{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};
std::vector<Field> about() {
    return {Field::env, Field::torch};
}

// "expandable_segments", "max_split_size_mb" of "expandable_segments:True,max_split_size_mb:128". What has no
// ':' continues the value before it.
std::vector<std::string> options_in(std::string_view value) {
    std::vector<std::string> out;
    while (!value.empty()) {
        const auto comma = value.find(',');
        auto part = value.substr(0, comma);
        value = comma == value.npos ? std::string_view() : value.substr(comma + 1);
        const auto colon = part.find(':');
        if (colon == part.npos) continue;
        part = part.substr(0, colon);
        while (!part.empty() && part.front() == ' ')
            part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ')
            part.remove_suffix(1);
        if (!part.empty()) out.emplace_back(part);
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
                           fmt::format("torch {} does not heed {} in its CUDA allocator: only {} do",
                                       build.torch.exact.text(), variable, range_text(*setting)),
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
    out.push_back(
        finding(Severity::warning, kStage, variable, {Field::env, Field::os},
                fmt::format("torch {} does nothing with {} in {} on {}: it warns \"{} not supported on "
                            "this platform\", and memory fragments as without it",
                            build.torch.exact.text(), option, variable, os->row.text("name"), option),
                {setting.ref()}));
}

void judge_option(const Context& context, const TorchBuild& build, std::string_view variable,
                  const std::string& option, Findings& out) {
    const auto setting = context.facts.row(fmt::format("setting-{}", option));
    if (!setting || setting->text("kind") != "option") {
        std::vector<std::string> names;
        for (const auto& row : context.facts.rows("torch_settings")) {
            if (row.text("kind") == "option") names.emplace_back(row.text("name"));
        }
        Unresolved gap{Field::env, fmt::format("no fact knows the option {} in {}", option, variable), {}};
        if (const auto near = text::did_you_mean(option, names))
            gap.what += fmt::format(" (did you mean {}?)", *near);
        out.push_back(unknown(kStage, variable, about(), gap,
                              fmt::format("whether torch {} does", build.torch.exact.text())));
        return;
    }
    if (knows(*setting, build.torch.exact)) {
        const auto before = out.size();
        judge_system(context, build, variable, option, *setting, out);
        if (out.size() != before) return;
        return passed(context, [&] {
            return Acceptance{
                {},
                kStage,
                about(),
                fmt::format("whether torch {} knows {} in {}", build.torch.exact.text(), option, variable),
                {setting->ref()}};
        });
    }
    auto error = finding(Severity::error, kStage, variable, about(),
                         fmt::format("torch {} stops at the option {} in {}: only {} know it",
                                     build.torch.exact.text(), option, variable, range_text(*setting)),
                         {setting->ref()});
    offer_releases(context, *setting, error);
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (!wants_torch(context)) return;
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || build->torch.variant == "cpu" || never_published(*build)) return;
    for (const auto& [name, value] : context.cell.value(Field::env)->items) {
        for (const auto variable : kVariables) {
            if (name != variable || !judge_variable(context, *build, variable, out)) continue;
            for (const auto& option : options_in(value))
                judge_option(context, *build, variable, option, out);
        }
    }
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
            .reads = {Field::torch, Field::env, Field::arch, Field::os},
            .needs = {{Field::torch}, {Field::env}},
            .judge = judge};
}

}  // namespace cudamatrix::rules
