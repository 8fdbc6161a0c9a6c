#include "kernels/compute/fma.hpp"
#include "kernels/compute/fma_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_fma(FmaArgs args) {
    DeviceBlock block;
    fma_body(block, args);
}

namespace {

template <typename T>
struct OnDevice {
    DeviceBuffer<T> start, factor, addend, end;

    bool upload(GpuCall& call, const FmaNumbers<T>& numbers, const std::vector<T>& blank) {
        return start.upload(call, numbers.start) && factor.upload(call, numbers.factor) &&
               addend.upload(call, numbers.addend) && end.upload(call, blank);
    }
    FmaArrays<T> arrays() const { return {start.get(), factor.get(), addend.get(), end.get()}; }
};

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const FmaInputs inputs = fma_inputs();
    FmaOutputs outputs = fma_blank(inputs);
    GpuCall call;
    OnDevice<float> f32;
    OnDevice<double> f64;
    DeviceBuffer<RunFlag> flag;
    if (f32.upload(call, inputs.f32, outputs.f32) && f64.upload(call, inputs.f64, outputs.f64) &&
        flag.upload(call, outputs.flag)) {
        const FmaArgs args{f32.arrays(), f64.arrays(), static_cast<long>(inputs.n), flag.get()};
        cudamatrix_fma<<<kFmaBlocks, kFmaThreads>>>(args);
        if (finished(call) && f32.end.download(call, outputs.f32) && f64.end.download(call, outputs.f64))
            flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return fma_check(inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kFmaId, gpu_part, fma_cpu_part)
