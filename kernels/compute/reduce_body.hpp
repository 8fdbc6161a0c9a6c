#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceWarps = kReduceThreads / kWarp;

struct ReduceArgs {
    const float* values;
    const int* integers;
    long n;                             ///< length of both
    float* block_sums;                  ///< one for each block
    double* total;                      ///< sum of the block sums
    unsigned long long* integer_total;  ///< modulo 2^64, i.e. the int64 sum
    RunFlag* flag;
};

struct ReduceShared {
    float values[kReduceWarps];
    long long integers[kReduceWarps];
};

/// Sums of floats and of integers: per thread, then down each warp by shuffles, across warps through shared
/// memory, across blocks by atomics.
template <typename Block>
CUDAMATRIX_BODY void reduce_body(Block& block, ReduceShared& shared, const ReduceArgs& args) {
    auto value = block.template per_thread<float>();
    auto integer = block.template per_thread<long long>();
    auto moved_value = block.template per_thread<float>();
    auto moved_integer = block.template per_thread<long long>();

    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread_no_barrier([&](int t) {
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.n; i += stride) {
            value[t] += args.values[i];
            integer[t] += args.integers[i];
        }
    });
    for (int delta = kWarp / 2; delta > 0; delta /= 2) {
        block.shuffle_down(moved_value, value, delta);
        block.shuffle_down(moved_integer, integer, delta);
        block.for_each_thread_no_barrier([&](int t) {
            value[t] += moved_value[t];
            integer[t] += moved_integer[t];
        });
    }
    block.for_each_thread([&](int t) {
        if (t % kWarp != 0) return;
        shared.values[t / kWarp] = value[t];
        shared.integers[t / kWarp] = integer[t];
    });
    block.for_each_thread([&](int t) {
        if (t != 0) return;
        float block_value = 0;
        long long block_integer = 0;
        for (int w = 0; w < kReduceWarps; ++w) {
            block_value += shared.values[w];
            block_integer += shared.integers[w];
        }
        args.block_sums[block.index()] = block_value;
        block.atomic_add(args.total, static_cast<double>(block_value));
        block.atomic_add(args.integer_total, static_cast<unsigned long long>(block_integer));
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
