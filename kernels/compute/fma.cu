#include "kernels/compute/fma.hpp"
#include "kernels/compute/fma_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_fma(FmaArgs args) {
    DeviceBlock block;
    fma_body(block, args);
}

/// float32 alone, an item for each thread, its rounds again and again: memory takes no part.
extern "C" __global__ void cudamatrix_fma_rate(FmaArrays<float> arrays, int repeats) {
    fma_item(arrays, static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x, repeats);
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

Record checked(const Context& context) {
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

void measure_fma(GpuCall& call, Performance& performance) {
    constexpr int kRepeats = 256;
    const int blocks = resident_blocks(call, cudamatrix_fma_rate, kFmaThreads);
    const std::size_t items = static_cast<std::size_t>(blocks) * kFmaThreads;
    const FmaNumbers<float> numbers = fma_inputs(items).f32;
    OnDevice<float> f32;
    if (!f32.upload(call, numbers, std::vector<float>(items * kFmaChains))) return;
    const auto own = [&](GpuCall& running) {
        cudamatrix_fma_rate<<<blocks, kFmaThreads>>>(f32.arrays(), kRepeats);
        return running.ok(cudaGetLastError(), "kernel launch");
    };
    Rounds rounds;
    if (!measure(call, nullptr, own, rounds)) return;
    const double steps = 2.0 * kFmaRounds * kFmaChains * kRepeats * static_cast<double>(items);
    const Metric rate = rate_metric("f32", "TFLOP/s", {2 * steps / 1e12, 0}, rounds, "", 0);
    performance.add(against(rate, "", "peak", fp32_peak_of_device(), 0.93));
}

Record gpu_part(const Context& context) {
    return measured(context, checked(context), measure_fma);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kFmaId, gpu_part, fma_cpu_part)
