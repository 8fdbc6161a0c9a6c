#pragma once

#include <cmath>

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

struct TriadArgs {
    double* a;
    const double* b;
    const double* c;
    double s;
    long n;
    RunFlag* flag;
};

/// a = b + s * c, rounded once, each thread striding over the grid.
template <typename Block>
CUDAMATRIX_BODY void triad_body(Block& block, const TriadArgs& args) {
    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.n; i += stride)
            args.a[i] = std::fma(args.s, args.c[i], args.b[i]);
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
