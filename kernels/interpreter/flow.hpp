#pragma once

#include "kernels/interpreter/module.hpp"

namespace cudamatrix::suite::ptx {

/// Sets Instruction::reconverge of every branch to the first instruction of its immediate post-dominator: the
/// nearest place that all lanes reach whichever way they go. Hints of the compiler (.uni) are not used.
void find_reconvergence(Function& function);

}  // namespace cudamatrix::suite::ptx
