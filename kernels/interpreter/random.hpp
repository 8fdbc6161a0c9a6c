#pragma once

#include <cstdint>

#include "kernels/interpreter/launch.hpp"

namespace cudamatrix::suite::ptx {

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators").
class Random {
  public:
    /// `number`: of what is interleaved by it.
    void seed(const Launch& launch, std::uint64_t number) {
        state_ = launch.options.seed * 0x9e3779b97f4a7c15ULL + launch.schedule * 0xbf58476d1ce4e5b9ULL +
                 number + 1;
    }
    /// 32 bits.
    std::uint64_t next() {
        if (state_ == 0) state_ = 1;
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1dULL >> 32;
    }

  private:
    std::uint64_t state_ = 1;
};

}  // namespace cudamatrix::suite::ptx
