// Packages that compile kernels while they run, with the toolkit of the image: minor-version compatibility is
// for code that is compiled already, and does not reach them.
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/packages.hpp"
#include "knowledge/rules/rule.hpp"

namespace cudamatrix::rules {
namespace {

// Libraries of a newer driver in the image that take the place of the cell's.
bool by_compat(const Context& context, const lookup::Driver& driver, const Version& minor) {
    if (windows_driver(context)) return false;
    if (!context.cell.has(Field::cuda_compat)) return compat_in_image(context) && accepts_compat(context);
    const auto compat = compat_on(context, driver);
    return compat.use == CompatUse::open || (compat.use == CompatUse::works && compat.cuda >= minor);
}

void judge_package(Ask& ask, const Package& package, const Row& row, const lookup::Driver& driver) {
    const auto host = host_driver_text(ask, driver);
    ask.question({Field::packages, Field::driver, Field::cuda},
                 fmt::format("whether what {} compiles runs on {}", package.text, host), package.name);
    const auto cuda = ask.cuda();
    if (!cuda) return;
    const auto minor = *Version::parse(cuda->exact.major_minor());
    const auto native = native_cuda(ask.facts, driver);
    if ((native.at_least && minor <= *native.at_least) || by_compat(ask, driver, minor))
        return ask.record_pass({row.ref(), driver.branch->ref()});
    if (!native.at_most || minor <= *native.at_most) return;  // driver-supports-cuda says that it is unknown
    ask.say(severity_in(row),
            fmt::format("{} compiles with the toolkit of CUDA {}, and {} is of CUDA {}: {}", package.text,
                        cuda->exact.text(), host, native.at_most->text(), row.text("consequence")))
        .because(row.ref())
        .because(driver.branch->ref())
        .at_least(Field::driver)
        .at_most(Field::cuda, "with this driver")
        .without(package.name);
}

void judge_package_compiles_on_driver(Ask& ask) {
    const auto driver = if_known(host_driver(ask));
    if (!driver || integrated_gpu(ask)) return;  // driver-supports-cuda reports an unknown driver
    for (const auto& package : packages_of(ask)) {
        if (!package.version) continue;
        for (const auto& row : ask.facts.rows("package_jit")) {
            if (describes(row, package.name, *package.version)) judge_package(ask, package, row, *driver);
        }
    }
}

}  // namespace

Rule package_compiles_on_driver() {
    return {
        .id = "package-compiles-on-driver",
        .stage = Stage::runtime,
        .summary = "The driver is not older than the toolkit with which a package compiles while it runs.",
        .why =
            "Minor-version compatibility lets an older driver run what was compiled for a newer minor of its "
            "CUDA. A package that compiles its kernels while it runs hands the driver code of the toolkit "
            "itself, and an older driver refuses it (\"Unsupported .version 8.1\").",
        .fails = "driver: 470.161.03, cuda: 11.6.2, packages: {jaxlib: 0.3.15}",
        .passes = "driver: 470.161.03, cuda: 11.4.3, packages: {jaxlib: 0.3.15}",
        .reads = {Field::packages, Field::cuda, Field::driver, Field::cuda_compat, Field::os, Field::platform,
                  Field::gpu, Field::compute, Field::host_class, Field::image, Field::family, Field::arch},
        .needs = {{Field::packages}, {Field::cuda}, {Field::driver}},
        .judge = judge_package_compiles_on_driver};
}

}  // namespace cudamatrix::rules
