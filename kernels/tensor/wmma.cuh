#pragma once

#include <mma.h>

#include "kernels/exec/device_block.cuh"
#include "kernels/tensor/gpu_part.cuh"
#include "kernels/tensor/product.hpp"

namespace cudamatrix::suite {

// There is no nvcuda::wmma below compute capability 7.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700

/// Copies the next slices of A and B, tile after tile: each begins where a fragment may, in every format.
template <class Format>
__device__ void wmma_stage(typename Format::Stored* tiles_a, typename Format::Stored* tiles_b,
                           const TensorArgs<Format>& args, int row0, int col0, int k0) {
    for (int i = static_cast<int>(threadIdx.x); i < kTensorSide * Format::kM * Format::kK;
         i += kTensorThreads) {
        const int row = i / Format::kK;
        const int depth = i % Format::kK;
        tiles_a[i] = args.a[static_cast<long>(row0 + row) * args.shape.k + k0 + depth];
    }
    for (int i = static_cast<int>(threadIdx.x); i < kTensorSide * Format::kK * Format::kN;
         i += kTensorThreads) {
        const int tile = i / (Format::kK * Format::kN);
        const int depth = i / Format::kN % Format::kK;
        const int col = tile * Format::kN + i % Format::kN;
        tiles_b[i] = args.b[static_cast<long>(k0 + depth) * args.shape.n + col0 + col];
    }
}

/// One block's part of C. Element is what fragments hold, Loaded what they are loaded from.
template <class Element, class Loaded, class Format>
__device__ void wmma_product(const TensorArgs<Format>& args) {
    namespace wmma = nvcuda::wmma;
    constexpr int kM = Format::kM;
    constexpr int kN = Format::kN;
    constexpr int kK = Format::kK;
    using Stored = typename Format::Stored;
    using Sum = typename Format::Sum;
    static_assert(sizeof(Stored) == sizeof(Loaded), "the same bits");
    __shared__ __align__(32) Stored tiles_a[kTensorSide * kM * kK];
    __shared__ __align__(32) Stored tiles_b[kTensorSide * kK * kN];

    const int across = args.shape.n / (kTensorSide * kN);
    const int row0 = static_cast<int>(blockIdx.x) / across * kTensorSide * kM;
    const int col0 = static_cast<int>(blockIdx.x) % across * kTensorSide * kN;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int down = warp / kTensorSide;
    const int right = warp % kTensorSide;
    wmma::fragment<wmma::accumulator, kM, kN, kK, Sum> sums;
    wmma::fill_fragment(sums, Sum{0});
    for (int k0 = 0; k0 < args.shape.k; k0 += kK) {
        wmma_stage(tiles_a, tiles_b, args, row0, col0, k0);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, kM, kN, kK, Element, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, kM, kN, kK, Element, wmma::row_major> b;
        wmma::load_matrix_sync(a, reinterpret_cast<const Loaded*>(tiles_a) + down * kM * kK, kK);
        wmma::load_matrix_sync(b, reinterpret_cast<const Loaded*>(tiles_b) + right * kK * kN, kN);
        wmma::mma_sync(sums, a, b, sums);
        __syncthreads();
    }
    Sum* c = args.c + static_cast<long>(row0 + down * kM) * args.shape.n + col0 + right * kN;
    wmma::store_matrix_sync(c, sums, args.shape.n, wmma::mem_row_major);
    DeviceBlock().report_done(args.flag);
}

#endif

/// The part "gpu" of a test whose kernel takes no more than its arguments.
template <class Format>
Record tensor_gpu_part(const Context& context, const TensorInputs<Format>& inputs,
                       void (*kernel)(TensorArgs<Format>),
                       Record (*check)(const TensorInputs<Format>&, const TensorOutputs<Format>&,
                                       const char*)) {
    const auto launch = [=](GpuCall& call, const TensorArgs<Format>& args) {
        kernel<<<tensor_blocks<Format>(args.shape), kTensorThreads>>>(args);
        return finished(call);
    };
    return tensor_part<Format>(context, inputs, launch, check);
}

}  // namespace cudamatrix::suite
