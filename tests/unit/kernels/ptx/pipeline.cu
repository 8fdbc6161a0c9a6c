// pipeline.ptx: nvcc 13.0.88, nvcc -ptx -O3 -arch=sm_80 pipeline.cu -o pipeline.ptx
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

// C = A B, A and B by rows: 64 x 64 of C for each block of four warps. Two stages of cp.async into swizzled shared
// memory, ldmatrix, mma.sync. n is a multiple of 64, k of 32; rows of A from m on are zeros.
constexpr int kTile = 64;
constexpr int kStep = 32;

struct Stage {
    half a[kTile * kStep];
    half b[kStep * kTile];
};

// Chunks of 8 halves, of which a row has `chunks`, lie at other places in each row.
__device__ int place(int row, int chunk, int chunks) {
    return (row * chunks + (chunk ^ (row / (8 / chunks) % chunks))) * 8;
}

__device__ void fetch(Stage& stage, const half* a, const half* b, int row, int column, int step, int m, int n, int k) {
    for (int i = threadIdx.x; i < kTile * kStep / 8; i += blockDim.x) {
        const int r = i / 4;
        const bool inside = row + r < m;
        __pipeline_memcpy_async(&stage.a[place(r, i % 4, 4)], &a[(inside ? row + r : 0) * k + step + i % 4 * 8], 16,
                                inside ? 0 : 16);
        __pipeline_memcpy_async(&stage.b[place(i / 8, i % 8, 8)], &b[(step + i / 8) * n + column + i % 8 * 8], 16);
    }
    __pipeline_commit();
}

__device__ void load4(unsigned (&r)[4], const half* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at)))
                 : "memory");
}
__device__ void load2_transposed(unsigned (&r)[2], const half* at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(at)))
                 : "memory");
}
__device__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void gemm_pipeline(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) Stage stages[2];
    const int row = blockIdx.y * kTile;
    const int column = blockIdx.x * kTile;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    float sums[8][4] = {};
    fetch(stages[0], a, b, row, column, 0, m, n, k);
    for (int step = 0; step < k; step += kStep) {
        const Stage& stage = stages[step / kStep % 2];
        if (step + kStep < k) {
            fetch(stages[(step / kStep + 1) % 2], a, b, row, column, step + kStep, m, n, k);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int inner = 0; inner < kStep; inner += 16) {
            unsigned fa[4];
            load4(fa, &stage.a[place(warp * 16 + lane % 16, inner / 8 + lane / 16, 4)]);
            for (int i = 0; i < 8; ++i) {
                unsigned fb[2];
                load2_transposed(fb, &stage.b[place(inner + lane % 16, i, 8)]);
                multiply(sums[i], fa, fb);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 4; ++j) {
            const int r = row + warp * 16 + lane / 4 + j / 2 * 8;
            if (r < m) c[r * n + column + i * 8 + lane % 4 * 2 + j % 2] = sums[i][j];
        }
    }
}
