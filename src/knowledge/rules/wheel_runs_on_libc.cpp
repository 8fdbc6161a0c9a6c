// Does the C library of the system carry the wheel? pip compares the platform tag (manylinux_2_28) with the
// glibc it runs on, and takes no manylinux wheel on musl.
#include "base/text.hpp"
#include "knowledge/resolve/subject.hpp"
#include "knowledge/resolve/torch_options.hpp"
#include "knowledge/resolve/wheel_os.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::install;

struct Libc {
    Field field = Field::glibc;
    std::string text;  ///< "glibc 2.27 of ubuntu18.04"
    Version glibc;
    std::vector<FactRef> facts;
};

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

// Systems whose glibc carries the wheel, the nearest release of the same family first, then the oldest other.
std::vector<FixOption> systems(const Context& context, const Version& floor) {
    const auto text = context.cell.text(Field::os);
    const auto family = text.substr(0, text.find_first_of("0123456789"));
    std::optional<Row> same;
    std::optional<Row> other;
    for (const auto& row : context.facts.rows("operating_systems")) {
        const auto glibc = Version::parse(row.text("glibc"));
        if (!glibc || *glibc < floor) continue;
        const auto slug = row.text("os");
        auto& slot = slug.substr(0, slug.find_first_of("0123456789")) == family ? same : other;
        const bool rendered = row.text("render") == "true";
        if (!slot || (rendered && slot->text("render") != "true")) slot = row;
    }
    std::vector<FixOption> out;
    for (const auto& row : {same, other}) {
        if (row && out.empty()) out.push_back(set_to(Field::os, row->text("os")));
    }
    return out;
}

void judge_floor(const Context& context, const TorchBuild& build, Libc libc, Findings& out) {
    const auto& wheel = *build.torch.wheel;
    const auto floor = floor_of(wheel);
    const std::vector<Field> about{libc.field, Field::torch};
    const auto question = fmt::format("whether {} installs on {}", build.text, libc.text);
    libc.facts.push_back(wheel.ref());
    if (!floor) {
        const auto highest = highest_floor(context.facts, build);
        if (highest && libc.glibc >= *highest) {
            accept(context, out, kStage, "", about, question, std::move(libc.facts));
            return;
        }
        const Unresolved gap{
            Field::torch, fmt::format("no fact knows the glibc that {} needs", build.text), {}};
        out.push_back(unknown(kStage, "", about, gap, fmt::format("whether it installs on {}", libc.text)));
        return;
    }
    if (libc.glibc >= *floor) {
        accept(context, out, kStage, "", about, question, std::move(libc.facts));
        return;
    }
    auto error = finding(Severity::error, kStage, "", about,
                         fmt::format("{} does not install on {}: its wheel for {} needs glibc {} or newer",
                                     build.text, libc.text, build.arch, floor->text()),
                         std::move(libc.facts));
    error.fixes = libc.field == Field::os ? systems(context, *floor)
                                          : std::vector<FixOption>{set_to(Field::glibc, floor->text())};
    for (auto& option : torch_options(context, [&](const Row& row) {
             const auto other = floor_of(row);
             return other && *other <= libc.glibc;
         })) {
        error.fixes.push_back(std::move(option));
    }
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (!wants_wheel(context)) return;
    if (other_os(context)) return;  // its wheels ask for no C library of Linux: torch-published-for-arch
    const auto resolved = torch_build(context);
    const auto* build = std::get_if<TorchBuild>(&resolved);
    if (build == nullptr || !build->torch.wheel) return;  // torch-built-for-cuda asks
    if (const auto glibc = Version::parse(context.cell.text(Field::glibc))) {
        judge_floor(context, *build, {Field::glibc, "glibc " + glibc->text(), *glibc, {}}, out);
        return;
    }
    const auto name = context.cell.text(Field::os);
    const auto os = lookup::os(context.facts, name);
    if (os && os->text("libc") == "musl") {
        auto error =
            finding(Severity::error, kStage, "", {Field::os, Field::torch},
                    fmt::format("{} does not install on {}: its wheels are for glibc, and {} has musl",
                                build->text, name, os->text("name")),
                    {os->ref(), build->torch.wheel->ref()});
        if (const auto floor = highest_floor(context.facts, *build)) error.fixes = systems(context, *floor);
        out.push_back(std::move(error));
        return;
    }
    const auto glibc = os ? Version::parse(os->text("glibc")) : std::nullopt;
    if (!glibc) {
        const auto gap = os ? Unresolved{Field::os, fmt::format("no fact knows the glibc of {}", name), {}}
                            : unknown_os(context.facts, name);
        out.push_back(unknown(kStage, "", {Field::os, Field::torch}, gap,
                              fmt::format("whether {} installs there", build->text)));
        return;
    }
    judge_floor(context, *build,
                {Field::os, fmt::format("{} (glibc {})", name, glibc->text()), *glibc, {os->ref()}}, out);
}

}  // namespace

Rule wheel_runs_on_libc() {
    return {.id = "wheel-runs-on-libc",
            .stage = kStage,
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
            .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
