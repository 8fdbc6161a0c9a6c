// Does the hardware accept compat libraries? GeForce does not, and then they are worse than none: where the
// container toolkit puts them to use, every CUDA call fails although the driver alone might have done.
#include "base/text.hpp"
#include "knowledge/resolve/compat_hardware.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;

enum class Play {
    unknown,  ///< no driver, or no fact tells
    idle,     ///< beside a driver that is as new, or left out by the container toolkit
    needed,   ///< on an older branch that they are made for
    forced,   ///< on another branch, by a container toolkit that does not look at it
};

Play play(const Context& context) {
    if (!context.cell.has(Field::driver)) return Play::unknown;
    const auto resolved = host_driver(context);
    const auto* driver = std::get_if<lookup::Driver>(&resolved);
    if (driver == nullptr) return Play::unknown;
    const auto use = compat_on(context, *driver).use;
    if (use == CompatUse::open) return Play::unknown;
    if (use == CompatUse::works) return Play::needed;
    return use == CompatUse::wrong_branch && toolkit_uses_any_branch(context) ? Play::forced : Play::idle;
}

std::string refused_text(const Context& context, const Hardware& hardware, Play play) {
    const auto libraries = fmt::format("{} refuses the compat libraries of CUDA {}", hardware.text,
                                       context.cell.text(Field::cuda_compat));
    if (play == Play::unknown)
        return libraries +
               ": beside an older driver they fail with error 804, forward compatibility was "
               "attempted on non supported HW";
    const auto driver = context.cell.text(Field::driver);
    const auto since = branch_check_since(context.facts);
    const auto how =
        play == Play::needed
            ? fmt::format("which driver {} would need", driver)
            : fmt::format("which nvidia-container-toolkit{} uses with driver {}",
                          since ? fmt::format(" before {}", since->text()) : std::string(), driver);
    return fmt::format("{}, {}: error 804, forward compatibility was attempted on non supported HW",
                       libraries, how);
}

void refused(const Context& context, const Hardware& hardware, Play play, const Row& row, Findings& out) {
    const auto text = context.cell.text(Field::cuda_compat);
    auto facts = hardware.facts;
    facts.push_back(row.ref());
    cite(facts, context.facts, "policy-compat-refused");
    cite(facts, context.facts, "policy-compat-hook");
    const std::vector<Field> about{Field::cuda_compat, hardware.field, Field::driver};
    auto error = finding(play == Play::unknown ? Severity::warning : Severity::error, kStage, "", about,
                         refused_text(context, hardware, play), std::move(facts));
    if (play == Play::unknown) {
        out.push_back(std::move(error));
        return;
    }
    const auto resolved = host_driver(context);
    const auto native = compat_on(context, std::get<lookup::Driver>(resolved)).native;
    if (native.at_least) error.fixes.push_back(set_to(Field::cuda_compat, native.at_least->text()));
    const auto wanted = Version::parse(text);
    for (const auto& branch : context.facts.rows("driver_branches")) {
        const auto cuda = Version::parse(branch.text("cuda"));
        if (!cuda || *cuda < *Version::parse(wanted->major_minor()) || !branch.has("oldest")) continue;
        error.fixes.push_back(
            set_to(Field::driver, branch.text("oldest"), fmt::format("driver >= {}", branch.text("oldest"))));
        break;
    }
    out.push_back(std::move(error));
}

void judge(const Context& context, Findings& out) {
    if (windows_driver(context)) return;  // cuda-compat-matches-driver: there they do nothing
    const auto use = play(context);
    if (use == Play::idle) return;
    const auto text = context.cell.text(Field::cuda_compat);
    if (const auto gap = compat_gap(context)) {
        if (context.cell.has(Field::driver)) return;  // cuda-compat-matches-driver
        out.push_back(unknown(kStage, "", {Field::cuda_compat}, *gap, "whether the hardware accepts them"));
        return;
    }
    const auto resolved = compat_hardware(context);
    const auto question = fmt::format("whether it accepts the compat libraries of CUDA {}", text);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "", {Field::cuda_compat, Field::gpu}, *gap, question));
        return;
    }
    const auto& known = std::get<Hardware>(resolved);
    const std::vector<Field> about{Field::cuda_compat, known.field};
    const auto row = context.facts.row(fmt::format("class-{}", known.host_class));
    if (!row) {
        const Unresolved gap{known.field, fmt::format("no fact knows {}", known.text), {}};
        out.push_back(unknown(kStage, "", about, gap, question));
        return;
    }
    const auto grant = row->text("forward_compatibility");
    auto facts = known.facts;
    facts.push_back(row->ref());
    if (grant == "refused") {
        refused(context, known, use, *row, out);
    } else if (use == Play::forced) {
        return;  // cuda-compat-matches-driver
    } else if (grant == "selected") {
        out.push_back(finding(
            Severity::warning, kStage, "", about,
            fmt::format("{}: the compat libraries of CUDA {} accept its brand, but NVIDIA supports them on "
                        "selected server products only",
                        known.text, text),
            std::move(facts)));
    } else {
        accept(context, out, kStage, "", about,
               fmt::format("whether {} accepts the compat libraries of CUDA {}", known.text, text),
               std::move(facts));
    }
}

}  // namespace

Rule forward_compatibility_hardware() {
    return {
        .id = "forward-compatibility-hardware",
        .stage = kStage,
        .summary = "The GPU is of a class on which CUDA compat libraries work.",
        .why =
            "Compat libraries check the brand of the GPU: those of the data centre pass, GeForce and Titan "
            "do not. The container toolkit does not look at the GPU, so on an older driver they are put to "
            "use all the same, and every call fails with error 804, forward compatibility was attempted on "
            "non supported HW.",
        .fails = "driver: 535.183.01, gpu: RTX 4090, cuda_compat: \"12.4\"",
        .passes = "driver: 535.183.01, gpu: A100 80GB, cuda_compat: \"12.4\"",
        .reads = {Field::cuda_compat, Field::gpu, Field::host_class, Field::driver, Field::os,
                  Field::platform, Field::toolkit},
        .needs = {{Field::cuda_compat}, {Field::gpu, Field::host_class}},
        .judge = plain(judge)};
}

}  // namespace cudamatrix::rules
