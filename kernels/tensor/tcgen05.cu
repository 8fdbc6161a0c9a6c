#include "kernels/tensor/tcgen05.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/support/test_main.hpp"
#include "kernels/tensor/blackwell.cuh"
#include "kernels/tensor/gpu_part.cuh"

using namespace cudamatrix::suite;

namespace {

constexpr int kM = TensorTcgen05::kM;
constexpr int kN = TensorTcgen05::kN;
constexpr int kDepth = kTcgen05Depth;
constexpr int kHalf = 64;  // columns of B in 128 bytes: what one copy brings
constexpr int kTileA = kM * kDepth;
constexpr int kTileB = kN * kDepth;
constexpr int kStageBytes = (kTileA + kTileB) * 2;
constexpr unsigned kPattern = 1024;  // bytes after which the swizzle repeats
constexpr int kShared = kTcgen05Stages * kStageBytes + static_cast<int>(kPattern);

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)

/// A ring of stages in shared memory.
struct Stages {
    std::uint16_t* tiles;
    std::uint64_t* full;   ///< a barrier for each stage: its copies have ended
    std::uint64_t* empty;  ///< ... and it was multiplied
    std::uint64_t* done;   ///< all products have ended

    __device__ std::uint16_t* a(int stage) const { return tiles + stage * (kTileA + kTileB); }
    __device__ std::uint16_t* b(int stage) const { return a(stage) + kTileA; }
};

__device__ void copy_stages(const Stages& stages, const CUtensorMap& a, const CUtensorMap& b, int row,
                            int column, int depth) {
    int stage = 0;
    unsigned round = 0;
    for (int k = 0; k < depth; k += kDepth) {
        barrier_wait(stages.empty + stage, (round & 1U) ^ 1U);
        barrier_expect(stages.full + stage, kStageBytes);
        tile_copy(stages.a(stage), &a, k, row, stages.full + stage);
        tile_copy(stages.b(stage), &b, column, k, stages.full + stage);
        tile_copy(stages.b(stage) + kTileB / 2, &b, column + kHalf, k, stages.full + stage);
        if (++stage == kTcgen05Stages) {
            stage = 0;
            ++round;
        }
    }
}

__device__ void multiply_stages(const Stages& stages, std::uint32_t sums, int depth) {
    int stage = 0;
    unsigned round = 0;
    for (int k = 0; k < depth; k += kDepth) {
        barrier_wait(stages.full + stage, round & 1U);
        columns_after_barrier();
        for (int step = 0; step < kDepth; step += TensorTcgen05::kK)
            product_start(sums, tensor_operand(stages.a(stage) + step, 0, kPattern),
                          tensor_operand(stages.b(stage) + step * kHalf, kTileB / 2 * 2, kPattern),
                          bf16_product(kM, kN), k + step != 0);
        products_commit(stages.empty + stage);
        if (++stage == kTcgen05Stages) {
            stage = 0;
            ++round;
        }
    }
    products_commit(stages.done);
}

/// A lane of tensor memory is a row, and each of four warps has a quarter of them.
__device__ void store_sums(const TensorArgs<TensorTcgen05>& args, const Stages& stages, std::uint32_t sums,
                           int row, int column) {
    const int thread = static_cast<int>(threadIdx.x);
    barrier_wait(stages.done, 0);
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
    unsigned char* tiles = memory + (kPattern - shared_address(memory) % kPattern) % kPattern;
    const Stages stages{reinterpret_cast<std::uint16_t*>(tiles), barriers, barriers + kTcgen05Stages,
                        barriers + 2 * kTcgen05Stages};
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
        if (elected()) copy_stages(stages, a, b, row, column, args.shape.k);
    } else if (warp == 5) {
        if (elected()) multiply_stages(stages, sums, args.shape.k);
    } else {
        store_sums(args, stages, sums, row, column);
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
    CUtensorMap map_a{};
    CUtensorMap map_b{};
    if (!encode_tiles(call, map_a, args.a, args.shape.m, args.shape.k, kM) ||
        !encode_tiles(call, map_b, args.b, args.shape.k, args.shape.n, kDepth) ||
        !call.ok(
            cudaFuncSetAttribute(cudamatrix_tc_tcgen05, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
            "cudaFuncSetAttribute"))
        return false;
    cudamatrix_tc_tcgen05<<<tensor_blocks<TensorTcgen05>(args.shape), kTcgen05Threads, kShared>>>(
        map_a, map_b, args);
    return finished(call);
}

Record gpu_part(const Context& context) {
    return tensor_part(context, tcgen05_inputs(), start, tcgen05_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorTcgen05::kId, gpu_part, nullptr)
