// Can the driver run what was built with that CUDA? Judged for the image's toolkit and for the wheel's CUDA,
// each on its own. Within a CUDA major any driver from the major's minimum on runs every release
// (minor-version compatibility); a driver older than the release does so with named limits. CUDA 10 and
// older: each release has a minimum of its own.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/resolve/compat_hardware.hpp"
#include "knowledge/resolve/driver_options.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

constexpr Stage kStage = Stage::runtime;
constexpr std::string_view kMinorVersion = "policy-minor-version-compatibility";

// One of the two things that a driver has to run.
struct Subject {
    std::string_view aspect;         ///< image, wheel
    std::string_view branch_aspect;  ///< the same question for the older releases of a bare branch
    Field field;
    Version cuda;
    std::string text;  ///< "CUDA 12.4.1", "torch 2.6.0+cu124 (CUDA 12.4)"
    std::vector<FactRef> facts;
};

std::string needs(const Context& context, const Floor& floor, const Version& cuda) {
    return fmt::format("{} needs >= {}{}",
                       floor.by_major ? fmt::format("CUDA {}", cuda.major()) : "that release",
                       floor.driver.text(), windows_driver(context) ? " on Windows" : "");
}

void too_old(const Context& context, const lookup::Driver& driver, const Subject& subject, const Floor& floor,
             Findings& out) {
    auto facts = subject.facts;
    facts.push_back(floor.row.ref());
    cite(facts, context.facts, "policy-insufficient-driver");
    if (windows_driver(context)) cite(facts, context.facts, "policy-windows-driver");
    auto error = finding(Severity::error, kStage, subject.aspect, {Field::driver, subject.field},
                         fmt::format("{} is too old for {}: {}", host_driver_text(context, driver),
                                     subject.text, needs(context, floor, subject.cuda)),
                         std::move(facts));
    error.fixes.push_back(set_to(Field::driver, floor.driver.text(), "driver >= " + floor.driver.text()));
    offer_other_cuda(context, driver, subject.field, std::nullopt, error);
    out.push_back(std::move(error));
}

void limits(const Context& context, const lookup::Driver& driver, const Subject& subject, const Floor& floor,
            Findings& out) {
    const auto minor = *Version::parse(subject.cuda.major_minor());
    const auto native = native_cuda(context.facts, driver);
    auto facts = subject.facts;
    facts.push_back(floor.row.ref());
    facts.push_back(driver.branch->ref());
    if (native.at_least && minor <= *native.at_least) {
        accept(context, out, kStage, subject.aspect, {Field::driver, subject.field},
               fmt::format("whether {} runs {}", host_driver_text(context, driver), subject.text),
               std::move(facts));
        return;
    }
    if (!floor.by_major) return;  // CUDA 10 and older: its own minimum is the whole answer
    if (!native.at_most || minor <= *native.at_most) {
        auto open = unknown(
            kStage, subject.aspect, {Field::driver, subject.field}, native_unknown(context, driver),
            fmt::format("whether {} runs on it natively or by minor-version compatibility", subject.text));
        open.facts = std::move(facts);
        out.push_back(std::move(open));
        return;
    }
    cite(facts, context.facts, kMinorVersion);
    auto warning =
        finding(Severity::warning, kStage, subject.aspect, {Field::driver, subject.field},
                fmt::format("{} runs {} by minor-version compatibility only: the driver itself is "
                            "of CUDA {}, so PTX newer than "
                            "that is not compiled and features that need a newer driver fail",
                            host_driver_text(context, driver), subject.text, native.at_most->text()),
                std::move(facts));
    if (auto option = native_driver(context, minor)) warning.fixes.push_back(*std::move(option));
    offer_other_cuda(context, driver, subject.field, native.at_least, warning);
    out.push_back(std::move(warning));
}

void bare_branch(const Context& context, const lookup::Driver& driver, const Subject& subject,
                 const Floor& floor, Findings& out) {
    const auto oldest = Version::parse(driver.branch->text("oldest"));
    if (windows_driver(context) || !driver.bare_branch || !oldest || *oldest >= floor.driver) return;
    auto warning = finding(
        Severity::warning, kStage, subject.branch_aspect, {Field::driver, subject.field},
        fmt::format("driver branch {} is judged as its newest release {}: its releases before {} are too "
                    "old for {}",
                    driver.exact.major(), driver.exact.text(), floor.driver.text(), subject.text),
        {floor.row.ref(), driver.branch->ref()});
    warning.fixes.push_back(set_to(Field::driver, floor.driver.text(), "driver >= " + floor.driver.text()));
    out.push_back(std::move(warning));
}

