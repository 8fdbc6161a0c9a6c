#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// mem.async: memory that is allocated and freed in the order of streams holds what is written to it, is used
/// again, and is given back.
namespace cudamatrix::suite {

inline constexpr const char* kAsyncId = "mem.async";
inline constexpr int kAsyncRounds = 8;
inline constexpr int kAsyncBuffers = 4;  ///< of a round, all there at once
inline constexpr std::size_t kAsyncLength = 16411;
inline constexpr int kAsyncThreads = 128;
inline constexpr int kAsyncBlocks = 8;
inline constexpr int kAsyncKernels = 2 * kAsyncRounds * kAsyncBuffers;
inline constexpr std::size_t kAsyncWords = kAsyncLength * kAsyncBuffers * kAsyncRounds;

/// What word `i` of buffer number `buffer`, counted through all rounds, holds: no two are the same.
CUDAMATRIX_BODY std::uint32_t async_word(std::uint32_t buffer, std::uint32_t i) {
    return (buffer << 16U ^ i) * 2654435761U + 12345U;
}

/// What the device's default pool said.
struct AsyncPool {
    bool supported = false;
    bool known = false;         ///< numbers of pools are from CUDA 11.3 on
    std::uint64_t used = 0;     ///< after everything was freed
    std::uint64_t first = 0;    ///< reserved, in bytes, after the first round
    std::uint64_t last = 0;     ///< after the last one
    std::uint64_t trimmed = 0;  ///< after it was asked to keep nothing
};

struct AsyncOutputs {
    std::vector<std::uint32_t> words;  ///< what was in the buffers, and a guard
    RunFlag flag;
    AsyncPool pool;
};

[[nodiscard]] AsyncOutputs async_blank();
[[nodiscard]] Record async_check(const AsyncOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
