// wmma.ptx: nvcc 13.0.88, nvcc -ptx -O3 -arch=sm_80 wmma.cu -o wmma.ptx
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// C = A B, A by rows, B by rows: 64 x 64 of C for each block of four warps, through shared memory. m, n and k are
// multiples of 64.
extern "C" __global__ void gemm_f16(const half* a, const half* b, float* c, int n, int k) {
    constexpr int kTile = 64;
    constexpr int kStep = 32;
    constexpr int kSkew = 8;
    __shared__ __align__(32) half as[kTile][kStep + kSkew];
    __shared__ __align__(32) half bs[kStep][kTile + kSkew];
    const int row = blockIdx.y * kTile;
    const int column = blockIdx.x * kTile;
    const int warp = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
    for (auto& sum : sums)
        wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += kStep) {
        for (int i = threadIdx.x; i < kTile * kStep / 8; i += blockDim.x) {
            *reinterpret_cast<uint4*>(&as[i / 4][i % 4 * 8]) =
                *reinterpret_cast<const uint4*>(&a[(row + i / 4) * k + step + i % 4 * 8]);
            *reinterpret_cast<uint4*>(&bs[i / 8][i % 8 * 8]) =
                *reinterpret_cast<const uint4*>(&b[(step + i / 8) * n + column + i % 8 * 8]);
        }
        __syncthreads();
        for (int inner = 0; inner < kStep; inner += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, &as[warp * 16][inner], kStep + kSkew);
            for (int i = 0; i < 4; ++i) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
                wmma::load_matrix_sync(fb, &bs[inner][i * 16], kTile + kSkew);
                wmma::mma_sync(sums[i], fa, fb, sums[i]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (float& x : sums[i].x)
            x *= 2;
        wmma::store_matrix_sync(&c[(row + warp * 16) * n + column + i * 16], sums[i], n, wmma::mem_row_major);
    }
}

// D = A B + C of one tile, A by rows, B by columns.
template <int M, int N, int K, typename T, typename In, typename Sum>
__device__ void tile(const In* a, const In* b, const Sum* c, Sum* d) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(d, fc, N, wmma::mem_row_major);
}

extern "C" __global__ void tile_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* c, float* d) {
    tile<32, 8, 16, __nv_bfloat16>(a, b, c, d);
}
extern "C" __global__ void tile_f16(const half* a, const half* b, const half* c, half* d) {
    tile<8, 32, 16, half>(a, b, c, d);
}
extern "C" __global__ void tile_tf32(const float* a, const float* b, const float* c, float* d) {
    tile<16, 16, 8, wmma::precision::tf32>(a, b, c, d);
}
extern "C" __global__ void tile_f64(const double* a, const double* b, const double* c, double* d) {
    tile<8, 8, 4, double>(a, b, c, d);
}
extern "C" __global__ void tile_s8(const signed char* a, const signed char* b, const int* c, int* d) {
    tile<16, 16, 16, signed char>(a, b, c, d);
}
