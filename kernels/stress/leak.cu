#include "kernels/stress/leak.hpp"

#include <vector>

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_leak(unsigned* to, int cycle, RunFlag* flag) {
    DeviceBlock block;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = i * 0x9e3779b1U + static_cast<unsigned>(cycle) * 0x85ebca6bU + 1U;
    block.report_done(flag);
}

namespace {

/// What one cycle makes. What destroying gives counts as much as what making gives.
struct Things {
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    void* device = nullptr;
    void* pinned = nullptr;

    bool create(GpuCall& call) {
        return call.ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                       "cudaStreamCreateWithFlags") &&
               call.ok(cudaEventCreate(&begin), "cudaEventCreate") &&
               call.ok(cudaEventCreate(&end), "cudaEventCreate") &&
               call.ok(cudaMalloc(&device, kLeakBytes), "cudaMalloc") &&
               call.ok(cudaMallocHost(&pinned, kLeakPinnedBytes), "cudaMallocHost");
    }
    bool destroy(GpuCall& call) {
        return call.ok(cudaFreeHost(pinned), "cudaFreeHost") && call.ok(cudaFree(device), "cudaFree") &&
               call.ok(cudaEventDestroy(begin), "cudaEventDestroy") &&
               call.ok(cudaEventDestroy(end), "cudaEventDestroy") &&
               call.ok(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
};

bool cycle(GpuCall& call, int number, RunFlag* flag, LeakFacts& facts) {
    Things things;
    if (!things.create(call)) return false;
    auto* words = static_cast<unsigned*>(things.device);
    const std::size_t bytes = kLeakWords * sizeof(unsigned);
    if (!call.ok(cudaEventRecord(things.begin, things.stream), "cudaEventRecord")) return false;
    cudamatrix_leak<<<kLeakBlocks, kLeakThreads, 0, things.stream>>>(words, number, flag);
    if (!call.ok(cudaGetLastError(), "kernel launch") ||
        !call.ok(cudaMemcpyAsync(things.pinned, words, bytes, cudaMemcpyDeviceToHost, things.stream),
                 "cudaMemcpyAsync") ||
        !call.ok(cudaEventRecord(things.end, things.stream), "cudaEventRecord") ||
        !call.ok(cudaEventSynchronize(things.end), "cudaEventSynchronize"))
        return false;
    const auto* result = static_cast<const unsigned*>(things.pinned);
    for (std::size_t i = 0; i < kLeakWords; ++i)
        facts.wrong += result[i] != leak_word(i, number) ? 1 : 0;
    return things.destroy(call);
}

bool take(GpuCall& call, LeakSample& sample) {
    std::size_t total = 0;
    sample.host = resident_bytes();
    return call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize") &&
           call.ok(cudaMemGetInfo(&sample.free, &total), "cudaMemGetInfo");
}

bool run(GpuCall& call, RunFlag* flag, LeakFacts& facts) {
    for (int i = 0; i < kLeakWarmUp; ++i) {
        if (!cycle(call, i, flag, facts)) return false;
    }
    if (!take(call, facts.samples[0])) return false;
    for (int i = 0; i < kLeakCycles; ++i) {
        if (!cycle(call, kLeakWarmUp + i, flag, facts)) return false;
        facts.cycles += 1;
        if (facts.cycles == kLeakCycles / 2 && !take(call, facts.samples[1])) return false;
    }
    return take(call, facts.samples[2]);
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    LeakFacts facts;
    GpuCall call;
    DeviceBuffer<RunFlag> flag;
    if (flag.upload(call, facts.flag) && run(call, flag.get(), facts)) flag.download(call, facts.flag);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return leak_check(facts, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kLeakId, gpu_part, nullptr)
