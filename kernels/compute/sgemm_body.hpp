#pragma once

#include <cstdint>

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

inline constexpr int kSgemmTile = 128;  ///< rows and columns of C that a block computes
inline constexpr int kSgemmDepth = 16;  ///< columns of A (rows of B) in shared memory at a time
inline constexpr int kSgemmEach = 8;    ///< rows and columns of C that a thread computes
inline constexpr int kSgemmSide = kSgemmTile / kSgemmEach;
inline constexpr int kSgemmThreads = kSgemmSide * kSgemmSide;
inline constexpr int kSgemmHalf = kSgemmTile / 2;

/// What one thread moves at once.
struct alignas(16) Float4 {
    float x;
    float y;
    float z;
    float w;
};
inline constexpr int kFour = 4;

/// Groups of four that each thread brings of a slice of A, and of one of B.
inline constexpr int kSgemmFours = kSgemmTile * kSgemmDepth / kFour / kSgemmThreads;

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

/// A slice of A (transposed) and one of B.
struct alignas(16) SgemmSlice {
    float a[kSgemmDepth][kSgemmTile];
    float b[kSgemmDepth][kSgemmTile];
};

/// One slice is multiplied while the next is brought.
struct SgemmShared {
    SgemmSlice slices[2];
};

struct SgemmSums {
    float c[kSgemmEach][kSgemmEach];
};

/// What a thread has in its registers of the next slice.
struct SgemmNext {
    Float4 a[kSgemmFours];
    Float4 b[kSgemmFours];
};

/// Where each row of a matrix begins at an address that four floats can be read from at once.
CUDAMATRIX_BODY bool sgemm_aligned(const float* matrix, int columns) {
    return columns % kFour == 0 && reinterpret_cast<std::uintptr_t>(matrix) % sizeof(Float4) == 0;
}

/// Elements `at` to `at` + 3 of a row; beyond its end, or of a row that is none, zeros.
CUDAMATRIX_BODY Float4 sgemm_four(const float* matrix, int row, int rows, int at, int columns, bool aligned) {
    Float4 four{0.0F, 0.0F, 0.0F, 0.0F};
    if (row >= rows || at >= columns) return four;
    const float* from = matrix + static_cast<long>(row) * columns + at;
    if (aligned) return *reinterpret_cast<const Float4*>(from);
    four.x = from[0];
    if (at + 1 < columns) four.y = from[1];
    if (at + 2 < columns) four.z = from[2];
    if (at + 3 < columns) four.w = from[3];
    return four;
}

/// Where row `row` of A stands in a slice, at `depth`: threads of a warp that store to different depths meet
/// in no bank of the shared memory. Groups of four rows stay together.
CUDAMATRIX_BODY int sgemm_place(int depth, int row) {
    return row ^ (depth / kFour * 8);
}

/// A thread's part of the slice that begins at k0.
CUDAMATRIX_BODY void sgemm_fetch(SgemmNext& next, const SgemmArgs& args, int row0, int col0, int k0, int t) {
    constexpr int kAcrossA = kSgemmDepth / kFour;
    constexpr int kAcrossB = kSgemmTile / kFour;
    const bool aligned_a = sgemm_aligned(args.a, args.k);
    const bool aligned_b = sgemm_aligned(args.b, args.n);
    for (int i = 0; i < kSgemmFours; ++i) {
        const int at = t + i * kSgemmThreads;
        next.a[i] =
            sgemm_four(args.a, row0 + at / kAcrossA, args.m, k0 + at % kAcrossA * kFour, args.k, aligned_a);
        next.b[i] =
            sgemm_four(args.b, k0 + at / kAcrossB, args.k, col0 + at % kAcrossB * kFour, args.n, aligned_b);
    }
}

