#include "kernels/concurrency/streams.hpp"

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

/// Makes row `step + 1` of row `step`. It first does `rounds` rounds of work for nothing, so that a kernel
/// that did not wait for it reads a row that is still blank. `keep` is 0, which no compiler knows: it may not
/// leave out the work.
extern "C" __global__ void cudamatrix_streams(unsigned* rows, int step, int rounds, unsigned keep,
                                              RunFlag* flag) {
    DeviceBlock block;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* from = rows + static_cast<unsigned long>(step) * kStreamsLength + i;
    unsigned work = i;
    for (int round = 0; round < rounds; ++round)
        work = work * work + 0x9e3779b9U;
    from[kStreamsLength] = *from * 1664525U + static_cast<unsigned>(step) + 1U + (work & keep);
    block.report_done(flag);
}

namespace {

/// Four streams that do not wait for the default one, and an event for each.
struct Lanes {
    cudaStream_t streams[kStreams] = {};
    cudaEvent_t events[kStreams] = {};

    Lanes() = default;
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;
    ~Lanes() {
        for (int i = 0; i < kStreams; ++i) {
            if (events[i] != nullptr) cudaEventDestroy(events[i]);
            if (streams[i] != nullptr) cudaStreamDestroy(streams[i]);
        }
    }
    bool create(GpuCall& call) {
        for (int i = 0; i < kStreams; ++i) {
            if (!call.ok(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking),
                         "cudaStreamCreateWithFlags") ||
                !call.ok(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming),
                         "cudaEventCreateWithFlags"))
                return false;
        }
        return true;
    }
};

/// Starts all kernels; each waits for the event behind the one before it, and nothing else keeps their order.
bool start_all(GpuCall& call, const Lanes& lanes, unsigned* rows, int rounds, RunFlag* flag) {
    for (int step = 0; step < kStreamsSteps; ++step) {
        const int own = step % kStreams;
        const int before = (step + kStreams - 1) % kStreams;
        if (step > 0 &&
            !call.ok(cudaStreamWaitEvent(lanes.streams[own], lanes.events[before], 0), "cudaStreamWaitEvent"))
            return false;
        cudamatrix_streams<<<kStreamsBlocks, kStreamsThreads, 0, lanes.streams[own]>>>(rows, step, rounds, 0,
                                                                                       flag);
        if (!call.ok(cudaGetLastError(), "kernel launch") ||
            !call.ok(cudaEventRecord(lanes.events[own], lanes.streams[own]), "cudaEventRecord"))
            return false;
    }
    // The last one's end is everyone's.
    return call.ok(cudaStreamSynchronize(lanes.streams[(kStreamsSteps - 1) % kStreams]),
                   "cudaStreamSynchronize");
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    StreamsOutputs outputs = streams_blank();
    const int rounds = context.part == "interpreted" ? 8 : 1 << 16;
    GpuCall call;
    Lanes lanes;
    DeviceBuffer<std::uint32_t> rows;
    DeviceBuffer<RunFlag> flag;
    // The uploads must be over before a stream that does not wait for them starts.
    if (lanes.create(call) && rows.upload(call, outputs.rows) && flag.upload(call, outputs.flag) &&
        call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize") &&
        start_all(call, lanes, rows.get(), rounds, flag.get()) && rows.download(call, outputs.rows))
        flag.download(call, outputs.flag);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return streams_check(outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kStreamsId, gpu_part, nullptr)
