// Does the hardware accept compat libraries? GeForce does not, and then they are worse than none: where the
// container toolkit puts them to use, every CUDA call fails although the driver alone might have done.
#include "knowledge/resolve/host.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// What becomes of the libraries in the cell.
enum class Use {
    unknown,  ///< no driver, or no fact tells
    idle,     ///< the driver is as new, or the container toolkit leaves them out
    needed,   ///< on an older branch that they are made for
    forced,   ///< on another branch, by a container toolkit that does not look at it
};

Use use_of(const Context& context) {
    if (!context.cell.has(Field::driver)) return Use::unknown;
    const auto resolved = host_driver(context);
    const auto* driver = std::get_if<lookup::Driver>(&resolved);
    if (driver == nullptr) return Use::unknown;
    const auto use = compat_on(context, *driver).use;
    if (use == CompatUse::open) return Use::unknown;
    if (use == CompatUse::works) return Use::needed;
    return use == CompatUse::wrong_branch && toolkit_uses_any_branch(context) ? Use::forced : Use::idle;
}

std::string refused_text(const Context& context, const Hardware& hardware, Use use) {
    const auto libraries = fmt::format("{} refuses the compat libraries of CUDA {}", hardware.text,
                                       context.cell.text(Field::cuda_compat));
    if (use == Use::unknown)
        return libraries +
               ": beside an older driver they fail with error 804, forward compatibility was "
               "attempted on non supported HW";
    const auto driver = context.cell.text(Field::driver);
    const auto since = branch_check_since(context.facts);
    const auto how =
        use == Use::needed
            ? fmt::format("which driver {} would need", driver)
            : fmt::format("which nvidia-container-toolkit{} uses with driver {}",
                          since ? fmt::format(" before {}", since->text()) : std::string(), driver);
    return fmt::format("{}, {}: error 804, forward compatibility was attempted on non supported HW",
                       libraries, how);
}

void refuse(Ask& ask, const Hardware& hardware, Use use, const std::vector<FactRef>& facts) {
    ask.question({Field::cuda_compat, hardware.field, Field::driver}, ask.text());
    auto answer =
        ask.say(use == Use::unknown ? Severity::warning : Severity::error, refused_text(ask, hardware, use));
    answer.because(facts)
        .because(ask.facts.row("policy-compat-refused"))
        .because(ask.facts.row("policy-compat-hook"));
    if (use == Use::unknown) return;
    // The libraries of the driver's own CUDA, or a driver that does what these would do.
    const auto native = compat_on(ask, std::get<lookup::Driver>(host_driver(ask))).native;
    if (native.at_least) answer.fix(Field::cuda_compat, native.at_least->text());
    answer.at_least(Field::driver);
}

void judge_forward_compatibility_hardware(Ask& ask) {
    if (windows_driver(ask)) return;  // cuda-compat-matches-driver: there they do nothing
    const auto use = use_of(ask);
    if (use == Use::idle) return;
    const auto text = ask.cell.text(Field::cuda_compat);
    if (const auto gap = compat_gap(ask)) {
        if (ask.cell.has(Field::driver)) return;  // cuda-compat-matches-driver
        ask.question({Field::cuda_compat}, "whether the hardware accepts them");
        ask.unknown(*gap);
        return;
    }
    ask.question({Field::cuda_compat, Field::gpu},
                 fmt::format("whether it accepts the compat libraries of CUDA {}", text));
    const auto hardware = ask.known(compat_hardware(ask));
    if (!hardware) return;
    ask.question({Field::cuda_compat, hardware->field}, ask.text());
    const auto row = ask.facts.row(fmt::format("class-{}", hardware->host_class));
    if (!row) {
        ask.unknown(hardware->field, "no fact knows {}", hardware->text);
        return;
    }
    const auto grant = row->text("forward_compatibility");
    auto facts = hardware->facts;
    facts.push_back(row->ref());
    if (grant == "refused") {
        refuse(ask, *hardware, use, facts);
    } else if (use == Use::forced) {
        return;  // cuda-compat-matches-driver
    } else if (grant == "selected") {
        ask.degrade(
               "{}: the compat libraries of CUDA {} accept its brand, but NVIDIA supports them on "
               "selected server products only",
               hardware->text, text)
            .because(facts);
    } else {
        ask.reword(fmt::format("whether {} accepts the compat libraries of CUDA {}", hardware->text, text));
        ask.accept(std::move(facts));
    }
}

}  // namespace

Rule forward_compatibility_hardware() {
    return {
        .id = "forward-compatibility-hardware",
        .stage = Stage::runtime,
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
        .judge = judge_forward_compatibility_hardware};
}

}  // namespace cudamatrix::rules
