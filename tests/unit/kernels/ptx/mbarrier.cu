// mbarrier.ptx: nvcc 13.0.88, nvcc -ptx -O3 -arch=sm_80 mbarrier.cu -o mbarrier.ptx
#include <cuda/barrier>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

// Each thread copies 16 bytes and reads those of another one, once all copies have arrived; three times.
extern "C" __global__ void exchange(const uint4* from, uint4* to) {
    __shared__ uint4 buffer[128];
    __shared__ __mbarrier_t arrived;
    if (threadIdx.x == 0) __mbarrier_init(&arrived, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 3; ++i) {
        __pipeline_memcpy_async(&buffer[threadIdx.x], &from[i * blockDim.x + threadIdx.x], 16);
        __pipeline_arrive_on(&arrived);
        const auto token = __mbarrier_arrive(&arrived);
        while (!__mbarrier_test_wait(&arrived, token)) {
        }
        to[i * blockDim.x + threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x == 0) __mbarrier_inval(&arrived);
}

// The first half of the threads fills a buffer that the second half reads; two barriers say when it is full and empty.
extern "C" __global__ void hand_over(const unsigned* from, unsigned* to, int rounds) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(Barrier) unsigned char storage[2 * sizeof(Barrier)];
    __shared__ unsigned buffer[64];
    Barrier* const full = reinterpret_cast<Barrier*>(storage);
    Barrier* const empty = full + 1;
    if (threadIdx.x == 0) {
        init(full, blockDim.x);
        init(empty, blockDim.x);
    }
    __syncthreads();
    const unsigned half = blockDim.x / 2;
    const bool fills = threadIdx.x < half;
    for (int i = 0; i < rounds; ++i) {
        if (fills) {
            if (i > 0) empty->arrive_and_wait();
            buffer[threadIdx.x] = from[i * half + threadIdx.x];
            static_cast<void>(full->arrive());
        } else {
            full->arrive_and_wait();
            to[i * half + threadIdx.x - half] = buffer[blockDim.x - 1 - threadIdx.x];
            if (i + 1 < rounds) static_cast<void>(empty->arrive());
        }
    }
}
