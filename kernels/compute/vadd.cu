#include "kernels/compute/vadd.hpp"
#include "kernels/compute/vadd_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_vadd(VaddArgs args) {
    DeviceBlock block;
    vadd_body(block, args);
}

namespace {

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const VaddInputs inputs = vadd_inputs();
    VaddOutputs outputs = vadd_blank(inputs);
    GpuCall call;
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> flag;
    if (a.upload(call, inputs.a) && b.upload(call, inputs.b) && c.upload(call, outputs.c) &&
        flag.upload(call, outputs.flag)) {
        const VaddArgs args{a.get(), b.get(), c.get(), static_cast<long>(inputs.a.size()), flag.get()};
        cudamatrix_vadd<<<kVaddBlocks, kVaddThreads>>>(args);
        if (finished(call) && c.download(call, outputs.c)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return vadd_check(inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kVaddId, gpu_part, vadd_cpu_part)
