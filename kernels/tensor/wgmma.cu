#include "kernels/tensor/wgmma.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/support/test_main.hpp"
#include "kernels/tensor/gpu_part.cuh"
#include "kernels/tensor/hopper.cuh"
#include "kernels/tensor/stages.cuh"

using namespace cudamatrix::suite;

namespace {

using Sizes = StageSizes<TensorWgmma::kM, TensorWgmma::kN, kWgmmaDepth, kWgmmaStages>;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ void multiply_stages(const Stages<Sizes>& stages, float (&sums)[64], int depth) {
    stages.for_each(depth, [&](int stage, unsigned parity, int) {
        barrier_wait(stages.full + stage, parity);
        products_begin();
        for (int step = 0; step < kWgmmaDepth; step += TensorWgmma::kK)
            product_64x128(sums, swizzled_matrix(stages.a(stage) + step, 0, Sizes::kPattern),
                           swizzled_matrix(stages.b(stage) + step * Sizes::kHalf, Sizes::kTileB / 2 * 2,
                                           Sizes::kPattern));
        products_commit();
        products_wait<0>();
        barrier_arrive(stages.empty + stage);
    });
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
    const auto stages = Stages<Sizes>::in(memory, barriers);
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
        if (elected()) stages.copy(a, b, row, column, args.shape.k);
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
    return launch_with_tiles<Sizes>(call, args, cudamatrix_tc_wgmma, kWgmmaThreads);
}

Record gpu_part(const Context& context) {
    return tensor_part(context, wgmma_inputs(), start, wgmma_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorWgmma::kId, gpu_part, nullptr)
