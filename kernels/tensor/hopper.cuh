#pragma once

#include "kernels/tensor/tma.cuh"

/// Products of four warps on 9.0a (PTX ISA, "wgmma"), and the registers that they share ("setmaxnreg").
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

/// More registers for each thread of the warpgroup, or fewer, out of those that its block has.
template <int Count>
__device__ inline void registers_take() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ inline void registers_give_back() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

#define CUDAMATRIX_SUMS8(i)                                                                     \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
        "+f"(d[i + 6]), "+f"(d[i + 7])
#define CUDAMATRIX_SUMS32(i) \
    CUDAMATRIX_SUMS8(i), CUDAMATRIX_SUMS8(i + 8), CUDAMATRIX_SUMS8(i + 16), CUDAMATRIX_SUMS8(i + 24)

/// 64 x 256 sums over 16 of K; A lies row by row (K-major), B too (N-major), hence the last operand.
__device__ inline void product_64x256(float (&d)[128], std::uint64_t a, std::uint64_t b) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
        "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
        "%59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "
        "%78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, "
        "%97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, "
        "%113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, p, 1, 1, 0, 1;\n}"
        : CUDAMATRIX_SUMS32(0), CUDAMATRIX_SUMS32(32), CUDAMATRIX_SUMS32(64), CUDAMATRIX_SUMS32(96)
        : "l"(a), "l"(b));
}

#undef CUDAMATRIX_SUMS32
#undef CUDAMATRIX_SUMS8

#endif

}  // namespace cudamatrix::suite
