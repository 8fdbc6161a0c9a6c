#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

/// Passes 2k and 2k + 1 are a pattern and its complement: each bit is held as 0 and as 1.
inline constexpr int kWalkingPasses = 64;  ///< one bit of 32 set, in each position
inline constexpr int kAddressPass = kWalkingPasses;
inline constexpr int kRandomPass = kAddressPass + 2;
inline constexpr int kPatternPasses = kRandomPass + 2;

/// What one thread found, over all passes.
struct PatternTally {
    unsigned long long checked;
    unsigned long long wrong;
    unsigned long long first;  ///< index of the first wrong word, where there is one
    unsigned found;            ///< what it held
    int pass;                  ///< in which pass
};

struct PatternArgs {
    unsigned* words;
    unsigned long long n;
    unsigned long long key;  ///< of the random words
    PatternTally* tallies;   ///< one for each thread of the grid
    RunFlag* flag;
};

/// Number i of Philox4x32-10: Philox::bits of kernels/support/philox.hpp, in what a kernel may call.
CUDAMATRIX_BODY unsigned pattern_random(unsigned long long key, unsigned long long i) {
    const unsigned long long counter = i / 4;
    auto c0 = static_cast<unsigned>(counter);
    auto c1 = static_cast<unsigned>(counter >> 32);
    unsigned c2 = 0;
    unsigned c3 = 0;
    auto k0 = static_cast<unsigned>(key);
    auto k1 = static_cast<unsigned>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xD2511F53ULL * c0;
        const unsigned long long b = 0xCD9E8D57ULL * c2;
        c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ k0;
        c1 = static_cast<unsigned>(b);
        c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ k1;
        c3 = static_cast<unsigned>(a);
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    const unsigned low = (i & 1U) != 0 ? c1 : c0;
    const unsigned high = (i & 1U) != 0 ? c3 : c2;
    return (i & 2U) != 0 ? high : low;
}

/// Word i of a pass.
CUDAMATRIX_BODY unsigned pattern_word(int pass, unsigned long long key, unsigned long long i) {
    unsigned word = 0;
    if (pass < kWalkingPasses) {
        word = 1U << ((static_cast<unsigned>(i) + static_cast<unsigned>(pass) / 2) % 32);
    } else if (pass < kRandomPass) {
        word = static_cast<unsigned>(i);  // no two are the same within 16 GiB
    } else {
        word = pattern_random(key, i);
    }
    return pass % 2 == 0 ? word : ~word;
}

/// Writes the words of a pass, each thread striding over the grid.
template <typename Block>
CUDAMATRIX_BODY void pattern_write_body(Block& block, const PatternArgs& args, int pass) {
    const unsigned long long stride = static_cast<unsigned long long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        const unsigned long long first = static_cast<unsigned long long>(block.index()) * block.threads() + t;
        for (unsigned long long i = first; i < args.n; i += stride)
            args.words[i] = pattern_word(pass, args.key, i);
    });
    block.report_done(args.flag);
}

/// Reads them back; another thread than the one that wrote a word compares it.
template <typename Block>
CUDAMATRIX_BODY void pattern_verify_body(Block& block, const PatternArgs& args, int pass) {
    const unsigned long long stride = static_cast<unsigned long long>(block.count()) * block.threads();
    block.for_each_thread([&](int t) {
        const unsigned long long mine = static_cast<unsigned long long>(block.index()) * block.threads() + t;
        PatternTally tally = args.tallies[mine];
        for (unsigned long long i = stride - 1 - mine; i < args.n; i += stride) {
            const unsigned found = args.words[i];
            tally.checked += 1;
            if (found == pattern_word(pass, args.key, i)) continue;
            if (tally.wrong == 0) {
                tally.first = i;
                tally.found = found;
                tally.pass = pass;
            }
            tally.wrong += 1;
        }
        args.tallies[mine] = tally;
    });
    block.report_done(args.flag);
}

}  // namespace cudamatrix::suite
