#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/memory/triad.hpp"
#include "kernels/memory/triad_body.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_triad(TriadArgs args) {
    DeviceBlock block;
    triad_body(block, args);
}

namespace {

Record checked(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const TriadInputs inputs = triad_inputs(context.part == "interpreted" ? kTriadSmall : kTriadLarge);
    TriadOutputs outputs = triad_blank(inputs);
    GpuCall call;
    DeviceBuffer<double> a;
    DeviceBuffer<double> b;
    DeviceBuffer<double> c;
    DeviceBuffer<RunFlag> flag;
    if (a.upload(call, outputs.a) && b.upload(call, inputs.b) && c.upload(call, inputs.c) &&
        flag.upload(call, outputs.flag)) {
        const TriadArgs args{a.get(),   b.get(), c.get(), inputs.s, static_cast<long>(inputs.b.size()),
                             flag.get()};
        cudamatrix_triad<<<kTriadBlocks, kTriadThreads>>>(args);
        if (finished(call) && a.download(call, outputs.a)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return triad_check(inputs, outputs, backend_of(context));
}

void measure_triad(GpuCall& call, Performance& performance) {
    constexpr std::size_t kBytes = kTriadMeasured * sizeof(double);
    const TriadInputs inputs = triad_inputs(kTriadSmall);
    DeviceBuffer<double> a;
    DeviceBuffer<double> b;
    DeviceBuffer<double> c;
    DeviceBuffer<RunFlag> flag;
    if (!a.fill(call, kTriadMeasured, 0) || !fill_repeating(call, b, inputs.b, kTriadMeasured) ||
        !fill_repeating(call, c, inputs.c, kTriadMeasured) || !flag.upload(call, RunFlag{}))
        return;
    const TriadArgs args{a.get(), b.get(), c.get(), inputs.s, static_cast<long>(kTriadMeasured), flag.get()};
    const int blocks = resident_blocks(call, cudamatrix_triad, kTriadThreads);
    const auto own = [&](GpuCall& running) {
        cudamatrix_triad<<<blocks, kTriadThreads>>>(args);
        return running.ok(cudaGetLastError(), "kernel launch");
    };
    const auto roof = [&](GpuCall& running) {
        return running.ok(cudaMemcpyAsync(a.get(), b.get(), kBytes, cudaMemcpyDeviceToDevice, nullptr),
                          "cudaMemcpyAsync");
    };
    Rounds rounds;
    if (!measure(call, nullptr, own, roof, rounds)) return;
    const double peak = memory_peak_of_device();
    const double gigabytes = static_cast<double>(kBytes) / 1e9;
    const Work moved{3 * gigabytes, 2 * gigabytes};  // two read and one written; one and one
    const Metric triad = rate_metric("triad", "GB/s", moved, rounds, "cudaMemcpy", 0);
    performance.add(triad, peak);
    if (peak > 0) performance.add(against(triad, "_of_peak", "peak", peak, 0.88));
}

Record gpu_part(const Context& context) {
    return measured(context, checked(context), measure_triad);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kTriadId, gpu_part, triad_cpu_part)
