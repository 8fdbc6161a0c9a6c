#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/memory/copy.hpp"
#include "kernels/memory/copy_body.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_copy(CopyArgs args) {
    DeviceBlock block;
    copy_body(block, args);
}

namespace {

Record checked(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const CopyInputs inputs = copy_inputs(context.part == "interpreted" ? kCopySmall : kCopyLarge);
    CopyOutputs outputs = copy_blank(inputs);
    GpuCall call;
    DeviceBuffer<Word128> from;
    DeviceBuffer<Word128> to;
    DeviceBuffer<RunFlag> flag;
    if (from.upload(call, inputs.from) && to.upload(call, outputs.to) && flag.upload(call, outputs.flag)) {
        const CopyArgs args{from.get(), to.get(), static_cast<long>(inputs.bytes), flag.get()};
        cudamatrix_copy<<<kCopyBlocks, kCopyThreads>>>(args);
        if (finished(call) && to.download(call, outputs.to)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return copy_check(inputs, outputs, backend_of(context));
}

void measure_copy(GpuCall& call, Performance& performance) {
    const std::vector<Word128> pattern = copy_inputs(kCopySmall).from;
    DeviceBuffer<Word128> from;
    DeviceBuffer<Word128> to;
    DeviceBuffer<RunFlag> flag;
    if (!fill_repeating(call, from, pattern, kCopyMeasured / sizeof(Word128)) ||
        !to.fill(call, kCopyMeasured / sizeof(Word128), 0) || !flag.upload(call, RunFlag{}))
        return;
    const CopyArgs args{from.get(), to.get(), static_cast<long>(kCopyMeasured), flag.get()};
    const int blocks = resident_blocks(call, cudamatrix_copy, kCopyThreads);
    const auto own = [&](GpuCall& running) {
        cudamatrix_copy<<<blocks, kCopyThreads>>>(args);
        return running.ok(cudaGetLastError(), "kernel launch");
    };
    const auto roof = [&](GpuCall& running) {
        return running.ok(
            cudaMemcpyAsync(to.get(), from.get(), kCopyMeasured, cudaMemcpyDeviceToDevice, nullptr),
            "cudaMemcpyAsync");
    };
    Rounds rounds;
    if (!measure(call, nullptr, own, roof, rounds)) return;
    const double peak = memory_peak_of_device();
    const double moved = 2 * static_cast<double>(kCopyMeasured) / 1e9;  // read and written
    const Metric copy = rate_metric("copy", "GB/s", {moved, moved}, rounds, "cudaMemcpy", 0.97);
    performance.add(copy, peak);
    if (peak > 0) performance.add(against(copy, "_of_peak", "peak", peak, 0.80));
}

Record gpu_part(const Context& context) {
    return measured(context, checked(context), measure_copy);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kCopyId, gpu_part, copy_cpu_part)
