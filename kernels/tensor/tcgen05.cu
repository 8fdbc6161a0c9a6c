#include "kernels/tensor/tcgen05.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/support/test_main.hpp"
#include "kernels/tensor/blackwell.cuh"
#include "kernels/tensor/gpu_part.cuh"
#include "kernels/tensor/stages.cuh"

using namespace cudamatrix::suite;

namespace {

constexpr int kM = TensorTcgen05::kM;
constexpr int kN = TensorTcgen05::kN;
using Sizes = StageSizes<kM, kN, kTcgen05Depth, kTcgen05Stages>;

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)

__device__ void multiply_stages(const Stages<Sizes>& stages, std::uint64_t* done, std::uint32_t sums,
                                int depth) {
    Ring<Sizes> ring;
    stages.for_each(ring, depth, [&](int stage, unsigned parity, int k) {
        barrier_wait(stages.full + stage, parity);
        columns_after_barrier();
        for (int step = 0; step < kTcgen05Depth; step += TensorTcgen05::kK)
            product_start(
                sums, tensor_operand(stages.a(stage) + step, 0, Sizes::kPattern),
                tensor_operand(stages.b(stage) + step * Sizes::kPart, Sizes::kPartB * 2, Sizes::kPattern),
                bf16_product(kM, kN), k + step != 0);
        products_commit(stages.empty + stage);
    });
    products_commit(done);
}

/// A lane of tensor memory is a row, and each of four warps has a quarter of them.
__device__ void store_sums(const TensorArgs<TensorTcgen05>& args, std::uint64_t* done, std::uint32_t sums,
                           int row, int column) {
    const int thread = static_cast<int>(threadIdx.x);
    barrier_wait(done, 0);
    columns_after_barrier();
    const std::uint32_t lanes = static_cast<std::uint32_t>(thread / kWarp * kWarp) << 16;
    for (int first = 0; first < kN; first += 32) {
        std::uint32_t part[32];
        columns_load(part, sums + lanes + static_cast<std::uint32_t>(first));
        for (int i = 0; i < 32; ++i) {
            const int c = column + first + i;
            if (row + thread < args.shape.m && c < args.shape.n)
                args.c[static_cast<long>(row + thread) * args.shape.n + c] = __uint_as_float(part[i]);
        }
    }
    columns_before_barrier();
}

#endif

}  // namespace

/// Warps 0 to 3 store the sums, warp 4 starts the copies, warp 5 the products.
extern "C" __global__ void __launch_bounds__(kTcgen05Threads)
    cudamatrix_tc_tcgen05(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                          TensorArgs<TensorTcgen05> args) {
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
    extern __shared__ unsigned char memory[];
    __shared__ std::uint64_t barriers[2 * kTcgen05Stages + 1];
    __shared__ std::uint32_t columns;
    const auto stages = Stages<Sizes>::in(memory, barriers);
    std::uint64_t* done = barriers + 2 * kTcgen05Stages;  // all products have ended
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / kWarp;
    if (thread == 0) {
        for (int i = 0; i < 2 * kTcgen05Stages + 1; ++i)
            barrier_init(barriers + i, 1);
        barrier_fence();
    }
    if (warp == 0) {
        __syncwarp();
        columns_allocate(&columns, kN);
        columns_before_barrier();
    }
    __syncthreads();
    columns_after_barrier();
    const std::uint32_t sums = columns;
    const int across = (args.shape.n + kN - 1) / kN;
    const int row = static_cast<int>(blockIdx.x) / across * kM;
    const int column = static_cast<int>(blockIdx.x) % across * kN;
    if (warp == 4) {
        if (elected()) {
            map_prefetch(&a);
            map_prefetch(&b);
            Ring<Sizes> ring;
            stages.copy(ring, a, b, row, column, args.shape.k);
        }
    } else if (warp == 5) {
        if (elected()) multiply_stages(stages, done, sums, args.shape.k);
    } else {
        store_sums(args, done, sums, row, column);
    }
    __syncthreads();
    if (warp == 0) {
        columns_after_barrier();
        columns_release(sums, kN);
    }
    DeviceBlock().report_done(args.flag);
#endif
}

namespace {

bool start(GpuCall& call, const TensorArgs<TensorTcgen05>& args) {
    return launch_with_tiles<Sizes>(call, args, cudamatrix_tc_tcgen05, kTcgen05Threads);
}

Record gpu_part(const Context& context) {
    return tensor_part(context, tcgen05_inputs(), start, tcgen05_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorTcgen05::kId, gpu_part, nullptr)
