#pragma once

#include "kernels/compute/sgemm_body.hpp"
#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

/// A part of the grid that takes itself for the whole: as many blocks as one product needs.
template <typename Block>
class BlockOfCopy {
  public:
    CUDAMATRIX_BODY BlockOfCopy(Block& block, int blocks) : block_(block), blocks_(blocks) {}

    CUDAMATRIX_BODY int index() const { return block_.index() % blocks_; }
    CUDAMATRIX_BODY int count() const { return blocks_; }
    CUDAMATRIX_BODY int threads() const { return block_.threads(); }
    template <typename Phase>
    CUDAMATRIX_BODY void for_each_thread(Phase phase) {
        block_.for_each_thread(phase);
    }
    template <typename Phase>
    CUDAMATRIX_BODY void for_each_thread_no_barrier(Phase phase) {
        block_.for_each_thread_no_barrier(phase);
    }
    template <typename T>
    CUDAMATRIX_BODY auto per_thread() const {
        return block_.template per_thread<T>();
    }
    CUDAMATRIX_BODY void report_done(RunFlag* flag) const { block_.report_done(flag); }

  private:
    Block& block_;
    int blocks_;
};

/// The same product again and again, to `c` and every `words` behind it.
template <typename Block>
CUDAMATRIX_BODY void sustained_product_body(Block& block, SgemmShared& shared, const SgemmArgs& args,
                                            int blocks) {
    SgemmArgs mine = args;
    mine.c = args.c + static_cast<long>(block.index() / blocks) * args.m * args.n;
    BlockOfCopy<Block> part(block, blocks);
    sgemm_body(part, shared, mine);
}

/// Of all comparisons of a round.
struct SustainedTally {
    unsigned long long compared = 0;
    unsigned long long wrong = 0;
};

struct SustainedArgs {
    const unsigned* results;  ///< of all copies
    const unsigned* first;    ///< of the first copy of the first round
    long words;               ///< of one copy
    long all;                 ///< of all of them
    SustainedTally* tally;
    RunFlag* flag;
};

/// Compares each word of each copy with the first round's, bit by bit.
template <typename Block>
CUDAMATRIX_BODY void sustained_compare_body(Block& block, const SustainedArgs& args) {
    const long stride = static_cast<long>(block.count()) * block.threads();
    block.for_each_thread_no_barrier([&](int t) {
        unsigned long long compared = 0;
        unsigned long long wrong = 0;
        for (long i = static_cast<long>(block.index()) * block.threads() + t; i < args.all; i += stride) {
            compared += 1;
            if (args.results[i] != args.first[i % args.words]) wrong += 1;
        }
        block.atomic_add(&args.tally->compared, compared);
        if (wrong != 0) block.atomic_add(&args.tally->wrong, wrong);
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
