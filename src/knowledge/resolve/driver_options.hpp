// Ways out where a driver is older than a CUDA: other drivers, other releases (private to src/rules).
#pragma once

#include <optional>
#include <vector>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// What the driver runs in the place of `field` (the toolkit, or the wheel's CUDA): at all, or, for `native`,
/// with no limit.
[[nodiscard]] std::vector<FixOption> other_cuda(const Context& context, const lookup::Driver& driver,
                                                Field field, const std::optional<Version>& native);

/// The first known release of the oldest branch that runs `cuda` natively; on Windows the one that came with
/// it. Empty where no fact knows one.
[[nodiscard]] std::vector<FixOption> native_driver(const Context& context, const Version& cuda);

/// The branch says nothing of the CUDA that it runs natively: the nearest older one that does.
[[nodiscard]] Unresolved native_unknown(const Context& context, const lookup::Driver& driver);

}  // namespace cudamatrix::rules
