#include "kernels/compute/reduce.hpp"
#include "kernels/compute/reduce_body.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_reduce(ReduceArgs args) {
    __shared__ ReduceShared shared;
    DeviceBlock block;
    reduce_body(block, shared, args);
}

namespace {

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const ReduceInputs inputs = reduce_inputs();
    ReduceOutputs outputs = reduce_blank();
    GpuCall call;
    DeviceBuffer<float> values;
    DeviceBuffer<int> integers;
    DeviceBuffer<float> block_sums;
    DeviceBuffer<double> total;
    DeviceBuffer<unsigned long long> integer_total;
    DeviceBuffer<RunFlag> flag;
    if (values.upload(call, inputs.values) && integers.upload(call, inputs.integers) &&
        block_sums.upload(call, outputs.block_sums) && total.upload(call, outputs.total) &&
        integer_total.upload(call, outputs.integer_total) && flag.upload(call, outputs.flag)) {
        const ReduceArgs args{values.get(),     integers.get(), static_cast<long>(inputs.values.size()),
                              block_sums.get(), total.get(),    integer_total.get(),
                              flag.get()};
        cudamatrix_reduce<<<kReduceBlocks, kReduceThreads>>>(args);
        if (finished(call) && block_sums.download(call, outputs.block_sums) &&
            total.download(call, outputs.total) && integer_total.download(call, outputs.integer_total)) {
            flag.download(call, outputs.flag);
        }
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return reduce_check(inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kReduceId, gpu_part, reduce_cpu_part)
