// Can the driver run what was built with that CUDA? Judged for the image's toolkit and for the wheel's CUDA,
// each on its own. Within a CUDA major any driver from the major's minimum on runs every release
// (minor-version compatibility); a driver older than the release does so with named limits. CUDA 10 and
// older: each release has a minimum of its own.
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// What a driver has to run: the image's CUDA or the wheel's.
struct Subject {
    std::string_view aspect;  ///< image, wheel
    Field field;
    Version cuda;
    std::string text;  ///< "CUDA 12.4.1", "torch 2.6.0+cu124 (CUDA 12.4)"
    std::vector<FactRef> facts;
    lookup::Driver driver;
    std::string host;  ///< "driver 550.54.15"
};

Version minor_of(const Subject& subject) {
    return *Version::parse(subject.cuda.major_minor());
}

// The toolkit is an older one, the wheel's CUDA comes with another build.
void offer_other_cuda(Answer answer, Field field) {
    if (field == Field::cuda) {
        answer.at_most(field, "with this driver");
    } else {
        answer.other(field);
    }
}

void judge_too_old(Ask& ask, const Subject& subject, const Floor& floor) {
    const bool windows = windows_driver(ask);
    auto answer = ask.reject("{} is too old for {}: {} needs >= {}{}", subject.host, subject.text,
                             floor.by_major ? fmt::format("CUDA {}", subject.cuda.major()) : "that release",
                             floor.driver.text(), windows ? " on Windows" : "");
    answer.because(subject.facts)
        .because(floor.row.ref())
        .because(ask.facts.row("policy-insufficient-driver"));
    if (windows) answer.because(ask.facts.row("policy-windows-driver"));
    answer.at_least(Field::driver, floor.driver.text());
    offer_other_cuda(answer, subject.field);
}

// The branch says nothing of the CUDA that it runs natively: the nearest older one that does.
Unresolved native_unknown(const Context& context, const lookup::Driver& driver) {
    Unresolved gap{
        Field::driver,
        fmt::format("no fact says which CUDA driver branch {} runs natively", driver.exact.major()),
        {}};
    if (windows_driver(context)) return gap;
    std::optional<Row> best;
    for (const auto& row : context.facts.rows("driver_branches")) {
        const auto newest = Version::parse(row.text("newest"));
        if (row.has("cuda") && newest && newest->major() < driver.exact.major()) best = row;
    }
    gap.what += fmt::format(" (the nearest that is known is {}, of CUDA {})", best->text("newest"),
                            best->text("cuda"));
    gap.near.push_back(set_to(Field::driver, best->text("newest")));
    return gap;
}

// A driver that is new enough: does it run the CUDA without limits?
void judge_limits(Ask& ask, const Subject& subject, const Floor& floor) {
    const auto minor = minor_of(subject);
    const auto native = native_cuda(ask.facts, subject.driver);
    auto facts = subject.facts;
    facts.push_back(floor.row.ref());
    facts.push_back(subject.driver.branch->ref());
    if (native.at_least && minor <= *native.at_least) {
        ask.accept(std::move(facts), "whether {} runs {}", subject.host, subject.text);
    } else if (!floor.by_major) {
        return;  // CUDA 10 and older: its own minimum is the whole answer
    } else if (!native.at_most || minor <= *native.at_most) {
        ask.reword(
            fmt::format("whether {} runs on it natively or by minor-version compatibility", subject.text));
        ask.unknown(native_unknown(ask, subject.driver)).because(facts);
    } else {
        // How CUDA 11 and later are meant to run. Who meets its limits is told by ptx-newer-than-driver and
        // triton-runs-on-driver.
        ask.note(
               "{} runs {} by minor-version compatibility: the driver itself is of CUDA {}, so PTX newer "
               "than that is not compiled and features that need a newer driver fail",
               subject.host, subject.text, native.at_most->text())
            .because(facts)
            .because(ask.facts.row("policy-minor-version-compatibility"));
    }
}

