#include "kernels/concurrency/coop.hpp"

#include <cooperative_groups.h>

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_coop(unsigned* rows, unsigned length, RunFlag* flag) {
    DeviceBlock block;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned round = 0; round < kCoopRounds; ++round) {
        const unsigned* from = rows + static_cast<unsigned long>(round) * length;
        rows[(round + 1UL) * length + i] = coop_next(from[coop_source(i, round, length)], round);
        grid.sync();
    }
    block.report_done(flag);
}

namespace {

/// As many blocks as the device runs at once.
int most_blocks(GpuCall& call) {
    int processors = 0;
    int of_each = 0;
    if (!call.ok(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0),
                 "cudaDeviceGetAttribute") ||
        !call.ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, cudamatrix_coop, kCoopThreads, 0),
                 "cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
        return 0;
    return processors * of_each;
}

cudaError_t start(int blocks, unsigned* rows, unsigned length, RunFlag* flag) {
    void* arguments[] = {&rows, &length, &flag};
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cudamatrix_coop),
                                       dim3(static_cast<unsigned>(blocks)), dim3(kCoopThreads), arguments, 0,
                                       nullptr);
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    GpuCall call;
    CoopOutputs outputs = coop_blank(most_blocks(call));
    const auto length = static_cast<unsigned>(outputs.blocks * kCoopThreads);
    DeviceBuffer<std::uint32_t> rows;
    DeviceBuffer<RunFlag> flag;
    if (call.code == cudaSuccess && outputs.blocks > 0 && rows.upload(call, outputs.rows) &&
        flag.upload(call, outputs.flag)) {
        // It must not run at all: blocks that wait for one that cannot start would wait for ever.
        outputs.one_too_many = static_cast<int>(start(outputs.blocks + 1, rows.get(), length, flag.get()));
        static_cast<void>(cudaGetLastError());
        if (call.ok(start(outputs.blocks, rows.get(), length, flag.get()), "cudaLaunchCooperativeKernel") &&
            finished(call) && rows.download(call, outputs.rows))
            flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return coop_check(outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kCoopId, gpu_part, nullptr)
