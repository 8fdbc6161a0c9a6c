#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

struct VaddArgs {
    const float* a;
    const float* b;
    float* c;
    long n;
    RunFlag* flag;
};

/// c = a + b, each thread striding over the grid.
template <typename Block>
CUDAMATRIX_BODY void vadd_body(Block& block, const VaddArgs& args) {
    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.n; i += stride) {
            args.c[i] = args.a[i] + args.b[i];
        }
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
