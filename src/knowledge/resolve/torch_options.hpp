// Other builds of torch that a fix can offer.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "knowledge/resolve/context.hpp"

namespace cudamatrix::rules {

/// The nearest builds for the cell's arch that `fits` accepts: another variant of the same release, else the
/// next newer and the next older release that have one. Of several variants of a release the default of the
/// index where the cell names no variant, else the one with the CUDA nearest to the cell's, the newer of two
/// (for a CPU build the newest). One that was yanked only where there is no other. Values keep the cell's way
/// of writing: with a variant where it has one or needs one.
[[nodiscard]] std::vector<FixOption> torch_options(const Context& context,
                                                   const std::function<bool(const Row&)>& fits);

/// 124 of "cu124", 0 of "cpu": the order of these numbers is that of the CUDA versions.
[[nodiscard]] int cuda_number(std::string_view variant);

/// The fact that `variant` had no index on its day, of a CUDA newer than all that have one.
[[nodiscard]] std::optional<Row> absent_index(const Facts& facts, std::string_view variant);
/// No release was ever published for `variant`, although newer CUDA versions were, or a fact says so:
/// wheel-index-exists rejects it. Another CUDA beyond all that are known may have an index that the facts
/// lack.
[[nodiscard]] bool no_such_index(const Facts& facts, std::string_view variant);

}  // namespace cudamatrix::rules
