#pragma once

#include "kernels/tensor/product.hpp"
#include "kernels/tensor/tma.cuh"

/// A ring of stages in shared memory: TMA fills them with tiles of A and B, and they are multiplied.
namespace cudamatrix::suite {

/// A is M x K, B is K x N, of bfloat16, row by row. A stage has `Depth` of K: 64, which are 128 bytes.
template <int M, int N, int Depth, int Count>
struct StageSizes {
    static constexpr int kM = M;
    static constexpr int kN = N;
    static constexpr int kDepth = Depth;
    static constexpr int kCount = Count;
    static constexpr int kHalf = 64;  ///< columns of B in 128 bytes: what one copy brings
    static constexpr int kTileA = M * Depth;
    static constexpr int kTileB = N * Depth;
    static constexpr int kBytes = (kTileA + kTileB) * 2;  ///< of one stage
    static constexpr unsigned kPattern = 1024;            ///< bytes after which the swizzle repeats
    static constexpr int kShared = Count * kBytes + static_cast<int>(kPattern);
    static_assert(Depth == 64 && N == 2 * kHalf, "a row of A is one swizzled line, one of B two");
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

template <class Sizes>
struct Stages {
    std::uint16_t* tiles;
    std::uint64_t* full;   ///< a barrier for each stage: its copies have ended
    std::uint64_t* empty;  ///< ... and it was multiplied

    /// In kShared bytes, of which the first may not be used; two barriers for each stage.
    __device__ static Stages in(unsigned char* memory, std::uint64_t* barriers) {
        const unsigned beyond = shared_address(memory) % Sizes::kPattern;
        unsigned char* tiles = memory + (Sizes::kPattern - beyond) % Sizes::kPattern;
        return {reinterpret_cast<std::uint16_t*>(tiles), barriers, barriers + Sizes::kCount};
    }
    __device__ std::uint16_t* a(int stage) const { return tiles + stage * (Sizes::kTileA + Sizes::kTileB); }
    __device__ std::uint16_t* b(int stage) const { return a(stage) + Sizes::kTileA; }

    /// visit(stage, parity of its phase, k) for each step along K.
    template <typename Visit>
    __device__ static void for_each(int depth, Visit visit) {
        int stage = 0;
        unsigned parity = 0;
        for (int k = 0; k < depth; k += Sizes::kDepth) {
            visit(stage, parity, k);
            if (++stage == Sizes::kCount) {
                stage = 0;
                parity ^= 1U;
            }
        }
    }

    /// By one thread: fills the stages as they become empty.
    __device__ void copy(const CUtensorMap& map_a, const CUtensorMap& map_b, int row, int column,
                         int depth) const {
        map_prefetch(&map_a);
        map_prefetch(&map_b);
        for_each(depth, [&](int stage, unsigned parity, int k) {
            barrier_wait(empty + stage, parity ^ 1U);
            barrier_expect(full + stage, Sizes::kBytes);
            tile_copy(a(stage), &map_a, k, row, full + stage);
            tile_copy(b(stage), &map_b, column, k, full + stage);
            tile_copy(b(stage) + Sizes::kTileB / 2, &map_b, column + Sizes::kHalf, k, full + stage);
        });
    }
};

#endif

/// Starts a kernel that multiplies so, a block for each tile of C, and waits for its end.
template <class Sizes, class Format>
bool launch_with_tiles(GpuCall& call, const TensorArgs<Format>& args,
                       void (*kernel)(CUtensorMap, CUtensorMap, TensorArgs<Format>), int threads) {
    CUtensorMap map_a{};
    CUtensorMap map_b{};
    if (!encode_tiles(call, map_a, args.a, args.shape.m, args.shape.k, Sizes::kM) ||
        !encode_tiles(call, map_b, args.b, args.shape.k, args.shape.n, Sizes::kDepth) ||
        !call.ok(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Sizes::kShared),
                 "cudaFuncSetAttribute"))
        return false;
    kernel<<<tensor_blocks<Format>(args.shape), threads, Sizes::kShared>>>(map_a, map_b, args);
    return finished(call);
}

}  // namespace cudamatrix::suite
