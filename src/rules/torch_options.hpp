// Other builds of torch that a fix can offer.
#pragma once

#include <functional>
#include <vector>

#include "rules/rule.hpp"

namespace cudamatrix::rules {

/// The nearest builds for the cell's arch that `fits` accepts: another variant of the same release, else the
/// next newer and the next older release that have one. Of several variants of a release the default of the
/// index where the cell names no variant, else the one with the CUDA nearest to the cell's, the newer of two
/// (for a CPU build the newest). Values keep the cell's way of writing: with a variant where it has one or
/// needs one.
[[nodiscard]] std::vector<FixOption> torch_options(const Context& context,
                                                   const std::function<bool(const Row&)>& fits);

}  // namespace cudamatrix::rules
