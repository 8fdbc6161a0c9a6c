#pragma once

#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {

/// Functions that the driver provides: vprintf and __assertfail (CUDA C++ Programming Guide, "Formatted
/// Output", "Assertion"). Throws Fault for any other. The list is that of Warp::call().
void call_builtin(Warp& warp, const Function& callee, const List& arguments, Mask lanes);

}  // namespace cudamatrix::suite::ptx