// Libraries of a newer driver in the image run what the driver itself does not, or only with limits. True:
// they answer for this subject, and the finding says what they need.
bool by_compat(const Context& context, const lookup::Driver& driver, const Subject& subject,
               const Floor& floor, Findings& out) {
    if (!context.cell.has(Field::cuda_compat) || windows_driver(context)) return false;
    const auto compat = compat_on(context, driver);
    const auto minor = *Version::parse(subject.cuda.major_minor());
    if (compat.native.at_least && minor <= *compat.native.at_least)
        return false;  // the driver does it itself
    const bool enough = driver.exact >= floor.driver;
    if (compat.gap && !enough) {
        auto open = unknown(
            kStage, subject.aspect, {Field::driver, subject.field, Field::cuda_compat}, *compat.gap,
            fmt::format("whether {} runs {} with them", host_driver_text(context, driver), subject.text));
        open.facts = subject.facts;
        out.push_back(std::move(open));
        return true;
    }
    if (compat.use != CompatUse::works || compat.cuda.major() < minor.major()) return false;
    if (enough && compat.cuda < minor) return false;  // they lift nothing that the driver does not
    auto facts = subject.facts;
    facts.push_back(floor.row.ref());
    facts.push_back(compat.row->ref());
    auto warning = finding(
        Severity::warning, kStage, subject.aspect, {Field::driver, subject.field, Field::cuda_compat},
        fmt::format(
            "{} runs {} by the compat libraries of CUDA {} only: the container has to put them on its "
            "library path, and the GPU has to be of the data centre",
            host_driver_text(context, driver), subject.text, compat.cuda.text()),
        std::move(facts));
    if (auto option = native_driver(context, minor)) warning.fixes.push_back(*std::move(option));
    out.push_back(std::move(warning));
    return true;
}

// The images of nvidia/cuda, and NVIDIA's own of PyTorch, hold the compat libraries of their own CUDA, which
// are put to use where the driver is older: on hardware of the data centre that lifts a driver below the
// minimum.
bool by_libraries_of_image(const Context& context, const lookup::Driver& driver, const Subject& subject,
                           const Floor& floor, Findings& out) {
    if (context.cell.has(Field::cuda_compat) || windows_driver(context)) return false;
    const auto compat = compat_in_image(context);
    if (!compat || !accepts_compat(context)) return false;
    const Value value{compat->cuda, {}, {}};
    const auto cell = context.cell.with(Field::cuda_compat, &value);
    Findings found;
    if (!by_compat(context.about(cell), driver, subject, floor, found)) return false;
    for (auto& finding : found) {
        finding.facts.push_back(image_policy(context.facts, compat->policy).ref());
        std::replace(finding.about.begin(), finding.about.end(), Field::cuda_compat,
                     context.cell.has(Field::image) ? Field::image : Field::family);
        out.push_back(std::move(finding));
    }
    return true;
}

void judge_subject(const Context& context, const lookup::Driver& driver, const Subject& subject,
                   Findings& out) {
    const auto floor = floor_of(context.facts, subject.cuda, windows_driver(context));
    if (!floor) {
        const Unresolved gap{
            subject.field, fmt::format("no fact gives the least driver of {}", subject.text), {}};
        out.push_back(unknown(kStage, subject.aspect, {Field::driver, subject.field}, gap,
                              fmt::format("whether {} is new enough", host_driver_text(context, driver))));
        return;
    }
    if (by_compat(context, driver, subject, *floor, out)) return;
    if (driver.exact >= floor->driver) {
        bare_branch(context, driver, subject, *floor, out);
        limits(context, driver, subject, *floor, out);
        return;
    }
    if (windows_driver(context) && driver.bare_branch && driver.exact.major() == floor->driver.major()) {
        const Unresolved gap{
            Field::driver,
            fmt::format("no fact lists the releases of Windows driver {}", driver.exact.text()),
            {}};
        out.push_back(unknown(
            kStage, subject.aspect, {Field::driver, subject.field}, gap,
            fmt::format("whether it is {} or newer, as {} asks", floor->driver.text(), subject.text)));
        return;
    }
    if (by_libraries_of_image(context, driver, subject, *floor, out)) return;
    too_old(context, driver, subject, *floor, out);
}

