#include "kernels/tensor/wgmma.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/support/test_main.hpp"
#include "kernels/tensor/gpu_part.cuh"
#include "kernels/tensor/hopper.cuh"
#include "kernels/tensor/stages.cuh"

using namespace cudamatrix::suite;

namespace {

using Sizes = StageSizes<TensorWgmma::kM, TensorWgmma::kN, kWgmmaDepth, kWgmmaStages, kWgmmaBlocks>;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

constexpr int kGroupRows = TensorWgmma::kM / kWgmmaConsumers;
constexpr int kSums = TensorWgmma::kN / 2;  ///< of a thread
// Registers of a thread: nvcc gives three groups the most that a block of 65536 has for each. Who only starts
// copies gives 128 of them back, for 64 more in each of the others.
constexpr int kRegisters = 168;
constexpr int kCopyRegisters = 40;
constexpr int kProductRegisters = 232;
static_assert(kCopyRegisters + kWgmmaConsumers * kProductRegisters == (kWgmmaConsumers + 1) * kRegisters,
              "what one has more, others must have given back");

/// f(tile) for each of this block's.
template <typename F>
__device__ void walk(const TensorShape& shape, F f) {
    const WgmmaTiles tiles = wgmma_tiles(shape);
    const int rank = static_cast<int>(cluster_rank());
    const int clusters = static_cast<int>(gridDim.x) / kWgmmaBlocks;
    for (int number = static_cast<int>(blockIdx.x) / kWgmmaBlocks; number < tiles.count(); number += clusters)
        f(wgmma_tile(tiles, number, rank));
}

/// By one group: its 64 rows of a tile. One stage's products are under way while the next one's are started.
__device__ void multiply_stages(const Stages<Sizes>& stages, Ring<Sizes>& ring, float (&sums)[kSums],
                                int depth) {
    const unsigned thread = threadIdx.x % kWgmmaGroup;
    const unsigned first = threadIdx.x / kWgmmaGroup * (kGroupRows * kWgmmaDepth);  // of A
    int multiplied = -1;
    const auto release = [&](int stage) {
        // Other blocks fill this one's stages, too: each has to know.
        if (stage >= 0 && thread < kWgmmaBlocks) barrier_arrive_in(stages.empty + stage, thread);
    };
    stages.for_each(ring, depth, [&](int stage, unsigned parity, int) {
        barrier_wait(stages.full + stage, parity);
        products_begin();
        for (int step = 0; step < kWgmmaDepth; step += TensorWgmma::kK)
            product_64x256(
                sums, swizzled_matrix(stages.a(stage) + first + step, 0, Sizes::kPattern),
                swizzled_matrix(stages.b(stage) + step * Sizes::kPart, Sizes::kPartB * 2, Sizes::kPattern));
        products_commit();
        products_wait<1>();
        release(multiplied);
        multiplied = stage;
    });
    products_wait<0>();
    release(multiplied);
}

/// Where a lane has which sums: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16". N is even, so
/// that pairs are whole and aligned.
__device__ void store_sums(const TensorArgs<TensorWgmma>& args, const float (&sums)[kSums],
                           const WgmmaTile& tile) {
    const int thread = static_cast<int>(threadIdx.x);
    const int first_row = tile.row + thread / kWarp * 16 + thread % kWarp / 4;
    const int first_column = tile.column + thread % 4 * 2;
    for (int i = 0; i < kSums; i += 2) {
        const int r = first_row + i / 2 % 2 * 8;
        const int c = first_column + i / 4 * 8;
        if (r < args.shape.m && c < args.shape.n)
            *reinterpret_cast<float2*>(args.c + static_cast<long>(r) * args.shape.n + c) = {sums[i],
                                                                                            sums[i + 1]};
    }
}

__device__ unsigned multiply_tiles(const Stages<Sizes>& stages, const TensorArgs<TensorWgmma>& args) {
    Ring<Sizes> ring;
    unsigned tiles = 0;
    walk(args.shape, [&](const WgmmaTile& tile) {
        float sums[kSums] = {};
        multiply_stages(stages, ring, sums, args.shape.k);
        store_sums(args, sums, tile);
        ++tiles;
    });
    return tiles;
}

/// By one thread.
__device__ void copy_tiles(const Stages<Sizes>& stages, const CUtensorMap& a, const CUtensorMap& b,
                           const TensorShape& shape) {
    map_prefetch(&a);
    map_prefetch(&b);
    Ring<Sizes> ring;
    walk(shape, [&](const WgmmaTile& tile) { stages.copy(ring, a, b, tile.row, tile.column, shape.k); });
}

#endif

}  // namespace

/// Two groups of four warps multiply, a third one starts the copies.
extern "C" __global__ void __launch_bounds__(kWgmmaThreads, 1)
    cudamatrix_tc_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        TensorArgs<TensorWgmma> args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ unsigned char memory[];
    __shared__ std::uint64_t barriers[2 * kWgmmaStages];
    const auto stages = Stages<Sizes>::in(memory, barriers);
    const unsigned thread = threadIdx.x;
    if (thread == 0) {
        for (int stage = 0; stage < kWgmmaStages; ++stage) {
            barrier_init(stages.full + stage, 1);
            barrier_init(stages.empty + stage, kWgmmaBlocks * kWgmmaConsumers);
        }
        barrier_fence();
    }
    cluster_sync();  // nobody arrives at, or copies to, what is not there
    unsigned tiles = 0;
    if (thread >= kWgmmaConsumers * kWgmmaGroup) {
        registers_give_back<kCopyRegisters>();
        if (thread < kWgmmaConsumers * kWgmmaGroup + kWarp && elected()) copy_tiles(stages, a, b, args.shape);
    } else {
        registers_take<kProductRegisters>();
        tiles = multiply_tiles(stages, args);
    }
    cluster_sync();  // ... or is not there any more
    DeviceBlock().report_done(args.flag, tiles);
#endif
}

namespace {

bool start(GpuCall& call, const TensorArgs<TensorWgmma>& args) {
    return launch_with_clusters<Sizes>(call, args, cudamatrix_tc_wgmma, kWgmmaThreads, kWgmmaClusters);
}

Record gpu_part(const Context& context) {
    return tensor_part(context, wgmma_inputs(), start, wgmma_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorWgmma::kId, gpu_part, nullptr)
