#include "kernels/concurrency/graph.hpp"

#include "kernels/compute/check.hpp"
#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_graph_left(unsigned* left, const unsigned* x, RunFlag* flag) {
    DeviceBlock block;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    left[i] = graph_left(left[i], x[i]);
    block.report_done(flag);
}

extern "C" __global__ void cudamatrix_graph_right(unsigned* right, const unsigned* x, RunFlag* flag) {
    DeviceBlock block;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    right[i] = graph_right(x[kGraphLength - 1 - i]);
    block.report_done(flag);
}

extern "C" __global__ void cudamatrix_graph_merge(unsigned* x, const unsigned* left, const unsigned* copy,
                                                  RunFlag* flag) {
    DeviceBlock block;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = graph_merge(left[i], copy[i]);
    block.report_done(flag);
}

namespace {

/// Two streams that do not wait for the default one, the events between them, and the memory of a round.
struct Round {
    cudaStream_t streams[2] = {};
    cudaEvent_t begun = nullptr;
    cudaEvent_t copied = nullptr;
    DeviceBuffer<std::uint32_t> left, right, copy;
    DeviceBuffer<RunFlag> flag;

    Round() = default;
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;
    ~Round() {
        if (begun != nullptr) cudaEventDestroy(begun);
        if (copied != nullptr) cudaEventDestroy(copied);
        for (cudaStream_t stream : streams) {
            if (stream != nullptr) cudaStreamDestroy(stream);
        }
    }
    bool create(GpuCall& call) {
        for (cudaStream_t& stream : streams) {
            if (!call.ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                         "cudaStreamCreateWithFlags"))
                return false;
        }
        const std::vector<std::uint32_t> blank = blank_output<std::uint32_t>(kGraphLength);
        return call.ok(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming),
                       "cudaEventCreateWithFlags") &&
               call.ok(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming),
                       "cudaEventCreateWithFlags") &&
               left.upload(call, blank) && right.upload(call, blank) && copy.upload(call, blank) &&
               flag.upload(call, RunFlag{});
    }

    /// Starts one round, or has it captured.
    bool start(GpuCall& call, unsigned* x) const {
        constexpr std::size_t kBytes = kGraphLength * sizeof(std::uint32_t);
        if (!call.ok(cudaEventRecord(begun, streams[0]), "cudaEventRecord") ||
            !call.ok(cudaStreamWaitEvent(streams[1], begun, 0), "cudaStreamWaitEvent") ||
            !call.ok(cudaMemsetAsync(left.get(), 0, kBytes, streams[0]), "cudaMemsetAsync"))
            return false;
        cudamatrix_graph_right<<<kGraphBlocks, kGraphThreads, 0, streams[1]>>>(right.get(), x, flag.get());
        if (!call.ok(cudaGetLastError(), "kernel launch") ||
            !call.ok(cudaMemcpyAsync(copy.get(), right.get(), kBytes, cudaMemcpyDeviceToDevice, streams[1]),
                     "cudaMemcpyAsync") ||
            !call.ok(cudaEventRecord(copied, streams[1]), "cudaEventRecord"))
            return false;
        cudamatrix_graph_left<<<kGraphBlocks, kGraphThreads, 0, streams[0]>>>(left.get(), x, flag.get());
        if (!call.ok(cudaGetLastError(), "kernel launch") ||
            !call.ok(cudaStreamWaitEvent(streams[0], copied, 0), "cudaStreamWaitEvent"))
            return false;
        cudamatrix_graph_merge<<<kGraphBlocks, kGraphThreads, 0, streams[0]>>>(x, left.get(), copy.get(),
                                                                               flag.get());
        return call.ok(cudaGetLastError(), "kernel launch");
    }
};

/// A graph, and what is launched of it.
struct Captured {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;

    Captured() = default;
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    ~Captured() {
        if (executable != nullptr) cudaGraphExecDestroy(executable);
        if (graph != nullptr) cudaGraphDestroy(graph);
    }
    bool capture(GpuCall& call, const Round& round, unsigned* x) {
        if (!call.ok(cudaStreamBeginCapture(round.streams[0], cudaStreamCaptureModeThreadLocal),
                     "cudaStreamBeginCapture"))
            return false;
        round.start(call, x);
        // Whatever happened, the capture must end; the first error is kept.
        call.ok(cudaStreamEndCapture(round.streams[0], &graph), "cudaStreamEndCapture");
        return call.code == cudaSuccess;
    }
    bool instantiate(GpuCall& call) {
#if CUDART_VERSION >= 12000
        return call.ok(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
#else
        return call.ok(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "cudaGraphInstantiate");
#endif
    }
};

bool synchronise(GpuCall& call, const Round& round) {
    return call.ok(cudaStreamSynchronize(round.streams[0]), "cudaStreamSynchronize");
}

void run(GpuCall& call, GraphOutputs& outputs) {
    Round round;
    Captured captured;
    DeviceBuffer<std::uint32_t> eager, graph;
    // The uploads must be over before a stream that does not wait for them starts.
    if (!round.create(call) || !eager.upload(call, graph_input()) || !graph.upload(call, graph_input()) ||
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
        return;
    if (!captured.capture(call, round, graph.get()) || !captured.instantiate(call) ||
        !call.ok(cudaGraphGetNodes(captured.graph, nullptr, &outputs.nodes), "cudaGraphGetNodes") ||
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize") || !graph.download(call, outputs.captured))
        return;
    for (int i = 0; i < kGraphRounds; ++i) {
        if (!round.start(call, eager.get())) return;
    }
    for (int i = 0; i < kGraphRounds; ++i) {
        if (!call.ok(cudaGraphLaunch(captured.executable, round.streams[0]), "cudaGraphLaunch")) return;
    }
    if (synchronise(call, round) && eager.download(call, outputs.eager) &&
        graph.download(call, outputs.graph))
        round.flag.download(call, outputs.flag);
}

Record checked(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    GraphOutputs outputs = graph_blank();
    GpuCall call;
    run(call, outputs);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return graph_check(outputs, backend_of(context));
}

void measure_graph(GpuCall& call, Performance& performance) {
    Round round;
    Captured captured;
    DeviceBuffer<std::uint32_t> x;
    if (!round.create(call) || !x.upload(call, graph_input()) ||
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize") ||
        !captured.capture(call, round, x.get()) || !captured.instantiate(call))
        return;
    const auto own = [&](GpuCall& running) {
        return running.ok(cudaGraphLaunch(captured.executable, round.streams[0]), "cudaGraphLaunch");
    };
    const auto roof = [&](GpuCall& running) { return round.start(running, x.get()); };
    Rounds rounds;
    if (measure(call, round.streams[0], own, roof, rounds))
        performance.add(time_metric("launch", rounds, "the same round without a graph", 0.5));
}

Record gpu_part(const Context& context) {
    return measured(context, checked(context), measure_graph);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kGraphId, gpu_part, nullptr)
