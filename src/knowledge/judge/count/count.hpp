// Counting a matrix of any size by verdict and by rule (private to src/rules): judge() without cells.
#pragma once

#include "knowledge/judge/count/bitset_count.hpp"
#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

/// `verdicts`, `rules` and `warnings` of a judgement, the same as if every cell were judged by itself. Input
/// failure: 2^64 cells or more; interrupted where `on_progress` says stop.
[[nodiscard]] Result<Judgement> count(const Matrix& matrix, const Facts& facts, std::string_view today,
                                      std::uint64_t block = kBlock, const OnProgress& on_progress = {});

}  // namespace cudamatrix::rules
