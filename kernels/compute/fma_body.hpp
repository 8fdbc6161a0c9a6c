#pragma once

#include <cmath>

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

inline constexpr int kFmaChains = 4;   ///< side by side in a thread's registers
inline constexpr int kFmaRounds = 32;  ///< of two steps each

/// Item i has kFmaChains starts and ends, and two factors and two addends.
template <typename T>
struct FmaArrays {
    const T* start;
    const T* factor;
    const T* addend;
    T* end;
};

struct FmaArgs {
    FmaArrays<float> f32;
    FmaArrays<double> f64;
    long n;
    RunFlag* flag;
};

CUDAMATRIX_BODY float fused(float a, float b, float c) {
    return ::fmaf(a, b, c);
}
CUDAMATRIX_BODY double fused(double a, double b, double c) {
    return ::fma(a, b, c);
}

/// `repeats`: how often the rounds are done; once, where the ends are compared.
template <typename T>
CUDAMATRIX_BODY void fma_item(const FmaArrays<T>& arrays, long i, int repeats = 1) {
    T value[kFmaChains];
    for (int c = 0; c < kFmaChains; ++c)
        value[c] = arrays.start[i * kFmaChains + c];
    const T factor[] = {arrays.factor[2 * i], arrays.factor[2 * i + 1]};
    const T addend[] = {arrays.addend[2 * i], arrays.addend[2 * i + 1]};
    for (int repeat = 0; repeat < repeats; ++repeat) {
        for (int round = 0; round < kFmaRounds; ++round) {
            for (int c = 0; c < kFmaChains; ++c)
                value[c] = fused(value[c], factor[0], addend[0]);
            for (int c = 0; c < kFmaChains; ++c)
                value[c] = fused(value[c], factor[1], addend[1]);
        }
    }
    for (int c = 0; c < kFmaChains; ++c)
        arrays.end[i * kFmaChains + c] = value[c];
}

/// Chains x = x * factor + addend, each thread striding over the items.
template <typename Block>
CUDAMATRIX_BODY void fma_body(Block& block, const FmaArgs& args) {
    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.n; i += stride) {
            fma_item(args.f32, i);
            fma_item(args.f64, i);
        }
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
