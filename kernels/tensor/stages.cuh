#pragma once

#include <algorithm>

#include "kernels/tensor/product.hpp"
#include "kernels/tensor/tma.cuh"

/// A ring of stages in shared memory: TMA fills them with tiles of A and B, and they are multiplied. The
/// blocks of a cluster have different tiles of A and the same one of B, of which each brings its part to all.
namespace cudamatrix::suite {

/// A is M x K, B is K x N, of bfloat16, row by row. A stage has `Depth` of K: 64, which are 128 bytes.
template <int M, int N, int Depth, int Count, int Blocks = 1>
struct StageSizes {
    static constexpr int kM = M;
    static constexpr int kN = N;
    static constexpr int kDepth = Depth;
    static constexpr int kCount = Count;
    static constexpr int kBlocks = Blocks;  ///< of a cluster
    static constexpr int kPart = 64;        ///< columns of B in 128 bytes: what one copy brings
    static constexpr int kPartB = kPart * Depth;
    static constexpr int kTileA = M * Depth;
    static constexpr int kTileB = N * Depth;
    static constexpr int kBytes = (kTileA + kTileB) * 2;  ///< of one stage
    static constexpr unsigned kPattern = 1024;            ///< bytes after which the swizzle repeats
    static constexpr int kShared = Count * kBytes + static_cast<int>(kPattern);
    static_assert(Depth == 64 && N % (Blocks * kPart) == 0, "a row of A is one swizzled line, one of B some");
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// Which stage is next, and the parity of its phase. It goes on from tile to tile.
template <class Sizes>
struct Ring {
    int stage = 0;
    unsigned parity = 0;

    __device__ void advance() {
        if (++stage < Sizes::kCount) return;
        stage = 0;
        parity ^= 1U;
    }
};

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
    __device__ static void for_each(Ring<Sizes>& ring, int depth, Visit visit) {
        for (int k = 0; k < depth; k += Sizes::kDepth) {
            visit(ring.stage, ring.parity, k);
            ring.advance();
        }
    }

    /// By one thread: fills the stages for one tile of C as they become empty, in all blocks of the cluster.
    __device__ void copy(Ring<Sizes>& ring, const CUtensorMap& map_a, const CUtensorMap& map_b, int row,
                         int column, int depth) const {
        for_each(ring, depth, [&](int stage, unsigned parity, int k) {
            if constexpr (Sizes::kBlocks == 1) {
                barrier_wait(empty + stage, parity ^ 1U);
            } else {
                barrier_wait_for_cluster(empty + stage, parity ^ 1U);
            }
            barrier_expect(full + stage, Sizes::kBytes);
            tile_copy(a(stage), &map_a, k, row, full + stage);
            copy_b(map_b, column, k, stage);
        });
    }

  private:
    __device__ void copy_b(const CUtensorMap& map, int column, int k, int stage) const {
        constexpr int kParts = Sizes::kN / Sizes::kPart / Sizes::kBlocks;
        const int first = Sizes::kBlocks == 1 ? 0 : static_cast<int>(cluster_rank()) * kParts;
        for (int part = first; part < first + kParts; ++part) {
            std::uint16_t* to = b(stage) + part * Sizes::kPartB;
            if constexpr (Sizes::kBlocks == 1) {
                tile_copy(to, &map, column + part * Sizes::kPart, k, full + stage);
            } else {
                tile_copy_to((1U << Sizes::kBlocks) - 1, to, &map, column + part * Sizes::kPart, k,
                             full + stage);
            }
        }
    }
};

#endif

template <class Format>
using TileKernel = void (*)(CUtensorMap, CUtensorMap, TensorArgs<Format>);

/// The tensor maps of A and B, and a kernel's leave to use as much shared memory.
template <class Sizes, class Format>
bool prepare_tiles(GpuCall& call, const TensorArgs<Format>& args, TileKernel<Format> kernel,
                   CUtensorMap& map_a, CUtensorMap& map_b) {
    return encode_tiles(call, map_a, args.a, args.shape.m, args.shape.k, Sizes::kM) &&
           encode_tiles(call, map_b, args.b, args.shape.k, args.shape.n, Sizes::kDepth) &&
           call.ok(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Sizes::kShared),
                   "cudaFuncSetAttribute");
}

/// Starts a kernel that multiplies so, a block for each tile of C, and waits for its end.
template <class Sizes, class Format>
bool launch_with_tiles(GpuCall& call, const TensorArgs<Format>& args, TileKernel<Format> kernel,
                       int threads) {
    CUtensorMap map_a{};
    CUtensorMap map_b{};
    if (!prepare_tiles<Sizes>(call, args, kernel, map_a, map_b)) return false;
    kernel<<<tensor_blocks<Format>(args.shape), threads, Sizes::kShared>>>(map_a, map_b, args);
    return finished(call);
}

/// The same in at most `most` clusters, and in no more than the GPU runs at once: each walks over its tiles.
template <class Sizes, class Format>
bool launch_with_clusters(GpuCall& call, const TensorArgs<Format>& args, TileKernel<Format> kernel,
                          int threads, int most) {
    CUtensorMap map_a{};
    CUtensorMap map_b{};
    if (!prepare_tiles<Sizes>(call, args, kernel, map_a, map_b)) return false;
    const int tiles = tensor_blocks<Format>(args.shape);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = Sizes::kBlocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned>(tiles));
    configuration.blockDim = dim3(static_cast<unsigned>(threads));
    configuration.dynamicSmemBytes = Sizes::kShared;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    int clusters = 0;
    if (!call.ok(cudaOccupancyMaxActiveClusters(&clusters, kernel, &configuration),
                 "cudaOccupancyMaxActiveClusters"))
        return false;
    // Where none fits, the launch says so.
    const int blocks = std::min(tiles, std::clamp(clusters, 1, most) * Sizes::kBlocks);
    configuration.gridDim = dim3(static_cast<unsigned>(blocks));
    return call.ok(cudaLaunchKernelEx(&configuration, kernel, map_a, map_b, args), "cudaLaunchKernelEx") &&
           finished(call);
}

}  // namespace cudamatrix::suite
