// Is there a wheel of that torch for that python? Judged by the python's minor and its ABI (3.13t is one of
// its own).
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

// "3.12" of "3.12.4", "3.13t" of "3.13t"; nothing of "3".
std::optional<std::string> abi_of(std::string_view text) {
    const auto version = Version::parse(text);
    if (!version || version->size() < 2) return std::nullopt;
    return version->major_minor() + version->suffix();
}

bool free_threaded(std::string_view abi) {
    return abi.ends_with('t');
}

// The nearest ABI of the same kind that the wheel has.
std::optional<std::string> nearest(const Row& wheel, const std::string& abi) {
    const auto wanted = *Version::parse(abi);
    std::optional<Version> below, above;
    for (const auto candidate : wheel.list("pythons")) {
        const auto version = Version::parse(candidate);
        if (free_threaded(candidate) != free_threaded(abi)) continue;
        if (*version < wanted && (!below || *below < *version)) below = version;
        if (*version > wanted && (!above || *version < *above)) above = version;
    }
    if (below) return below->text();
    if (above) return above->text();
    return std::nullopt;
}

bool names_variant(const Context& context) {
    return context.cell.text(Field::torch).find('+') != std::string_view::npos;
}

void judge_wheel(const Context& context, const TorchBuild& build, const std::string& abi, Findings& out) {
    const auto& wheel = *build.torch.wheel;
    const std::vector<Field> about{Field::python, Field::torch};
    const auto question = fmt::format("whether {} has a wheel for python {}", build.text, abi);
    if (contains(wheel.list("pythons"), abi)) {
        accept(context, out, kStage, "", about, question, {wheel.ref()});
        return;
    }
    // Without a variant pip looks at the default index alone, whose wheels are all known.
    if (names_variant(context) && contains(wheel.list("pythons_unverified"), abi)) {
        const Unresolved gap{
            Field::torch,
            fmt::format("no fact confirms a wheel of {} for python {}, which that release was built for",
                        build.text, abi),
            {}};
        auto open = unknown(kStage, "", about, gap, "whether it can be installed");
        open.facts = {wheel.ref()};
        out.push_back(std::move(open));
        return;
    }
    auto error = finding(Severity::error, kStage, "", about,
                         fmt::format("{} has no wheel for python {} on {}: it has them for {}", build.text,
                                     abi, build.arch, listed(wheel.list("pythons"))),
                         {wheel.ref()});
    if (const auto other = nearest(wheel, abi)) error.fixes.push_back(set_to(Field::python, *other));
    for (auto& option :
         torch_options(context, [&](const Row& row) { return contains(row.list("pythons"), abi); })) {
        error.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(error));
}

// The release has no wheel at all for a python this old or this new, whatever the system.
bool outside_release(const Row& release, const std::string& abi) {
    const auto version = *Version::parse(abi);
    return version < lookup::required_version(release, "python_min") ||
           version > lookup::required_version(release, "python_max");
}

// On Windows and macOS: by the wheels of the default index, which the CUDA builds of some releases share.
void judge_other(const Context& context, const TorchBuild& build, const OtherOs& os, const std::string& abi,
                 Findings& out) {
    const auto wheels = os_wheels(context, os, build);
    if (wheels.empty()) return;  // torch-published-for-arch says so
    const bool cuda = names_cuda_variant(context);
    if (cuda && os.row.text("cuda_wheels") == "false") return;  // the same
    const auto& wheel = wheels.front();
    const auto what = fmt::format("torch {}", context.cell.text(Field::torch));
    const std::vector<Field> about{Field::python, Field::torch, Field::os};
    if (cuda && outside_release(*build.torch.release, abi)) {
        const auto& release = *build.torch.release;
        auto error = finding(
            Severity::error, kStage, "", about,
            fmt::format("{} has no wheel for python {}: those of torch {} are for {} to {}", what, abi,
                        release.text("torch"), release.text("python_min"), release.text("python_max")),
            {release.ref()});
        error.fixes = {set_to(Field::python, release.text("python_max"))};
        out.push_back(std::move(error));
        return;
    }
    if (cuda && wheel.text("same_for_cuda") != "true") {
        const Unresolved gap{Field::torch,
                             fmt::format("no fact lists the wheels of {} for {}", what, os.row.text("name")),
                             {}};
        out.push_back(
            unknown(kStage, "", about, gap, fmt::format("whether there is one for python {}", abi)));
        return;
    }
    const bool any = std::any_of(wheels.begin(), wheels.end(),
                                 [&](const Row& row) { return contains(row.list("pythons"), abi); });
    if (any) {
        accept(context, out, kStage, "", about,
               fmt::format("whether {} has a wheel for python {}", what, abi), {wheel.ref()});
        return;
    }
    auto error = finding(Severity::error, kStage, "", about,
                         fmt::format("{} has no wheel for python {} on {}: it has them for {}", what, abi,
                                     os.row.text("name"), listed(wheel.list("pythons"))),
                         {wheel.ref()});
    if (const auto other = nearest(wheel, abi)) error.fixes.push_back(set_to(Field::python, *other));
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    const auto resolved = torch_build(context);
    const auto text = context.cell.text(Field::python);
    const auto question = fmt::format("whether it has a wheel for python {}", text);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", {Field::torch, Field::python}, *gap, question));
        return;
    }
    const auto& build = std::get<TorchBuild>(resolved);
    if (never_published(build)) return;
    const auto os = other_os(context);
    if (!os && !build.torch.wheel) {
        out.push_back(unknown(kStage, "", {Field::torch, Field::python}, no_wheel_row(build), question));
        return;
    }
    const auto abi = abi_of(text);
    if (!abi || !lookup::python(context.facts, text)) {
        out.push_back(unknown(kStage, "", {Field::python, Field::torch}, unknown_python(context.facts, text),
                              fmt::format("whether {} has a wheel for it", build.text)));
        return;
    }
    if (os) return judge_other(context, build, *os, *abi, out);
    judge_wheel(context, build, *abi, out);
}

}  // namespace

Rule torch_supports_python() {
    return {
        .id = "torch-supports-python",
        .stage = kStage,
        .summary = "The torch build has a wheel for the python, on the cell's architecture.",
        .why =
            "Wheels are built per python ABI. For a python without one pip finds no matching distribution.",
        .fails = "torch: 2.4.1+cu124, python: \"3.13\"",
        .passes = "torch: 2.6.0+cu124, python: \"3.13\"",
        .reads = {Field::torch, Field::python, Field::arch, Field::os, Field::family, Field::image},
        .needs = {{Field::torch}, {Field::python}},
        .judge = plain(judge),
        .proof = {Attempt::resolve_python, {"ERROR: No matching distribution found for {requirement}"}}};
}

}  // namespace cudamatrix::rules
