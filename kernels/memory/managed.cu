#include "kernels/memory/managed.hpp"

#include <algorithm>

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

extern "C" __global__ void cudamatrix_managed(unsigned* values, unsigned round, RunFlag* flag) {
    DeviceBlock block;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kManagedLength; i += gridDim.x * blockDim.x)
        values[i] = managed_on_gpu(values[i], round);
    block.report_done(flag);
}

namespace {

constexpr int kHost = -1;

/// To the device, or to the host; the call changed in 13.0.
cudaError_t prefetch(const void* memory, std::size_t size, int device) {
#if CUDART_VERSION >= 13000
    cudaMemLocation location{};
    location.type = device == kHost ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == kHost ? 0 : device;
    return cudaMemPrefetchAsync(memory, size, location, 0, nullptr);
#else
    return cudaMemPrefetchAsync(memory, size, device == kHost ? cudaCpuDeviceId : device, nullptr);
#endif
}

/// Managed memory, freed with the object.
struct ManagedBuffer {
    unsigned* values = nullptr;

    ManagedBuffer() = default;
    ManagedBuffer(const ManagedBuffer&) = delete;
    ManagedBuffer& operator=(const ManagedBuffer&) = delete;
    ~ManagedBuffer() { cudaFree(values); }
};

bool run_round(GpuCall& call, unsigned* values, std::size_t count, int round, RunFlag* flag,
               ManagedOutputs& outputs) {
    const bool prefetches = round >= kManagedFaultRounds;
    if (prefetches &&
        !call.ok(prefetch(values, count * sizeof *values, 0), "cudaMemPrefetchAsync to the device"))
        return false;
    cudamatrix_managed<<<kManagedBlocks, kManagedThreads>>>(values, static_cast<unsigned>(round), flag);
    if (!call.ok(cudaGetLastError(), "kernel launch") ||
        (prefetches &&
         !call.ok(prefetch(values, count * sizeof *values, kHost), "cudaMemPrefetchAsync to the host")) ||
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
        return false;
    outputs.rounds.emplace_back(values, values + count);
    for (std::size_t i = 0; i < kManagedLength; ++i)
        values[i] = managed_on_host(values[i], static_cast<unsigned>(round));
    return true;
}

void run(GpuCall& call, ManagedOutputs& outputs) {
    const std::vector<std::uint32_t> input = managed_input();
    ManagedBuffer buffer;
    DeviceBuffer<RunFlag> flag;
    if (!flag.upload(call, outputs.flag) ||
        !call.ok(cudaMallocManaged(reinterpret_cast<void**>(&buffer.values), input.size() * sizeof input[0],
                                   cudaMemAttachGlobal),
                 "cudaMallocManaged") ||
        // Without concurrent access the host may touch it only while nothing runs.
        !call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize"))
        return;
    std::copy(input.begin(), input.end(), buffer.values);
    for (int round = 0; round < managed_rounds(outputs); ++round) {
        if (!run_round(call, buffer.values, input.size(), round, flag.get(), outputs)) return;
    }
    flag.download(call, outputs.flag);
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    ManagedOutputs outputs;
    GpuCall call;
    const auto has = [&](cudaDeviceAttr attribute) {
        int value = 0;
        return call.ok(cudaDeviceGetAttribute(&value, attribute, 0), "cudaDeviceGetAttribute") && value != 0;
    };
    outputs.managed = has(cudaDevAttrManagedMemory);
    outputs.concurrent = has(cudaDevAttrConcurrentManagedAccess);
    if (outputs.managed) run(call, outputs);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return managed_check(outputs, backend_of(context));
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kManagedId, gpu_part, nullptr)
