#include "kernels/concurrency/cluster.hpp"

#include <cooperative_groups.h>

#include "kernels/exec/device_block.cuh"
#include "kernels/exec/gpu.cuh"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// Where `mine`, in shared memory, lies in the block of that rank. What map_shared_rank becomes differs from
/// nvcc to nvcc: this is the form that all of them and the interpreter know (PTX ISA, "mapa").
static __device__ unsigned* in_block(unsigned* mine, unsigned rank) {
    unsigned long long there = 0;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(rank));
    return reinterpret_cast<unsigned*>(there);
}
#endif

/// Below compute capability 9.0 there are no clusters: there it does nothing, and no block reports.
extern "C" __global__ void cudamatrix_cluster(const unsigned* input, unsigned* read, unsigned* received,
                                              RunFlag* flag) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ unsigned values[kClusterThreads];
    __shared__ unsigned inbox[kClusterThreads];
    DeviceBlock block;
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned t = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + t;
    const unsigned rank = cluster.block_rank();
    values[t] = input[i];
    cluster.sync();
    const unsigned* next = in_block(values, (rank + 1U) % cluster.num_blocks());
    const unsigned made = cluster_next(next[kClusterThreads - 1 - t], rank);
    read[i] = made;
    in_block(inbox, (rank + 2U) % cluster.num_blocks())[t] = made;
    // Nobody may end, or look, before all have read and written.
    cluster.sync();
    received[i] = inbox[t];
    block.report_done(flag);
#else
    static_cast<void>(input);
    static_cast<void>(read);
    static_cast<void>(received);
    static_cast<void>(flag);
#endif
}

namespace {

// Clusters, and the call that launches them, came with CUDA 11.8; the runner leaves the test out before.
#if CUDART_VERSION >= 11080
bool start(GpuCall& call, const unsigned* input, unsigned* read, unsigned* received, RunFlag* flag) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = kClusterBlocks;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(kClusterBlocks * kClusters);
    configuration.blockDim = dim3(kClusterThreads);
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    return call.ok(cudaLaunchKernelEx(&configuration, cudamatrix_cluster, input, read, received, flag),
                   "cudaLaunchKernelEx") &&
           finished(call);
}

bool launches_clusters(GpuCall& call) {
    int value = 0;
    return call.ok(cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0), "cudaDeviceGetAttribute") &&
           value != 0;
}

Record run_test(const Context& context) {
    ClusterOutputs outputs = cluster_blank();
    GpuCall call;
    DeviceBuffer<std::uint32_t> input, read, received;
    DeviceBuffer<RunFlag> flag;
    outputs.supported = launches_clusters(call);
    if (outputs.supported && input.upload(call, cluster_input()) && read.upload(call, outputs.read) &&
        received.upload(call, outputs.received) && flag.upload(call, outputs.flag) &&
        start(call, input.get(), read.get(), received.get(), flag.get()) &&
        read.download(call, outputs.read) && received.download(call, outputs.received))
        flag.download(call, outputs.flag);
    if (call.code != cudaSuccess) return gpu_failure(call);
    return cluster_check(outputs, backend_of(context));
}
#else
Record run_test(const Context&) {
    return Record::skip("cuda_too_old", "clusters are from CUDA 11.8 on");
}
#endif

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    return run_test(context);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(kClusterId, gpu_part, nullptr)
