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
    std::vector<double> total(1);
    std::vector<unsigned long long> integer_total(1);
    std::vector<RunFlag> flag(1);
    GpuCall call;
    DeviceBuffer<float> values;
    DeviceBuffer<int> integers;
    DeviceBuffer<float> block_sums;
    DeviceBuffer<double> device_total;
    DeviceBuffer<unsigned long long> device_integer_total;
    DeviceBuffer<RunFlag> device_flag;
    if (values.upload(call, inputs.values) && integers.upload(call, inputs.integers) &&
        block_sums.upload(call, outputs.block_sums) && device_total.upload(call, total) &&
        device_integer_total.upload(call, integer_total) && device_flag.upload(call, flag)) {
        const ReduceArgs args{values.get(),     integers.get(),     static_cast<long>(inputs.values.size()),
                              block_sums.get(), device_total.get(), device_integer_total.get(),
                              device_flag.get()};
        cudamatrix_reduce<<<kReduceBlocks, kReduceThreads>>>(args);
        if (finished(call) && block_sums.download(call, outputs.block_sums) &&
            device_total.download(call, total) && device_integer_total.download(call, integer_total)) {
            device_flag.download(call, flag);
        }
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    outputs.total = total[0];
    outputs.integer_total = integer_total[0];
    outputs.flag = flag[0];
    return reduce_check(inputs, outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kReduceId, gpu_part, reduce_cpu_part)
