#pragma once

#include <cstddef>
#include <vector>

#include "kernels/compute/sums.hpp"
#include "kernels/support/record.hpp"

/// stress.oom: a program that asked for too much memory can go on.
namespace cudamatrix::suite {

inline constexpr const char* kOomId = "stress.oom";
inline constexpr int kOutOfMemory = 2;  ///< cudaErrorMemoryAllocation
inline constexpr std::size_t kOomLength = 65537;
inline constexpr int kOomThreads = 256;
inline constexpr int kOomBlocks = 16;
/// An interpreter's memory is the host's.
inline constexpr std::size_t kOomMostInterpreted = std::size_t{1} << 30;

/// Where the vectors lie in one allocation, as offsets in bytes: at its begin, in its middle and at its very
/// end.
struct OomPlaces {
    std::size_t a = 0;
    std::size_t b = 0;
    std::size_t c = 0;
    bool fit = false;  ///< they do not overlap
};

/// What the calls gave, in their order. -1: not called.
struct OomFacts {
    std::size_t total = 0;  ///< bytes
    int asked = -1;         ///< cudaMalloc of 2 * total
    bool pointer = false;   ///< it gave a pointer all the same
    int last_error = -1;    ///< cudaGetLastError, which is to forget
    int forgotten = -1;     ///< cudaPeekAtLastError
    int synchronised = -1;  ///< cudaDeviceSynchronize
    std::size_t half = 0;   ///< bytes
    int half_asked = -1;    ///< cudaMalloc of that
    const char* call = "";  ///< the first call that failed with that memory, "" when none did
    int call_code = 0;
    std::vector<float> c;
    RunFlag flag;
};

/// Half of the free memory, in whole blocks of 512 bytes, so that every offset is aligned.
[[nodiscard]] std::size_t oom_half(std::size_t free, bool interpreted);
[[nodiscard]] OomPlaces oom_places(std::size_t half);
[[nodiscard]] Record oom_check(const SumInputs& inputs, const OomFacts& facts, const char* backend);

}  // namespace cudamatrix::suite
