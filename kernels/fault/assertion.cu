#undef NDEBUG  // assert() must be there
#include "kernels/fault/assertion.hpp"

#include <cassert>
#include <cstdio>

#include "kernels/exec/gpu.cuh"
#include "kernels/fault/child.hpp"
#include "kernels/support/test_main.hpp"

using namespace cudamatrix::suite;

/// All threads have printed when one of them finds that `limit` does not hold.
extern "C" __global__ void cudamatrix_assert(unsigned limit) {
    printf("cudamatrix thread %u: %u\n", threadIdx.x, assert_number(threadIdx.x));
    __syncthreads();
    assert(threadIdx.x < limit);
}

namespace {

void fault_and_stop() {
    cudamatrix_assert<<<1, kAssertThreads>>>(kAssertThreads - 1);
    // With CUDA_LAUNCH_BLOCKING the launch waits, and reports it itself.
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t started = launched == cudaErrorAssert ? cudaSuccess : launched;
    say(kBefore, kLaunch, static_cast<int>(started));
    if (started != cudaSuccess) return;
    say(kFirst, "cudaDeviceSynchronize", static_cast<int>(cudaDeviceSynchronize()));
}

Record gpu_part(const Context& context) {
    Record record;
    if (!have_device(context, record)) return record;
    const ProcessResult child = run_child(context, "faults");
    if (const auto failed = failed_before(child))
        return gpu_failure({static_cast<cudaError_t>(failed->code), failed->call.c_str()});
    return assert_check(child, backend_of(context));
}

}  // namespace

int main(int argc, char** argv) {
    if (child_role(argc, argv) == nullptr) return test_main(argc, argv, kAssertId, gpu_part, nullptr);
    fault_and_stop();
    say_end();
    return 0;
}
