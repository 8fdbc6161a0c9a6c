// Counting a matrix of any size by verdict and by rule (private to knowledge/judge): judge() without cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "knowledge/judge/count/diagram.hpp"
#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

// How many cells of the product have each of a few flags: bit planes over a block of inner axes, the outer
// axes walked (private to knowledge/judge).

/// The flag of cells that are not to be counted: excluded ones, or those whose verdict is settled.
inline constexpr Diagrams::Code kDead = 1;

struct BitsetCounts {
    std::uint64_t alive = 0;              ///< cells without kDead
    std::array<std::uint64_t, 8> flag{};  ///< of those, cells with flag 1 << i
};

/// Cells of a block: a plane of one bit each stays in the nearest cache.
inline constexpr std::uint64_t kBlock = 1u << 14u;

/// The axes in the order in which they should be asked for, given by how many diagrams each one matters: the
/// busiest in the block, the others outside, the least busy of those innermost, where it is walked most
/// often.
[[nodiscard]] std::vector<std::size_t> walking_order(const std::vector<std::size_t>& sizes,
                                                     const std::vector<std::size_t>& diagrams,
                                                     std::uint64_t block = kBlock);

/// Counts over all positions of the product, a cell's flags being those that any of `layers` (ordered) gives
/// it. The product must have fewer than 2^64 cells. Where `progress` was stopped the counts mean nothing.
[[nodiscard]] BitsetCounts bitset_count(const Diagrams& diagrams, const std::vector<Diagrams::Ref>& layers,
                                        std::uint64_t block = kBlock, Progress* progress = nullptr);

/// `verdicts`, `rules` and `warnings` of a judgement, the same as if every cell were judged by itself. Input
/// failure: 2^64 cells or more; interrupted where `on_progress` says stop.
[[nodiscard]] Result<Judgement> count(const Matrix& matrix, const Facts& facts, std::string_view today,
                                      std::uint64_t block = kBlock, const OnProgress& on_progress = {});

}  // namespace cudamatrix::rules
