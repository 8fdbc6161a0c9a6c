#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/exec/gpu.cuh"

/// Copies of tiles by TMA and what waits for them, in one block and in a cluster, for which CUDA C++ has no
/// names (PTX ISA, "mbarrier", "cp.async.bulk.tensor", "mapa", "barrier.cluster").
namespace cudamatrix::suite {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

__device__ inline std::uint32_t shared_address(const void* at) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

__device__ inline void barrier_init(std::uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

/// What was done to mbarriers is seen by TMA, too.
__device__ inline void barrier_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void barrier_arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// At the barrier that lies there in the block of the cluster with this rank.
__device__ inline void barrier_arrive_in(std::uint64_t* barrier, unsigned rank) {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
        "r"(rank)
        : "memory");
}

/// An arrival with which the phase is complete only when `bytes` more have been copied.
__device__ inline void barrier_expect(std::uint64_t* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

/// Waits for the end of the phase with this parity.
__device__ inline void barrier_wait(std::uint64_t* barrier, unsigned parity) {
    unsigned done = 0;
    while (done == 0) {
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
    }
}

/// The same, where other blocks of the cluster arrive, too.
__device__ inline void barrier_wait_for_cluster(std::uint64_t* barrier, unsigned parity) {
    unsigned done = 0;
    while (done == 0) {
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
            "selp.b32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
    }
}

/// Starts the copy of a tile whose first element has these coordinates; column first.
__device__ inline void tile_copy(void* to, const void* map, int column, int row, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// The same into each block of the cluster whose bit is set in `blocks`, at the same place, where the barrier
/// at the same place waits for it.
__device__ inline void tile_copy_to(unsigned blocks, void* to, const void* map, int column, int row,
                                    std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(static_cast<std::uint16_t>(blocks))
        : "memory");
}

__device__ inline unsigned cluster_rank() {
    unsigned rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// A barrier of all threads of the cluster.
__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

__device__ inline void map_prefetch(const void* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// True in one lane of a whole warp.
__device__ inline bool elected() {
    unsigned result = 0;
    asm volatile(
        "{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\n"
        "selp.b32 %0, 1, 0, p;\n}"
        : "=r"(result));
    return result != 0;
}

#endif

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                 CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill);

/// The driver's function: the suite is not linked to libcuda.
inline EncodeTiled find_encode(GpuCall& call) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
    constexpr const char* kName = "cuTensorMapEncodeTiled";
#if CUDART_VERSION >= 12050
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(kName, &found, 12000, cudaEnableDefault, &answer);
#else
    const cudaError_t code = cudaGetDriverEntryPoint(kName, &found, cudaEnableDefault, &answer);
#endif
    const bool usable = code != cudaSuccess || (answer == cudaDriverEntryPointSuccess && found != nullptr);
    call.ok(usable ? code : cudaErrorSymbolNotFound, "cudaGetDriverEntryPoint(cuTensorMapEncodeTiled)");
    return reinterpret_cast<EncodeTiled>(found);
}

/// A matrix of bfloat16 that lies row by row, in tiles of `height` rows of 128 bytes, which are swizzled.
inline bool encode_tiles(GpuCall& call, CUtensorMap& map, const std::uint16_t* matrix, int rows, int columns,
                         int height) {
    const EncodeTiled function = find_encode(call);
    if (call.code != cudaSuccess) return false;
    const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t stride[] = {size[0] * sizeof(std::uint16_t)};
    const cuuint32_t box[] = {128 / sizeof(std::uint16_t), static_cast<cuuint32_t>(height)};
    const cuuint32_t step[] = {1, 1};
    auto* address = const_cast<std::uint16_t*>(matrix);  // the map itself says nothing of writing
    const CUresult code = function(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, address, size, stride, box,
                                   step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    // CUresult and cudaError_t have the same numbers.
    return call.ok(static_cast<cudaError_t>(code), "cuTensorMapEncodeTiled");
}

}  // namespace cudamatrix::suite
