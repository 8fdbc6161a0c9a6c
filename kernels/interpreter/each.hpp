#pragma once

#include "kernels/interpreter/module.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#define CUDAMATRIX_LANES_ARE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define CUDAMATRIX_LANES_ARE_INDEPENDENT
#endif

namespace cudamatrix::suite::ptx {

/// f(lane) for each lane of `lanes`; a full warp takes a loop that compilers unroll.
template <typename F>
inline void each(Mask lanes, F f) {
    if (lanes == ~Mask{0}) {
        CUDAMATRIX_LANES_ARE_INDEPENDENT
        for (int lane = 0; lane < kLanes; ++lane)
            f(lane);
        return;
    }
    for (; lanes != 0; lanes &= lanes - 1)
        f(__builtin_ctz(lanes));
}

/// The lanes of `lanes` for which f(lane) holds.
template <typename F>
inline Mask lanes_where(Mask lanes, F f) {
    Mask result = 0;
    if (lanes == ~Mask{0}) {
        for (int lane = 0; lane < kLanes; ++lane)
            result |= static_cast<Mask>(f(lane)) << lane;
        return result;
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        result |= static_cast<Mask>(f(lane)) << lane;
    }
    return result;
}

}  // namespace cudamatrix::suite::ptx
