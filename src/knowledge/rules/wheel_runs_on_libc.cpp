// Does the C library of the system carry the wheel? pip compares the platform tag (manylinux_2_28) with the
// glibc it runs on, and takes no manylinux wheel on musl.
#include "base/text.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

std::optional<Version> floor_of(const Row& wheel) {
    return Version::parse(wheel.text("glibc"));
}

// The highest floor of the release's wheels for the arch: a build without a floor of its own does not ask for
// more.
std::optional<Version> highest_floor(const Facts& facts, const TorchBuild& build) {
    std::optional<Version> highest;
    for (const auto& row : facts.rows("torch_wheels")) {
        if (row.text("torch") != build.torch.release->text("torch") || row.text("arch") != build.arch)
            continue;
        const auto floor = floor_of(row);
        if (floor && (!highest || *floor > *highest)) highest = floor;
    }
    return highest;
}

// `field` says the glibc, glibc or os; `text`: "ubuntu18.04 (glibc 2.27)"; `facts`: that the os has it.
void judge_glibc(Ask& ask, const TorchBuild& build, Field field, const std::string& text,
                 const Version& glibc, std::vector<FactRef> facts) {
    const auto& wheel = *build.torch.wheel;
    const auto floor = floor_of(wheel);
    ask.question({field, Field::torch}, fmt::format("whether {} installs on {}", build.text, text));
    facts.push_back(wheel.ref());
    const auto enough = floor ? floor : highest_floor(ask.facts, build);
    if (enough && glibc >= *enough) return ask.accept(std::move(facts));
    if (!floor) {
        ask.reword(fmt::format("whether it installs on {}", text));
        ask.unknown(Field::torch, "no fact knows the glibc that {} needs", build.text);
        return;
    }
    auto answer = ask.reject("{} does not install on {}: its wheel for {} needs glibc {} or newer",
                             build.text, text, build.arch, floor->text());
    answer.because(facts);
    if (field == Field::os) {
        answer.other(Field::os);
    } else {
        answer.fix(Field::glibc, floor->text());
    }
    answer.other(Field::torch);
}

void judge_os(Ask& ask, const TorchBuild& build) {
    const auto name = ask.cell.text(Field::os);
    const auto os = lookup::os(ask.facts, name);
    ask.question({Field::os, Field::torch}, fmt::format("whether {} installs there", build.text));
    if (!os) {
        ask.unknown(unknown_os(ask.facts, name));
    } else if (os->text("libc") == "musl") {
        auto answer = ask.reject("{} does not install on {}: its wheels are for glibc, and {} has musl",
                                 build.text, name, os->text("name"));
        answer.because(os->ref()).because(build.torch.wheel->ref());
        answer.other(Field::os);
    } else if (const auto glibc = Version::parse(os->text("glibc"))) {
        judge_glibc(ask, build, Field::os, fmt::format("{} (glibc {})", name, glibc->text()), *glibc,
                    {os->ref()});
    } else {
        ask.unknown(Field::os, "no fact knows the glibc of {}", name);
    }
}

void judge_wheel_runs_on_libc(Ask& ask) {
    if (!wants_wheel(ask)) return;
    if (other_os(ask)) return;  // its wheels ask for no C library of Linux: torch-published-for-arch
    const auto build = if_known(torch_build(ask));
    if (!build || !build->torch.wheel) return;  // torch-built-for-cuda asks
    if (const auto glibc = Version::parse(ask.cell.text(Field::glibc))) {
        judge_glibc(ask, *build, Field::glibc, "glibc " + glibc->text(), *glibc, {});
    } else {
        judge_os(ask, *build);
    }
}

}  // namespace

Rule wheel_runs_on_libc() {
    return {.id = "wheel-runs-on-libc",
            .stage = Stage::install,
            .summary = "The system's C library carries the torch wheel: glibc, and new enough for its tag.",
            .why =
                "A wheel's platform tag names the oldest glibc that it runs on (manylinux_2_28: 2.28). On an "
                "older one, and on musl, pip skips it and ends with \"No matching distribution found for "
                "torch\"; forced in, it fails to load. The manylinux1 wheels of torch name 2.5 and ask for "
                "2.17: pip takes them on less, and their import fails (\"version `GLIBC_2.17' not found\").",
            .fails = "torch: 2.7.1, os: ubuntu18.04",
            .passes = "torch: 2.7.1, os: ubuntu20.04",
            .reads = {Field::torch, Field::arch, Field::os, Field::glibc, Field::family, Field::image},
            .needs = {{Field::torch}, {Field::os, Field::glibc}},
            .judge = judge_wheel_runs_on_libc};
}

}  // namespace cudamatrix::rules
