#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/record.hpp"

/// con.streams: a value goes from stream to stream, and events alone keep the order.
namespace cudamatrix::suite {

inline constexpr const char* kStreamsId = "con.streams";
inline constexpr int kStreams = 4;
inline constexpr int kStreamsSteps = 24;  ///< kernels, one after the other, on streams 0, 1, 2, 3, 0 ...
inline constexpr int kStreamsThreads = 128;
inline constexpr int kStreamsBlocks = 2;
inline constexpr std::size_t kStreamsLength = std::size_t{kStreamsThreads} * kStreamsBlocks;
/// What a row holds that no kernel wrote.
inline constexpr std::uint32_t kStreamsBlank = 0xa5a5a5a5;

/// Row s + 1 is what step s made of row s; row 0 is the input, and a row that stays blank is behind the last.
struct StreamsOutputs {
    std::vector<std::uint32_t> rows;
    RunFlag flag;
};

/// Row 0, and all others blank.
[[nodiscard]] StreamsOutputs streams_blank();
/// Every row against the one that follows from the input.
[[nodiscard]] Record streams_check(const StreamsOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
