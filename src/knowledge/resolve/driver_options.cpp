#include "knowledge/resolve/driver_options.hpp"

#include "base/text.hpp"
#include "knowledge/resolve/host_driver.hpp"
#include "knowledge/resolve/torch_options.hpp"

namespace cudamatrix::rules {
namespace {

// The newest release that the driver can run at all, or, for `native`, with no limit.
std::optional<FixOption> cuda_for(const Context& context, const lookup::Driver& driver,
                                  std::optional<Version> native) {
    if (!context.wants_fixes) return std::nullopt;
    const auto releases = context.facts.rows("cuda_releases");
    for (auto row = releases.rbegin(); row != releases.rend(); ++row) {
        const auto cuda = lookup::required_version(*row, "cuda");
        if (native && *Version::parse(cuda.major_minor()) > *native) continue;
        const auto floor = floor_of(context.facts, cuda, windows_driver(context));
        if (!floor || floor->driver > driver.exact) continue;
        return set_to(Field::cuda, cuda.text(), fmt::format("cuda {} with this driver", cuda.text()));
    }
    return std::nullopt;
}

}  // namespace

void offer_other_cuda(const Context& context, const lookup::Driver& driver, Field field,
                      std::optional<Version> native, Finding& finding) {
    if (field == Field::cuda) {
        if (auto option = cuda_for(context, driver, native)) finding.fixes.push_back(*std::move(option));
        return;
    }
    const auto runs = [&](const Row& wheel) {
        const auto cuda = Version::parse(wheel.text("cuda"));
        if (!cuda || (native && *cuda > *native)) return false;
        const auto floor = floor_of(context.facts, *cuda, windows_driver(context));
        return floor && floor->driver <= driver.exact;
    };
    for (auto& option : torch_options(context, runs))
        finding.fixes.push_back(std::move(option));
}

std::optional<FixOption> native_driver(const Context& context, const Version& cuda) {
    if (windows_driver(context)) {
        const auto first = context.facts.row(fmt::format("cuda-{}.0", cuda.text()));
        if (!first || !first->has("bundled_driver_windows")) return std::nullopt;
        const auto driver = first->text("bundled_driver_windows");
        return set_to(Field::driver, driver, fmt::format("driver >= {}", driver));
    }
    if (!context.wants_fixes) return std::nullopt;
    for (const auto& row : context.facts.rows("driver_branches")) {
        const auto native = Version::parse(row.text("cuda"));
        if (!native || *native < cuda || !row.has("oldest")) continue;
        return set_to(Field::driver, row.text("oldest"), fmt::format("driver >= {}", row.text("oldest")));
    }
    return std::nullopt;
}

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

}  // namespace cudamatrix::rules
