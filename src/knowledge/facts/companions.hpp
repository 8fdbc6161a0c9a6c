// What goes with a torch: its domain libraries, and the numpy that it was made for.
#pragma once

#include <optional>
#include <string_view>

#include "base/version.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix::lookup {

/// A row of torch_companions and a torch: the release demands exactly it, it or a newer one, or was built for
/// it.
[[nodiscard]] bool goes_with_torch(const Row& companion, const Version& torch);

/// The newest release of `package` (torchvision ..) that goes with `torch`; one that demands it exactly
/// before one that does not, and one that was yanked only where there is no other.
[[nodiscard]] std::optional<Row> torch_companion(const Facts& facts, std::string_view package,
                                                 const Version& torch);

/// The newest numpy that has wheels for the python ("3.11") and that `torch` can work with; one that was
/// yanked only where there is no other.
[[nodiscard]] std::optional<Row> numpy_companion(const Facts& facts, std::string_view python,
                                                 const Version& torch);

}  // namespace cudamatrix::lookup