void judge_image(const Context& context, const lookup::Driver& driver, Findings& out) {
    const auto cuda = image_cuda(context);
    if (const auto* gap = std::get_if<Unresolved>(&cuda)) {
        out.push_back(unknown(kStage, "image", {Field::driver, Field::cuda}, *gap,
                              "whether " + host_driver_text(context, driver) + " runs it"));
        return;
    }
    const auto& known = std::get<lookup::Cuda>(cuda);
    judge_subject(
        context, driver,
        {"image", "image, whole branch", Field::cuda, known.exact, "CUDA " + known.exact.text(), {}}, out);
}

void judge_wheel(const Context& context, const lookup::Driver& driver, Findings& out) {
    const auto resolved = torch_build(context);
    const auto question = "whether " + host_driver_text(context, driver) + " runs it";
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "wheel", {Field::driver, Field::torch}, *gap, question));
        return;
    }
    const auto& build = std::get<TorchBuild>(resolved);
    if (never_published(build)) return;
    if (!build.torch.wheel) {
        out.push_back(unknown(kStage, "wheel", {Field::driver, Field::torch}, no_wheel_row(build), question));
        return;
    }
    const auto cuda = Version::parse(build.torch.wheel->text("cuda"));
    if (!cuda) return;  // a CPU build asks nothing of the driver
    judge_subject(context, driver,
                  {"wheel",
                   "wheel, whole branch",
                   Field::torch,
                   *cuda,
                   fmt::format("{} (CUDA {})", build.text, cuda->text()),
                   {build.torch.wheel->ref()}},
                  out);
}

void judge(const Context& context, Findings& out) {
    const bool has_cuda = context.cell.has(Field::cuda);
    if (!has_cuda && !wants_wheel(context)) return;
    const auto what = has_cuda ? fmt::format("CUDA {}", context.cell.text(Field::cuda))
                               : fmt::format("torch {}", context.cell.text(Field::torch));
    if (const auto gpu = integrated_gpu(context)) {
        auto facts = gpu->facts;
        cite(facts, context.facts, "policy-jetson-driver");
        out.push_back(
            unknown(kStage, "image", {Field::driver, gpu->field}, outside_branches(*gpu),
                    fmt::format("whether driver {} runs {}", context.cell.text(Field::driver), what)));
        out.back().facts = std::move(facts);
        return;
    }
    const auto resolved = host_driver(context);
    if (const auto* gap = std::get_if<Unresolved>(&resolved)) {
        out.push_back(unknown(kStage, "image", {Field::driver}, *gap, "whether it runs " + what));
        return;
    }
    const auto& known = std::get<lookup::Driver>(resolved);
    // The GPU matters to compat libraries only: without them most cells share their answers.
    if (context.cell.has(Field::cuda_compat) || compat_in_image(context)) {
        if (has_cuda) judge_image(context, known, out);
        if (wants_wheel(context)) judge_wheel(context, known, out);
        return;
    }
    if (has_cuda) {
        judge_part(
            context, "driver-supports-cuda: image", {Field::driver, Field::cuda, Field::os, Field::platform},
            [&](Findings& found) { judge_image(context, known, found); }, out);
    }
    if (wants_wheel(context)) {
        judge_part(
            context, "driver-supports-cuda: wheel",
            {Field::driver, Field::torch, Field::arch, Field::os, Field::platform},
            [&](Findings& found) { judge_wheel(context, known, found); }, out);
    }
}

}  // namespace

Rule driver_supports_cuda() {
    return {.id = "driver-supports-cuda",
            .stage = kStage,
            .summary = "The driver is new enough for the CUDA of the image and for the CUDA of the wheel.",
            .why =
                "A driver runs every CUDA of its own version and older. Within a CUDA major, drivers from "
                "the major's minimum on also run newer minors with named limits (minor-version "
                "compatibility); below it the runtime fails with error 35.",
            .fails = "driver: 470.161.03, cuda: 12.4.1",
            .passes = "driver: 550.54.15, cuda: 12.4.1",
            .reads = {Field::driver, Field::cuda, Field::torch, Field::arch, Field::cuda_compat, Field::os,
                      Field::platform, Field::gpu, Field::compute, Field::host_class, Field::image,
                      Field::family},
            .needs = {{Field::driver}, {Field::cuda, Field::torch}},
            .judge = plain(judge),
            .proof = {Attempt::start_on_driver,
                      {"driver {driver}, *: cudaGetDeviceCount answers 35: CUDA driver version is "
                       "insufficient for CUDA runtime version"}}};
}

}  // namespace cudamatrix::rules
