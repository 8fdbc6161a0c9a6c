#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// mem.fit: how much of the memory that is called free can be had, in one piece and in many.
namespace cudamatrix::suite {

inline constexpr const char* kFitId = "mem.fit";
inline constexpr int kFitRefused = 2;          ///< cudaErrorMemoryAllocation
inline constexpr std::size_t kFitPieces = 64;  ///< blocks that the free memory is cut into
inline constexpr std::size_t kFitMost = 2 * kFitPieces;
inline constexpr std::size_t kFitGrain = std::size_t{2} << 20;   ///< bytes; what drivers map memory by
inline constexpr double kFitShare = 0.9;                         ///< of what is called free
inline constexpr std::size_t kFitSlack = std::size_t{64} << 20;  ///< bytes that may stay away afterwards
inline constexpr int kFitThreads = 2 * static_cast<int>(kFitMost + 1);  ///< each has one end of one block

/// The blocks, and the number that lies in the first and in the last word of each: that of the block.
struct FitArgs {
    std::uint32_t* const* blocks;  ///< null: not there
    const std::size_t* words;      ///< in each block
    int first;                     ///< of the blocks that are looked at
    int end;                       ///< behind the last of them
    std::uint32_t* marks;          ///< two of each block; left as they are where it is not there
    RunFlag* flag;
};

/// What the calls gave, in their order. -1: not called.
struct FitFacts {
    std::size_t free = 0;   ///< bytes, before
    std::size_t block = 0;  ///< bytes of one block
    std::size_t blocks = 0;
    int refused = -1;                  ///< what cudaMalloc of one block more gave
    std::vector<std::uint32_t> marks;  ///< two of each block and the guard
    std::size_t joined = 0;            ///< bytes of one block in place of every second one
    std::vector<std::uint32_t> kept;   ///< two of each kept block, two of the joined one, and the guard
    std::size_t given_back = 0;        ///< bytes that are free afterwards
    RunFlag flag;
};

/// Bytes of one block, a multiple of the grain.
[[nodiscard]] std::size_t fit_block(std::size_t free);
/// The marks that the blocks which are kept must have, and the joined one, whose number is `blocks`.
[[nodiscard]] std::vector<std::uint32_t> fit_kept_marks(std::size_t blocks);
[[nodiscard]] Record fit_check(const FitFacts& facts, const char* backend);

}  // namespace cudamatrix::suite
