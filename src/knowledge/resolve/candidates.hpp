// What a search for ways out may try: for each bound that a rule gives, values that the facts know, in the
// order in which a user would take them.
#pragma once

#include <vector>

#include "knowledge/resolve/context.hpp"

namespace cudamatrix::rules {

/// The first tier that holds something that works is enough; of each of its groups the first that works is an
/// alternative.
using Candidates = std::vector<std::vector<std::vector<FixOption>>>;

/// torch: another variant of the same release, else the next newer and the next older release; of several
/// variants the default of the index where the cell names no variant, else the one with the CUDA nearest to
/// the cell's, the newer of two (for a CPU build the newest). cuda, cudnn, python: the nearest newer and the
/// nearest older one. driver: the newest release of the next branch. os: the next of the same distribution,
/// else the system that is supported longest of those that images are made on. A package: the nearest newer
/// release, else the nearest older one, for an old one often fits because it asks for less than it needs.
/// What its authors took back comes behind all the rest. Values are written as the cell writes its own.
[[nodiscard]] Candidates candidates(const Context& context, const Bound& bound);

}  // namespace cudamatrix::rules
