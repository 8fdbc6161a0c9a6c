#pragma once

#include "kernels/tensor/tma.cuh"

/// Products of four warps on 9.0a (PTX ISA, "wgmma").
namespace cudamatrix::suite {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

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
