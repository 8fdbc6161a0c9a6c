#include "kernels/tensor/wgmma.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/support/test_main.hpp"
#include "kernels/tensor/gpu_part.cuh"
#include "kernels/tensor/hopper.cuh"

using namespace cudamatrix::suite;

namespace {

constexpr int kHalf = 64;  // columns of B in 128 bytes: what one copy brings
constexpr int kTileA = TensorWgmma::kM * kWgmmaDepth;
constexpr int kTileB = TensorWgmma::kN * kWgmmaDepth;
constexpr int kStageBytes = (kTileA + kTileB) * 2;
constexpr unsigned kPattern = 1024;  // bytes after which the swizzle repeats
constexpr int kShared = kWgmmaStages * kStageBytes + static_cast<int>(kPattern);

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A ring of stages in shared memory.
struct Stages {
    std::uint16_t* tiles;
    std::uint64_t* full;   ///< a barrier for each stage: its copies have ended
    std::uint64_t* empty;  ///< ... and it was multiplied

    __device__ std::uint16_t* a(int stage) const { return tiles + stage * (kTileA + kTileB); }
    __device__ std::uint16_t* b(int stage) const { return a(stage) + kTileA; }
};

__device__ void copy_stages(const Stages& stages, const CUtensorMap& a, const CUtensorMap& b, int row,
                            int column, int depth) {
    int stage = 0;
    unsigned round = 0;
    for (int k = 0; k < depth; k += kWgmmaDepth) {
        barrier_wait(stages.empty + stage, (round & 1U) ^ 1U);
        barrier_expect(stages.full + stage, kStageBytes);
        tile_copy(stages.a(stage), &a, k, row, stages.full + stage);
        tile_copy(stages.b(stage), &b, column, k, stages.full + stage);
        tile_copy(stages.b(stage) + kTileB / 2, &b, column + kHalf, k, stages.full + stage);
        if (++stage == kWgmmaStages) {
            stage = 0;
            ++round;
        }
    }
}

__device__ void multiply_stages(const Stages& stages, float (&sums)[64], int depth) {
    int stage = 0;
    unsigned round = 0;
    for (int k = 0; k < depth; k += kWgmmaDepth) {
        barrier_wait(stages.full + stage, round & 1U);
        products_begin();
        for (int step = 0; step < kWgmmaDepth; step += TensorWgmma::kK)
            product_64x128(sums, swizzled_matrix(stages.a(stage) + step, 0, kPattern),
                           swizzled_matrix(stages.b(stage) + step * kHalf, kTileB / 2 * 2, kPattern));
        products_commit();
        products_wait<0>();
        barrier_arrive(stages.empty + stage);
        if (++stage == kWgmmaStages) {
            stage = 0;
            ++round;
        }
    }
}

/// Where a lane has which sums: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16".
__device__ void store_sums(const TensorArgs<TensorWgmma>& args, const float (&sums)[64], int row,
                           int column) {
    const int thread = static_cast<int>(threadIdx.x);
    const int first_row = row + thread / kWarp * 16 + thread % kWarp / 4;
    const int first_column = column + thread % 4 * 2;
    for (int i = 0; i < 64; ++i) {
        const int r = first_row + i / 2 % 2 * 8;
        const int c = first_column + i / 4 * 8 + i % 2;
        if (r < args.shape.m && c < args.shape.n) args.c[static_cast<long>(r) * args.shape.n + c] = sums[i];
    }
}

#endif

}  // namespace

/// Four warps multiply, a fifth one starts the copies.
extern "C" __global__ void __launch_bounds__(kWgmmaThreads)
    cudamatrix_tc_wgmma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        TensorArgs<TensorWgmma> args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ unsigned char memory[];
    __shared__ std::uint64_t barriers[2 * kWgmmaStages];
    unsigned char* tiles = memory + (kPattern - shared_address(memory) % kPattern) % kPattern;
    const Stages stages{reinterpret_cast<std::uint16_t*>(tiles), barriers, barriers + kWgmmaStages};
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) {
        for (int stage = 0; stage < kWgmmaStages; ++stage) {
            barrier_init(stages.full + stage, 1);
            barrier_init(stages.empty + stage, kWgmmaConsumers);
        }
        barrier_fence();
    }
    __syncthreads();
    const int across = (args.shape.n + TensorWgmma::kN - 1) / TensorWgmma::kN;
    const int row = static_cast<int>(blockIdx.x) / across * TensorWgmma::kM;
    const int column = static_cast<int>(blockIdx.x) % across * TensorWgmma::kN;
    if (thread >= kWgmmaConsumers) {
        if (elected()) {
            map_prefetch(&a);
            map_prefetch(&b);
            copy_stages(stages, a, b, row, column, args.shape.k);
        }
    } else {
        float sums[64] = {};
        multiply_stages(stages, sums, args.shape.k);
        store_sums(args, sums, row, column);
    }
    DeviceBlock().report_done(args.flag);
#endif
}

namespace {

bool start(GpuCall& call, const TensorArgs<TensorWgmma>& args) {
    CUtensorMap map_a{};
    CUtensorMap map_b{};
    if (!encode_tiles(call, map_a, args.a, args.shape.m, args.shape.k, TensorWgmma::kM) ||
        !encode_tiles(call, map_b, args.b, args.shape.k, args.shape.n, kWgmmaDepth) ||
        !call.ok(
            cudaFuncSetAttribute(cudamatrix_tc_wgmma, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
            "cudaFuncSetAttribute"))
        return false;
    cudamatrix_tc_wgmma<<<tensor_blocks<TensorWgmma>(args.shape), kWgmmaThreads, kShared>>>(map_a, map_b,
                                                                                            args);
    return finished(call);
}

Record gpu_part(const Context& context) {
    return tensor_part(context, wgmma_inputs(), start, wgmma_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorWgmma::kId, gpu_part, nullptr)
