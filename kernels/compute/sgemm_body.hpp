#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

inline constexpr int kSgemmTile = 128;  ///< rows and columns of C that a block computes
inline constexpr int kSgemmDepth = 16;  ///< columns of A (rows of B) in shared memory at a time
inline constexpr int kSgemmEach = 8;    ///< rows and columns of C that a thread computes
inline constexpr int kSgemmSide = kSgemmTile / kSgemmEach;
inline constexpr int kSgemmThreads = kSgemmSide * kSgemmSide;

/// C (m x n) = A (m x k) times B (k x n), all stored row by row.
struct SgemmArgs {
    const float* a;
    const float* b;
    float* c;
    int m;
    int n;
    int k;
    RunFlag* flag;
};

struct SgemmShared {
    float a[kSgemmDepth][kSgemmTile];
    float b[kSgemmDepth][kSgemmTile];
};

struct SgemmSums {
    float c[kSgemmEach][kSgemmEach];
};

/// Copies the next slices of A (transposed) and B; beyond the matrices' edges there are zeros.
template <typename Block>
CUDAMATRIX_BODY void sgemm_load(Block& block, SgemmShared& shared, const SgemmArgs& args, int row0, int col0,
                                int k0) {
    block.for_each_thread([&](int t) {
        for (int i = t; i < kSgemmTile * kSgemmDepth; i += kSgemmThreads) {
            const int row = i / kSgemmDepth;
            const int depth = i % kSgemmDepth;
            const bool inside = row0 + row < args.m && k0 + depth < args.k;
            shared.a[depth][row] =
                inside ? args.a[static_cast<long>(row0 + row) * args.k + k0 + depth] : 0.0F;
        }
        for (int i = t; i < kSgemmTile * kSgemmDepth; i += kSgemmThreads) {
            const int depth = i / kSgemmTile;
            const int col = i % kSgemmTile;
            const bool inside = k0 + depth < args.k && col0 + col < args.n;
            shared.b[depth][col] =
                inside ? args.b[static_cast<long>(k0 + depth) * args.n + col0 + col] : 0.0F;
        }
    });
}

template <typename Block, typename Sums>
CUDAMATRIX_BODY void sgemm_multiply(Block& block, SgemmShared& shared, Sums& sums) {
    block.for_each_thread([&](int t) {
        const int row = t / kSgemmSide * kSgemmEach;
        const int col = t % kSgemmSide * kSgemmEach;
        SgemmSums& mine = sums[t];
        for (int depth = 0; depth < kSgemmDepth; ++depth) {
            for (int i = 0; i < kSgemmEach; ++i) {
                const float a = shared.a[depth][row + i];
                for (int j = 0; j < kSgemmEach; ++j)
                    mine.c[i][j] += a * shared.b[depth][col + j];
            }
        }
    });
}

template <typename Block>
CUDAMATRIX_BODY void sgemm_body(Block& block, SgemmShared& shared, const SgemmArgs& args) {
    const int tiles_across = (args.n + kSgemmTile - 1) / kSgemmTile;
    const int row0 = block.index() / tiles_across * kSgemmTile;
    const int col0 = block.index() % tiles_across * kSgemmTile;
    auto sums = block.template per_thread<SgemmSums>();
    for (int k0 = 0; k0 < args.k; k0 += kSgemmDepth) {
        sgemm_load(block, shared, args, row0, col0, k0);
        sgemm_multiply(block, shared, sums);
    }
    block.for_each_thread_no_barrier([&](int t) {
        for (int i = 0; i < kSgemmEach; ++i) {
            for (int j = 0; j < kSgemmEach; ++j) {
                const int row = row0 + t / kSgemmSide * kSgemmEach + i;
                const int col = col0 + t % kSgemmSide * kSgemmEach + j;
                if (row < args.m && col < args.n)
                    args.c[static_cast<long>(row) * args.n + col] = sums[t].c[i][j];
            }
        }
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
