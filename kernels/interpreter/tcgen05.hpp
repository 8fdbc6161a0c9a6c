#pragma once

#include <cstdint>

#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {

/// Products that ended before `phase` of the mbarrier began have ended for whoever has seen that. Throws
/// Fault when what one of them reads has changed meanwhile.
void end_tensor_products(Warp& warp, int lane, std::uint64_t mbarrier, std::uint64_t phase);

/// tcgen05.mma and tcgen05.commit for the lanes of a mask.
void multiply_in_tensor_memory(Warp& warp, const Instruction& in, Mask lanes);
void commit_tensor_products(Warp& warp, const Instruction& in, Mask lanes);

}  // namespace cudamatrix::suite::ptx
