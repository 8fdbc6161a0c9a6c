#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

struct PcieArgs {
    const unsigned* from;
    unsigned* to;
    long words;
    RunFlag* flag;
};

/// Differs from word to word, so that a word that arrives at another's place is wrong.
CUDAMATRIX_BODY unsigned pcie_mask(long i) {
    return static_cast<unsigned>(i) * 0x9e3779b1U + 0x85ebca6bU;
}

/// Changes what came up on its way to what goes down: nothing that never was on the device looks like it.
template <typename Block>
CUDAMATRIX_BODY void pcie_body(Block& block, const PcieArgs& args) {
    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.words; i += stride)
            args.to[i] = args.from[i] ^ pcie_mask(i);
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
