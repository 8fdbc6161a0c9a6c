#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/memory/copy.hpp"
#include "kernels/memory/copy_body.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_copy(CopyArgs args) {
    DeviceBlock block;
    copy_body(block, args);
}

namespace {

Record gpu_part(const Context& context) {
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

}  // namespace

CUDAMATRIX_TEST_MAIN(kCopyId, gpu_part, copy_cpu_part)
