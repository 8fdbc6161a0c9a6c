#include "kernels/compute/sgemm.hpp"

#include <utility>

#include "kernels/compute/sgemm_body.hpp"
#include "kernels/exec/cublas.cuh"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

// Two blocks for each multiprocessor: one computes while the other waits for its memory.
extern "C" __global__ void __launch_bounds__(kSgemmThreads, 2) cudamatrix_sgemm(SgemmArgs args) {
    __shared__ SgemmShared shared;
    DeviceBlock block;
    sgemm_body(block, shared, args);
}

namespace {

Record checked(const Context& context, const SgemmInputs& inputs) {
    SgemmOutputs outputs = sgemm_blank(inputs);
    GpuCall call;
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> flag;
    if (a.upload(call, inputs.a) && b.upload(call, inputs.b) && c.upload(call, outputs.c) &&
        flag.upload(call, outputs.flag)) {
        const SgemmArgs args{a.get(), b.get(), c.get(), inputs.m, inputs.n, inputs.k, flag.get()};
        cudamatrix_sgemm<<<sgemm_blocks(inputs), kSgemmThreads>>>(args);
        if (finished(call) && c.download(call, outputs.c)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return sgemm_check(inputs, outputs, backend_of(context));
}

void measure_sgemm(const Context& context, GpuCall& call, Performance& performance) {
    constexpr int kSide = kSgemmMeasured;
    constexpr std::size_t kElements = std::size_t{kSide} * kSide;
    const SgemmInputs pattern = sgemm_inputs();
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> flag;
    if (!fill_repeating(call, a, pattern.a, kElements) || !fill_repeating(call, b, pattern.b, kElements) ||
        !c.fill(call, kElements, 0) || !flag.upload(call, RunFlag{}))
        return;
    const SgemmArgs args{a.get(), b.get(), c.get(), kSide, kSide, kSide, flag.get()};
    constexpr int kAcross = kSide / kSgemmTile;
    const auto own = [&](GpuCall& running) {
        cudamatrix_sgemm<<<kAcross * kAcross, kSgemmThreads>>>(args);
        return running.ok(cudaGetLastError(), "kernel launch");
    };
    const auto theirs = [&](Cublas& cublas) {
        cublas.product(kSide, kSide, kSide, a.get(), b.get(), c.get());
    };
    measure_product(context, call, performance, 2.0 * kElements * kSide, own, theirs, "cublasSgemm", 0.75,
                    fp32_peak_of_device());
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    record = sgemm_both(checked(context, sgemm_inputs()), checked(context, sgemm_aligned_inputs()));
    return measured(context, std::move(record), [&](GpuCall& call, Performance& performance) {
        measure_sgemm(context, call, performance);
    });
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kSgemmId, gpu_part, sgemm_cpu_part)
