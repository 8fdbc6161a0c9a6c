#include "kernels/compute/math.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

namespace {

__device__ float value_of(int function, float x, float y) {
    switch (function) {
        case kSin:
            return sinf(x);
        case kCos:
            return cosf(x);
        case kExp:
            return expf(x);
        case kLog:
            return logf(x);
        case kPow:
            return powf(x, y);
        case kErf:
            return erff(x);
        case kSqrt:
            return sqrtf(x);
        case kRsqrt:
            return rsqrtf(x);
        default:
            return x / y;
    }
}

__device__ double value_of(int function, double x, double y) {
    switch (function) {
        case kSin:
            return sin(x);
        case kCos:
            return cos(x);
        case kExp:
            return exp(x);
        case kLog:
            return log(x);
        case kPow:
            return pow(x, y);
        case kErf:
            return erf(x);
        case kSqrt:
            return sqrt(x);
        case kRsqrt:
            return rsqrt(x);
        default:
            return x / y;
    }
}

template <typename T>
__device__ void math_item(const MathArrays<T>& arrays, int function, int i) {
    const int at = function * kMathLength + i;
    arrays.value[at] = value_of(function, arrays.x[at], arrays.y[at]);
}

template <typename T>
struct OnDevice {
    DeviceBuffer<T> x, y, value;

    bool upload(GpuCall& call, const MathNumbers<T>& numbers, const std::vector<T>& blank) {
        return x.upload(call, numbers.x) && y.upload(call, numbers.y) && value.upload(call, blank);
    }
    MathArrays<T> arrays() const { return {x.get(), y.get(), value.get()}; }
};

}  // namespace

/// A block works on one function, so that warps do not diverge over them.
extern "C" __global__ void cudamatrix_math(MathArgs args) {
    DeviceBlock block;
    const int function = block.index() / kMathBlocksEach;
    const int share = block.index() % kMathBlocksEach;
    const int first = share * kMathThreads + static_cast<int>(threadIdx.x);
    for (int i = first; i < kMathLength; i += kMathBlocksEach * kMathThreads) {
        math_item(args.f32, function, i);
        math_item(args.f64, function, i);
    }
    block.report_done(args.flag);
}

namespace {

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const MathInputs inputs = math_inputs();
    MathOutputs outputs = math_blank();
    GpuCall call;
    OnDevice<float> f32;
    OnDevice<double> f64;
    DeviceBuffer<RunFlag> flag;
    if (f32.upload(call, inputs.f32, outputs.f32) && f64.upload(call, inputs.f64, outputs.f64) &&
        flag.upload(call, outputs.flag)) {
        const MathArgs args{f32.arrays(), f64.arrays(), flag.get()};
        cudamatrix_math<<<kMathBlocks, kMathThreads>>>(args);
        if (finished(call) && f32.value.download(call, outputs.f32) && f64.value.download(call, outputs.f64))
            flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return math_check(inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kMathId, gpu_part, nullptr)