CUDAMATRIX_BODY void sgemm_store(SgemmSlice& slice, const SgemmNext& next, int t) {
    constexpr int kAcrossA = kSgemmDepth / kFour;
    constexpr int kAcrossB = kSgemmTile / kFour;
    for (int i = 0; i < kSgemmFours; ++i) {
        const int at = t + i * kSgemmThreads;
        const int depth = at % kAcrossA * kFour;
        const int place = sgemm_place(depth, at / kAcrossA);
        slice.a[depth][place] = next.a[i].x;
        slice.a[depth + 1][place] = next.a[i].y;
        slice.a[depth + 2][place] = next.a[i].z;
        slice.a[depth + 3][place] = next.a[i].w;
        *reinterpret_cast<Float4*>(&slice.b[at / kAcrossB][at % kAcrossB * kFour]) = next.b[i];
    }
}

/// The i-th of a thread's rows (or columns) in its tile: four, and four in the other half. So the threads of
/// a warp read neighbouring groups of B.
CUDAMATRIX_BODY int sgemm_own(int lane, int i) {
    return lane * kFour + i % kFour + i / kFour * kSgemmHalf;
}

CUDAMATRIX_BODY void sgemm_read(float (&into)[kSgemmEach], const float* low, const float* high) {
    const Float4 first = *reinterpret_cast<const Float4*>(low);
    const Float4 second = *reinterpret_cast<const Float4*>(high);
    into[0] = first.x;
    into[1] = first.y;
    into[2] = first.z;
    into[3] = first.w;
    into[4] = second.x;
    into[5] = second.y;
    into[6] = second.z;
    into[7] = second.w;
}

CUDAMATRIX_BODY void sgemm_multiply(const SgemmSlice& slice, SgemmSums& sums, int t) {
    const int row = t / kSgemmSide * kFour;
    const int col = t % kSgemmSide * kFour;
    CUDAMATRIX_UNROLL_2
    for (int depth = 0; depth < kSgemmDepth; ++depth) {
        float a[kSgemmEach];
        float b[kSgemmEach];
        const float* rows = slice.a[depth];
        sgemm_read(a, rows + sgemm_place(depth, row), rows + sgemm_place(depth, row + kSgemmHalf));
        sgemm_read(b, &slice.b[depth][col], &slice.b[depth][col + kSgemmHalf]);
        for (int i = 0; i < kSgemmEach; ++i) {
            for (int j = 0; j < kSgemmEach; ++j)
                sums.c[i][j] += a[i] * b[j];
        }
    }
}

template <typename Block>
CUDAMATRIX_BODY void sgemm_body(Block& block, SgemmShared& shared, const SgemmArgs& args) {
    const int tiles_across = (args.n + kSgemmTile - 1) / kSgemmTile;
    const int row0 = block.index() / tiles_across * kSgemmTile;
    const int col0 = block.index() % tiles_across * kSgemmTile;
    auto sums = block.template per_thread<SgemmSums>();
    block.for_each_thread([&](int t) {
        SgemmNext next;
        sgemm_fetch(next, args, row0, col0, 0, t);
        sgemm_store(shared.slices[0], next, t);
    });
    int now = 0;
    for (int k0 = 0; k0 < args.k; k0 += kSgemmDepth) {
        block.for_each_thread([&](int t) {
            SgemmNext next;
            sgemm_fetch(next, args, row0, col0, k0 + kSgemmDepth, t);
            sgemm_multiply(shared.slices[now], sums[t], t);
            sgemm_store(shared.slices[1 - now], next, t);
        });
        now = 1 - now;
    }
    block.for_each_thread_no_barrier([&](int t) {
        for (int i = 0; i < kSgemmEach; ++i) {
            for (int j = 0; j < kSgemmEach; ++j) {
                const int row = row0 + sgemm_own(t / kSgemmSide, i);
                const int col = col0 + sgemm_own(t % kSgemmSide, j);
                if (row < args.m && col < args.n)
                    args.c[static_cast<long>(row) * args.n + col] = sums[t].c[i][j];
            }
        }
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
