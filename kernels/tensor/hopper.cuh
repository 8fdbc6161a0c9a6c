#pragma once

#include <cstdint>

/// Instructions of compute capability 9.0a that CUDA C++ has no names for (PTX ISA, "mbarrier",
/// "cp.async.bulk.tensor", "wgmma").
namespace cudamatrix::suite {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

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

/// Starts the copy of a tile whose first element has these coordinates; column first.
__device__ inline void tile_copy(void* to, const void* map, int column, int row, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
        : "memory");
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

/// What describes a matrix in shared memory that TMA has swizzled by 128 bytes. `leading`, `stride`: bytes
/// from one repetition of the pattern to the next (PTX ISA, "Matrix Descriptor Format").
__device__ inline std::uint64_t swizzled_matrix(const void* at, unsigned leading, unsigned stride) {
    constexpr std::uint64_t kSwizzle128 = 1;
    return (shared_address(at) & 0x3ffffU) >> 4 | static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | kSwizzle128 << 62;
}

__device__ inline void products_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void products_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// All but the last `Pending` groups have ended.
template <int Pending>
__device__ inline void products_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

#define CUDAMATRIX_SUMS8(i)                                                                     \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
        "+f"(d[i + 6]), "+f"(d[i + 7])

/// 64 x 128 sums over 16 of K; A lies row by row (K-major), B too (N-major), hence the last operand.
__device__ inline void product_64x128(float (&d)[64], std::uint64_t a, std::uint64_t b) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
        "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
        "%59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 1;\n}"
        : CUDAMATRIX_SUMS8(0), CUDAMATRIX_SUMS8(8), CUDAMATRIX_SUMS8(16), CUDAMATRIX_SUMS8(24),
          CUDAMATRIX_SUMS8(32), CUDAMATRIX_SUMS8(40), CUDAMATRIX_SUMS8(48), CUDAMATRIX_SUMS8(56)
        : "l"(a), "l"(b));
}

#undef CUDAMATRIX_SUMS8

#endif

}  // namespace cudamatrix::suite
