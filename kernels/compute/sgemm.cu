#include "kernels/compute/sgemm.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kSgemmThreads) cudamatrix_sgemm(SgemmArgs args) {
    __shared__ SgemmShared shared;
    DeviceBlock block;
    sgemm_body(block, shared, args);
}

namespace {

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const SgemmInputs inputs = sgemm_inputs();
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

}  // namespace

CUDAMATRIX_TEST_MAIN(kSgemmId, gpu_part, sgemm_cpu_part)
