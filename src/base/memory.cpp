#include "base/memory.hpp"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace cudamatrix {

void give_large_blocks_back() {
#ifdef M_MMAP_THRESHOLD
    constexpr int kLarge = 1 << 20;
    // Set once, they no longer follow the largest block that was freed (mallopt(3)).
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLarge));
    static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kLarge));
#endif
}

}  // namespace cudamatrix
