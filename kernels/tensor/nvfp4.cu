#include "kernels/tensor/nvfp4.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

namespace {

struct Nvfp4Args {
    const std::uint8_t* a;
    const std::uint8_t* b;
    const std::uint8_t* a_scales;
    const std::uint8_t* b_scales;
    float* c;
    TensorShape shape;
    RunFlag* flag;
};

// PTX ISA 8.7 (CUDA 12.8) is the first with it, for code of 12.0a, from 8.8 on of 12.0f.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200 && CUDART_VERSION >= 12080

/// No scale of the inputs: 448.
constexpr std::uint32_t kNobodysScales = 0x7e7e7e7e;

/// kThreadA, kThreadB: which lanes of each group of four have the scales.
template <int kThreadA, int kThreadB>
__device__ void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                             std::uint32_t a_scales, std::uint32_t b_scales) {
    asm volatile(
        "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "
        "{%10}, {%12, %13}, {%11}, {%12, %14};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(a_scales), "r"(b_scales),
          "n"(0), "n"(kThreadA), "n"(kThreadB));
}

__device__ std::uint32_t word_at(const std::uint8_t* bytes, long at) {
    return *reinterpret_cast<const std::uint32_t*>(bytes + at);
}

/// A step along K. Lanes whose scales are not asked for have wrong ones.
template <int kThreadA, int kThreadB>
__device__ void step(float (&sums)[4], const Nvfp4Args& args, int row, int col, int k0) {
    const int place = static_cast<int>(threadIdx.x) % 4;
    const long k = args.shape.k;
    std::uint32_t a[4];
    std::uint32_t b[2];
    for (int part = 0; part < 4; ++part)
        a[part] = word_at(args.a, ((row + part % 2 * 8) * k + k0 + place * 8 + part / 2 * 32) / 2);
    for (int part = 0; part < 2; ++part)
        b[part] = word_at(args.b, (col * k + k0 + place * 8 + part * 32) / 2);
    const bool has_a = place / 2 == kThreadA;
    const bool has_b = place == kThreadB;
    multiply_add<kThreadA, kThreadB>(
        sums, a, b,
        has_a ? word_at(args.a_scales, ((row + place % 2 * 8) * k + k0) / kNvfp4Block) : kNobodysScales,
        has_b ? word_at(args.b_scales, (col * k + k0) / kNvfp4Block) : kNobodysScales);
}

// One warp's tile of C. Which lane holds which elements and scales: PTX ISA, "Matrix Fragments for
// mma.m16n8k64" and "Block Scaling for mma.sync".
__device__ void nvfp4_product(const Nvfp4Args& args) {
    using Format = TensorNvfp4;
    const int across = args.shape.n / (kTensorSide * Format::kN);
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int group = static_cast<int>(threadIdx.x) % kWarp / 4;
    const int place = static_cast<int>(threadIdx.x) % 4;
    const int row =
        (static_cast<int>(blockIdx.x) / across * kTensorSide + warp / kTensorSide) * Format::kM + group;
    const int tile = (static_cast<int>(blockIdx.x) % across * kTensorSide + warp % kTensorSide) * Format::kN;
    float sums[4] = {0, 0, 0, 0};
    for (int k0 = 0; k0 < args.shape.k; k0 += Format::kK) {
        switch (k0 / Format::kK % 4) {
            case 0:
                step<0, 0>(sums, args, row, tile + group, k0);
                break;
            case 1:
                step<1, 1>(sums, args, row, tile + group, k0);
                break;
            case 2:
                step<0, 2>(sums, args, row, tile + group, k0);
                break;
            default:
                step<1, 3>(sums, args, row, tile + group, k0);
        }
    }
    for (int i = 0; i < 4; ++i)
        args.c[static_cast<long>(row + i / 2 * 8) * args.shape.n + tile + place * 2 + i % 2] = sums[i];
    DeviceBlock().report_done(args.flag);
}

#else

__device__ void nvfp4_product(const Nvfp4Args&) {}

#endif

}  // namespace

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_nvfp4(Nvfp4Args args) {
    nvfp4_product(args);
}

namespace {

/// Before CUDA 12.9 there is no code for the whole family: that of 12.0 runs nowhere else.
bool has_code(Record& record) {
    int major = 0;
    int minor = 0;
    const bool known = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
                       cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess;
    if (!known || CUDART_VERSION >= 12090 || minor == 0) return true;
    record = Record::skip("wrong_arch_variant", "CUDA 12.8 makes this code for 12.0 alone, the GPU has " +
                                                    std::to_string(major) + "." + std::to_string(minor));
    return false;
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record) || !has_code(record)) return record;
    const Nvfp4Inputs in = nvfp4_inputs();
    TensorOutputs<TensorNvfp4> outputs = tensor_blank<TensorNvfp4>(in.shape);
    GpuCall call;
    DeviceBuffer<std::uint8_t> a;
    DeviceBuffer<std::uint8_t> b;
    DeviceBuffer<std::uint8_t> a_scales;
    DeviceBuffer<std::uint8_t> b_scales;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> flag;
    if (a.upload(call, in.a) && b.upload(call, in.b) && a_scales.upload(call, in.a_scales) &&
        b_scales.upload(call, in.b_scales) && c.upload(call, outputs.c) && flag.upload(call, outputs.flag)) {
        const Nvfp4Args args{a.get(), b.get(), a_scales.get(), b_scales.get(), c.get(), in.shape, flag.get()};
        cudamatrix_tc_nvfp4<<<tensor_blocks<TensorNvfp4>(in.shape), kTensorThreads>>>(args);
        if (finished(call) && c.download(call, outputs.c)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return nvfp4_check(nvfp4_numbers(in), outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorNvfp4::kId, gpu_part, nullptr)
