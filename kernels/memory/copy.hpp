#pragma once

#include <cstddef>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/memory/copy_body.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// mem.copy: memory is copied in words of 128 bits, exactly.
namespace cudamatrix::suite {

inline constexpr const char* kCopyId = "mem.copy";
inline constexpr int kCopyThreads = 256;
inline constexpr int kCopyBlocks = 512;
/// Both buffers together exceed every GPU's second-level cache; 13 bytes are no whole word.
inline constexpr std::size_t kCopyLarge = (std::size_t{128} << 20) + 13;
inline constexpr std::size_t kCopySmall = (std::size_t{4} << 20) + 13;  ///< on the CPU
inline constexpr std::size_t kCopyMeasured = std::size_t{512} << 20;  ///< bytes, where the speed is measured

struct CopyInputs {
    std::vector<Word128> from;  ///< whole words, of which the last is copied in part
    std::size_t bytes = 0;
};

/// `to` is longer than what is copied: what lies beyond must stay as it was.
struct CopyOutputs {
    std::vector<Word128> to;
    RunFlag flag;
};

/// Random bits.
[[nodiscard]] CopyInputs copy_inputs(std::size_t bytes);
[[nodiscard]] CopyOutputs copy_blank(const CopyInputs& inputs);
[[nodiscard]] CopyOutputs copy_on_cpu(const CopyInputs& inputs);
/// Compares every word with its source. `backend` is "GPU" or "CPU", for the summary.
[[nodiscard]] Record copy_check(const CopyInputs& inputs, const CopyOutputs& outputs, const char* backend);
[[nodiscard]] Record copy_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
