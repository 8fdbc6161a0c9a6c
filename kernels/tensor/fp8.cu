#include "kernels/tensor/fp8.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/wmma.cuh"

using namespace cudamatrix::suite;

namespace {

// wmma has no such formats: mma.sync itself. PTX ISA 8.4 (CUDA 12.4) is the first with them for 8.9.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && CUDART_VERSION >= 12040

__device__ void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                             const TensorE4m3*) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                             const TensorE5m2*) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One warp's tile of C. Which lane holds which elements: PTX ISA, "Matrix Fragments for mma.m16n8k32".
template <class Format>
__device__ void fp8_product(const TensorArgs<Format>& args) {
    const int across = args.shape.n / (kTensorSide * Format::kN);
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int group = lane / 4;
    const int place = lane % 4;
    const int row =
        (static_cast<int>(blockIdx.x) / across * kTensorSide + warp / kTensorSide) * Format::kM + group;
    const int tile = (static_cast<int>(blockIdx.x) % across * kTensorSide + warp % kTensorSide) * Format::kN;
    float sums[4] = {0, 0, 0, 0};
    for (int k0 = 0; k0 < args.shape.k; k0 += Format::kK) {
        std::uint32_t a[4];
        std::uint32_t b[2];
        for (int part = 0; part < 4; ++part) {
            const int depth = k0 + place * 4 + part / 2 * 16;
            const std::uint8_t* from = args.a + static_cast<long>(row + part % 2 * 8) * args.shape.k + depth;
            a[part] = *reinterpret_cast<const std::uint32_t*>(from);
        }
        for (int part = 0; part < 2; ++part) {
            b[part] = 0;
            for (int byte = 0; byte < 4; ++byte) {
                const int depth = k0 + place * 4 + part * 16 + byte;
                b[part] |= std::uint32_t{args.b[static_cast<long>(depth) * args.shape.n + tile + group]}
                           << 8 * byte;
            }
        }
        multiply_add(sums, a, b, static_cast<const Format*>(nullptr));
    }
    for (int i = 0; i < 4; ++i)
        args.c[static_cast<long>(row + i / 2 * 8) * args.shape.n + tile + place * 2 + i % 2] = sums[i];
    DeviceBlock().report_done(args.flag);
}

#else

template <class Format>
__device__ void fp8_product(const TensorArgs<Format>&) {}

#endif

}  // namespace

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_e4m3(TensorArgs<TensorE4m3> args) {
    fp8_product(args);
}

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_e5m2(TensorArgs<TensorE5m2> args) {
    fp8_product(args);
}

namespace {

Record gpu_part(const Context& context) {
    Record e4m3 = tensor_gpu_part(context, e4m3_inputs(), cudamatrix_tc_e4m3, e4m3_check);
    if (e4m3.status == Status::skip) return e4m3;
    return both_formats(std::move(e4m3),
                        tensor_gpu_part(context, e5m2_inputs(), cudamatrix_tc_e5m2, e5m2_check));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorE4m3::kId, gpu_part, nullptr)