// A bare branch stands for its newest release: its older ones may be too old.
void judge_branch(Ask& ask, const Subject& subject, const Floor& floor) {
    const auto& driver = subject.driver;
    const auto oldest = Version::parse(driver.branch->text("oldest"));
    if (windows_driver(ask) || !driver.bare_branch || !oldest || *oldest >= floor.driver) return;
    ask.question(ask.about(), ask.text(),
                 subject.field == Field::cuda ? "image, whole branch" : "wheel, whole branch");
    ask.degrade(
           "driver branch {} is judged as its newest release {}: its releases before {} are too old for "
           "{}",
           driver.exact.major(), driver.exact.text(), floor.driver.text(), subject.text)
        .because(floor.row.ref())
        .because(driver.branch->ref())
        .at_least(Field::driver, floor.driver.text());
    ask.question(ask.about(), ask.text(), subject.aspect);
}

// Libraries of a newer driver in the image (cuda_compat, or named by `libraries` and known from `policy`) run
// what the driver itself does not, or only with limits. True: they answer for this subject.
bool by_compat(Ask& ask, const Subject& subject, const Floor& floor, Field libraries,
               const std::optional<Row>& policy) {
    const auto compat = compat_on(ask, subject.driver);
    const auto minor = minor_of(subject);
    if (compat.native.at_least && minor <= *compat.native.at_least)
        return false;  // the driver does it itself
    const bool enough = subject.driver.exact >= floor.driver;
    auto with = ask.into(ask.out(), ask.accepted);
    with.question({Field::driver, subject.field, libraries},
                  fmt::format("whether {} runs {} with them", subject.host, subject.text), subject.aspect);
    if (compat.gap && !enough) {
        with.unknown(*compat.gap).because(subject.facts).because(policy);
        return true;
    }
    if (compat.use != CompatUse::works || compat.cuda.major() < minor.major()) return false;
    if (enough && compat.cuda < minor) return false;  // they lift nothing that the driver does not
    with.degrade(
            "{} runs {} by the compat libraries of CUDA {} only: the container has to put them on its "
            "library path, and the GPU has to be of the data centre",
            subject.host, subject.text, compat.cuda.text())
        .because(subject.facts)
        .because(floor.row.ref())
        .because(compat.row)
        .because(policy)
        .at_least(Field::driver);
    return true;
}

// The images of nvidia/cuda, and NVIDIA's own of PyTorch, hold the compat libraries of their own CUDA, which
// are put to use where the driver is older: on hardware of the data centre that lifts a driver below the
// minimum.
bool by_libraries_of_image(Ask& ask, const Subject& subject, const Floor& floor) {
    if (ask.cell.has(Field::cuda_compat) || windows_driver(ask)) return false;
    const auto compat = compat_in_image(ask);
    if (!compat || !accepts_compat(ask)) return false;
    const Value value{compat->cuda, {}, {}};
    const auto cell = ask.cell.with(Field::cuda_compat, &value);
    Ask with = ask.on(cell);
    return by_compat(with, subject, floor, ask.cell.has(Field::image) ? Field::image : Field::family,
                     image_policy(ask.facts, compat->policy));
}

void judge_subject(Ask& ask, const Subject& subject) {
    const auto& driver = subject.driver;
    const auto floor = floor_of(ask.facts, subject.cuda, windows_driver(ask));
    if (!floor) {
        ask.reword(fmt::format("whether {} is new enough", subject.host));
        ask.unknown(subject.field, "no fact gives the least driver of {}", subject.text);
        return;
    }
    if (ask.cell.has(Field::cuda_compat) && !windows_driver(ask) &&
        by_compat(ask, subject, *floor, Field::cuda_compat, std::nullopt))
        return;
    if (driver.exact >= floor->driver) {
        judge_branch(ask, subject, *floor);
        judge_limits(ask, subject, *floor);
    } else if (windows_driver(ask) && driver.bare_branch && driver.exact.major() == floor->driver.major()) {
        ask.reword(fmt::format("whether it is {} or newer, as {} asks", floor->driver.text(), subject.text));
        ask.unknown(Field::driver, "no fact lists the releases of Windows driver {}", driver.exact.text());
    } else if (!by_libraries_of_image(ask, subject, *floor)) {
        judge_too_old(ask, subject, *floor);
    }
}

