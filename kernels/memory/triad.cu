#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/memory/triad.hpp"
#include "kernels/memory/triad_body.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_triad(TriadArgs args) {
    DeviceBlock block;
    triad_body(block, args);
}

namespace {

Record gpu_part(const Context& context) {
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

}  // namespace

CUDAMATRIX_TEST_MAIN(kTriadId, gpu_part, triad_cpu_part)
