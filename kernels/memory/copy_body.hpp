#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

/// What one thread moves at once: a vector load and a vector store.
struct alignas(16) Word128 {
    unsigned x;
    unsigned y;
    unsigned z;
    unsigned w;
};

struct CopyArgs {
    const Word128* from;
    Word128* to;
    long bytes;
    RunFlag* flag;
};

/// Copies words of 128 bits, each thread striding over the grid, then the bytes that are no whole word.
template <typename Block>
CUDAMATRIX_BODY void copy_body(Block& block, const CopyArgs& args) {
    constexpr long kWordBytes = sizeof(Word128);
    const long stride = static_cast<long>(block.count()) * block.threads();
    const long words = args.bytes / kWordBytes;
    block.for_each_thread([&](int t) {
        const long first = static_cast<long>(block.index()) * block.threads() + t;
        for (long i = first; i < words; i += stride)
            args.to[i] = args.from[i];
        const auto* from = reinterpret_cast<const unsigned char*>(args.from);
        auto* to = reinterpret_cast<unsigned char*>(args.to);
        for (long i = words * kWordBytes + first; i < args.bytes; i += stride)
            to[i] = from[i];
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
