#include "knowledge/resolve/driver_options.hpp"

#include "base/text.hpp"
#include "knowledge/resolve/host.hpp"
#include "knowledge/resolve/torch_options.hpp"

namespace cudamatrix::rules {

std::vector<FixOption> other_cuda(const Context& context, const lookup::Driver& driver, Field field,
                                  const std::optional<Version>& native) {
    if (!context.wants_fixes) return {};
    const auto runs = [&](const Version& cuda) {
        if (native && *Version::parse(cuda.major_minor()) > *native) return false;
        const auto floor = floor_of(context.facts, cuda, windows_driver(context));
        return floor && floor->driver <= driver.exact;
    };
    if (field != Field::cuda) {
        return torch_options(context, [&](const Row& wheel) {
            const auto cuda = Version::parse(wheel.text("cuda"));
            return cuda && runs(*cuda);
        });
    }
    const auto releases = context.facts.rows("cuda_releases");
    for (auto row = releases.rbegin(); row != releases.rend(); ++row) {
        const auto cuda = lookup::required_version(*row, "cuda");
        if (runs(cuda))
            return {set_to(Field::cuda, cuda.text(), fmt::format("cuda {} with this driver", cuda.text()))};
    }
    return {};
}

std::vector<FixOption> native_driver(const Context& context, const Version& cuda) {
    const auto at_least = [](std::string_view driver) {
        return std::vector{set_to(Field::driver, driver, fmt::format("driver >= {}", driver))};
    };
    if (windows_driver(context)) {
        const auto first = context.facts.row(fmt::format("cuda-{}.0", cuda.text()));
        if (!first || !first->has("bundled_driver_windows")) return {};
        return at_least(first->text("bundled_driver_windows"));
    }
    if (!context.wants_fixes) return {};
    for (const auto& row : context.facts.rows("driver_branches")) {
        const auto native = Version::parse(row.text("cuda"));
        if (native && *native >= cuda && row.has("oldest")) return at_least(row.text("oldest"));
    }
    return {};
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
