// Is there a wheel of that torch for that python? Judged by the python's minor and its ABI (3.13t is one of
// its own).
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// "3.12" of "3.12.4", "3.13t" of "3.13t"; nothing of "3".
std::optional<std::string> abi_of(std::string_view text) {
    const auto version = Version::parse(text);
    if (!version || version->size() < 2) return std::nullopt;
    return version->major_minor() + version->suffix();
}

void judge_wheel(Ask& ask, const TorchBuild& build, const std::string& abi) {
    const auto& wheel = *build.torch.wheel;
    if (contains(wheel.list("pythons"), abi)) return ask.accept({wheel.ref()});
    const bool names_variant = ask.cell.text(Field::torch).find('+') != std::string_view::npos;
    // Without a variant pip looks at the default index alone, whose wheels are all known.
    if (names_variant && contains(wheel.list("pythons_unverified"), abi)) {
        ask.reword("whether it can be installed");
        ask.unknown(Field::torch,
                    "no fact confirms a wheel of {} for python {}, which that release was built for",
                    build.text, abi)
            .because(wheel.ref());
        return;
    }
    ask.reject("{} has no wheel for python {} on {}: it has them for {}", build.text, abi, build.arch,
               listed(wheel.list("pythons")))
        .because(wheel.ref())
        .one_of(Field::python, wheel.list("pythons"))
        .other(Field::torch);
}

// The release has no wheel at all for a python this old or this new, whatever the system.
bool outside_release(const Row& release, const std::string& abi) {
    const auto version = *Version::parse(abi);
    return version < lookup::required_version(release, "python_min") ||
           version > lookup::required_version(release, "python_max");
}

// On Windows and macOS: by the wheels of the default index, whose pythons are those of the CUDA builds as
// well that the row names.
void judge_on_other_os(Ask& ask, const TorchBuild& build, const OtherOs& os, const std::string& abi) {
    auto wheels = os_wheels(ask, os, build);
    const bool cuda = names_cuda_variant(ask);
    // torch-published-for-arch reports both.
    if (wheels.empty() || (cuda && os.row.text("cuda_wheels") == "false")) return;
    if (cuda) {
        std::erase_if(wheels, [&](const Row& row) {
            return !contains(row.list("cuda_variants"), build.torch.variant);
        });
    }
    const auto& release = *build.torch.release;
    const auto what = fmt::format("torch {}", ask.cell.text(Field::torch));
    const auto name = os.row.text("name");
    ask.question({Field::python, Field::torch, Field::os},
                 fmt::format("whether {} has a wheel for python {}", what, abi));
    if (cuda && outside_release(release, abi)) {
        ask.reject("{} has no wheel for python {}: those of torch {} are for {} to {}", what, abi,
                   release.text("torch"), release.text("python_min"), release.text("python_max"))
            .because(release.ref())
            .fix(Field::python, release.text("python_max"));
    } else if (wheels.empty()) {
        ask.reword(fmt::format("whether there is one for python {}", abi));
        ask.unknown(Field::torch, "no fact lists the wheels of {} for {}", what, name);
    } else if (std::any_of(wheels.begin(), wheels.end(),
                           [&](const Row& row) { return contains(row.list("pythons"), abi); })) {
        ask.accept({wheels.front().ref()});
    } else {
        ask.reject("{} has no wheel for python {} on {}: it has them for {}", what, abi, name,
                   listed(wheels.front().list("pythons")))
            .because(wheels.front().ref())
            .one_of(Field::python, wheels.front().list("pythons"));
    }
}

void judge_torch_supports_python(Ask& ask) {
    if (!wants_wheel(ask)) return;
    const auto text = ask.cell.text(Field::python);
    ask.question({Field::torch, Field::python}, fmt::format("whether it has a wheel for python {}", text));
    const auto build = ask.torch_build();
    if (!build || never_published(*build)) return;
    const auto os = other_os(ask);
    if (!os && !build->torch.wheel) {
        ask.unknown(no_wheel_row(*build));
        return;
    }
    const auto abi = abi_of(text);
    if (!abi || !lookup::python(ask.facts, text)) {
        ask.question({Field::python, Field::torch},
                     fmt::format("whether {} has a wheel for it", build->text));
        ask.unknown(unknown_python(ask.facts, text));
        return;
    }
    if (os) return judge_on_other_os(ask, *build, *os, *abi);
    ask.question({Field::python, Field::torch},
                 fmt::format("whether {} has a wheel for python {}", build->text, *abi));
    judge_wheel(ask, *build, *abi);
}

}  // namespace

Rule torch_supports_python() {
    return {
        .id = "torch-supports-python",
        .stage = Stage::install,
        .summary = "The torch build has a wheel for the python, on the cell's architecture.",
        .why =
            "Wheels are built per python ABI. For a python without one pip finds no matching distribution.",
        .fails = "torch: 2.4.1+cu124, python: \"3.13\"",
        .passes = "torch: 2.6.0+cu124, python: \"3.13\"",
        .reads = {Field::torch, Field::python, Field::arch, Field::os, Field::family, Field::image},
        .needs = {{Field::torch}, {Field::python}},
        .judge = judge_torch_supports_python,
        .proof = {Attempt::resolve_python, {"ERROR: No matching distribution found for {requirement}"}}};
}

}  // namespace cudamatrix::rules
