#pragma once

#include "kernels/tensor/tma.cuh"

/// Products in tensor memory on 10.0a (PTX ISA, "TensorCore 5th Generation Family Instructions").
namespace cudamatrix::suite {

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)

/// Columns of tensor memory; their address comes to shared memory. By a whole warp, as all that says .sync.
__device__ inline void columns_allocate(std::uint32_t* address, unsigned count) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(address)),
        "r"(count)
        : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
__device__ inline void columns_release(std::uint32_t address, unsigned count) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(count)
                 : "memory");
}

/// Around a barrier, or behind a wait, through which one thread knows what another did in tensor memory.
__device__ inline void columns_before_barrier() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ inline void columns_after_barrier() {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// A matrix in shared memory that TMA has swizzled by 128 bytes. `leading`, `stride`: bytes from one
/// repetition of the pattern to the next (PTX ISA, "Shared Memory Descriptor").
__device__ inline std::uint64_t tensor_operand(const void* at, unsigned leading, unsigned stride) {
    constexpr std::uint64_t kVersion = 1;
    constexpr std::uint64_t kSwizzle128 = 2;
    return (shared_address(at) & 0x3ffffU) >> 4 | static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | kVersion << 46 | kSwizzle128 << 61;
}

/// m x n sums over 16 of K in float32; A lies row by row (K-major), B too (N-major).
__device__ constexpr std::uint32_t bf16_product(int m, int n) {
    return 1U << 4 | 1U << 7 | 1U << 10 | 1U << 16 | static_cast<std::uint32_t>(n / 8) << 17 |
           static_cast<std::uint32_t>(m / 16) << 24;
}

/// By one thread. `adds`: to what is there.
__device__ inline void product_start(std::uint32_t sums, std::uint64_t a, std::uint64_t b,
                                     std::uint32_t instruction, bool adds) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}" ::"r"(sums),
        "l"(a), "l"(b), "r"(instruction), "r"(adds ? 1 : 0)
        : "memory");
}
/// What the thread has started arrives at the barrier when it has ended.
__device__ inline void products_commit(std::uint64_t* barrier) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

/// 32 columns of the warp's lanes.
__device__ inline void columns_load(std::uint32_t (&to)[32], std::uint32_t address) {
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n"
        "tcgen05.wait::ld.sync.aligned;"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]), "=r"(to[4]), "=r"(to[5]), "=r"(to[6]),
          "=r"(to[7]), "=r"(to[8]), "=r"(to[9]), "=r"(to[10]), "=r"(to[11]), "=r"(to[12]), "=r"(to[13]),
          "=r"(to[14]), "=r"(to[15]), "=r"(to[16]), "=r"(to[17]), "=r"(to[18]), "=r"(to[19]), "=r"(to[20]),
          "=r"(to[21]), "=r"(to[22]), "=r"(to[23]), "=r"(to[24]), "=r"(to[25]), "=r"(to[26]), "=r"(to[27]),
          "=r"(to[28]), "=r"(to[29]), "=r"(to[30]), "=r"(to[31])
        : "r"(address)
        : "memory");
}

#endif

}  // namespace cudamatrix::suite
