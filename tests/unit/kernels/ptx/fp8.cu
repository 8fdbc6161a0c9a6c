// fp8.ptx: nvcc 13.0.88, nvcc -ptx -O3 -arch=sm_89 fp8.cu -o fp8.ptx
#include <cuda_fp8.h>

// C = A B of one tile, m16n8k32: A (by rows) and B (by columns) become e4m3 and e5m2 on the way; what A became is kept as
// f32.
extern "C" __global__ void tile_fp8(const float* a, const float* b, float* c, float* kept) {
    __shared__ __align__(16) __nv_fp8_e4m3 as[16 * 32];
    __shared__ __align__(16) __nv_fp8_e5m2 bs[8 * 32];
    const int lane = threadIdx.x;
    for (int i = lane; i < 16 * 32 / 4; i += 32)
        reinterpret_cast<__nv_fp8x4_e4m3*>(as)[i] = __nv_fp8x4_e4m3(reinterpret_cast<const float4*>(a)[i]);
    for (int i = lane; i < 8 * 32; i += 32)
        bs[i] = __nv_fp8_e5m2(b[i]);
    __syncwarp();
    for (int i = lane; i < 16 * 32; i += 32)
        kept[i] = static_cast<float>(as[i]);
    unsigned fa[4];
    unsigned fb[2];
    // Pairs of eights are halves to ldmatrix.
    const char* const row = reinterpret_cast<const char*>(as) + lane % 16 * 32 + lane / 16 * 16;
    const char* const column = reinterpret_cast<const char*>(bs) + lane % 8 * 32 + lane / 8 % 2 * 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(column)))
                 : "memory");
    float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; ++i)
        c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