void judge_image(Ask& ask, const lookup::Driver& driver) {
    const auto host = host_driver_text(ask, driver);
    ask.question(
        {Field::driver, Field::cuda}, [&] { return fmt::format("whether {} runs it", host); }, "image");
    const auto cuda = ask.cuda();
    if (!cuda) return;
    judge_subject(ask, {"image", Field::cuda, cuda->exact, "CUDA " + cuda->exact.text(), {}, driver, host});
}

void judge_wheel(Ask& ask, const lookup::Driver& driver) {
    const auto host = host_driver_text(ask, driver);
    ask.question(
        {Field::driver, Field::torch}, [&] { return fmt::format("whether {} runs it", host); }, "wheel");
    const auto build = ask.torch_build();
    if (!build || never_published(*build)) return;
    if (!build->torch.wheel) {
        ask.unknown(no_wheel_row(*build));
        return;
    }
    const auto cuda = Version::parse(build->torch.wheel->text("cuda"));
    if (!cuda) return;  // a CPU build asks nothing of the driver
    judge_subject(ask, {"wheel",
                        Field::torch,
                        *cuda,
                        fmt::format("{} (CUDA {})", build->text, cuda->text()),
                        {build->torch.wheel->ref()},
                        driver,
                        host});
}

void judge_driver_supports_cuda(Ask& ask) {
    const bool has_cuda = ask.cell.has(Field::cuda);
    if (!has_cuda && !wants_wheel(ask)) return;
    const auto what = [&] {
        return has_cuda ? fmt::format("CUDA {}", ask.cell.text(Field::cuda))
                        : fmt::format("torch {}", ask.cell.text(Field::torch));
    };
    if (const auto gpu = integrated_gpu(ask)) {
        ask.question({Field::driver, gpu->field},
                     fmt::format("whether driver {} runs {}", ask.cell.text(Field::driver), what()), "image");
        ask.unknown(outside_branches(*gpu))
            .because(gpu->facts)
            .because(ask.facts.row("policy-jetson-driver"));
        return;
    }
    ask.question(
        {Field::driver}, [&] { return "whether it runs " + what(); }, "image");
    const auto driver = ask.known(host_driver(ask));
    if (!driver) return;
    // The GPU matters to compat libraries only: without them most cells share their answers.
    const bool with_gpu = ask.cell.has(Field::cuda_compat) || compat_in_image(ask);
    const auto image = [&](Ask& each) { judge_image(each, *driver); };
    const auto wheel = [&](Ask& each) { judge_wheel(each, *driver); };
    if (with_gpu) {
        if (has_cuda) image(ask);
        if (wants_wheel(ask)) wheel(ask);
        return;
    }
    if (has_cuda) {
        ask.once_per("driver-supports-cuda: image", {Field::driver, Field::cuda, Field::os, Field::platform},
                     image);
    }
    if (wants_wheel(ask)) {
        ask.once_per("driver-supports-cuda: wheel",
                     {Field::driver, Field::torch, Field::arch, Field::os, Field::platform}, wheel);
    }
}

}  // namespace

Rule driver_supports_cuda() {
    return {.id = "driver-supports-cuda",
            .stage = Stage::runtime,
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
            .judge = judge_driver_supports_cuda,
            .proof = {Attempt::start_on_driver,
                      {"driver {driver}, *: cudaGetDeviceCount answers 35: CUDA driver version is "
                       "insufficient for CUDA runtime version"}},
            .monotone = {Field::cuda, Field::torch},
            .apart = {Field::cuda, Field::torch}};
}

}  // namespace cudamatrix::rules
