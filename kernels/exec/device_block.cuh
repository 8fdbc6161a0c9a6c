#pragma once

#include "kernels/exec/portable.hpp"

namespace cudamatrix::suite {

/// A variable of the calling thread, with the index that the host back end needs.
template <typename T>
class ThreadLocal {
  public:
    CUDAMATRIX_BODY T& operator[](int) { return value_; }
    CUDAMATRIX_BODY const T& operator[](int) const { return value_; }

  private:
    T value_{};
};

/// One thread block on the GPU: a phase is the calling thread's share of it, then a barrier.
/// The members can be called from code that nvcc also compiles for the host, where they do nothing.
class DeviceBlock {
  public:
    CUDAMATRIX_BODY int index() const {
#if defined(__CUDA_ARCH__)
        return static_cast<int>(blockIdx.x);
#else
        return 0;
#endif
    }
    CUDAMATRIX_BODY int count() const {
#if defined(__CUDA_ARCH__)
        return static_cast<int>(gridDim.x);
#else
        return 0;
#endif
    }
    CUDAMATRIX_BODY int threads() const {
#if defined(__CUDA_ARCH__)
        return static_cast<int>(blockDim.x);
#else
        return 0;
#endif
    }

    template <typename Phase>
    CUDAMATRIX_BODY void for_each_thread(Phase phase) {
#if defined(__CUDA_ARCH__)
        phase(static_cast<int>(threadIdx.x));
        __syncthreads();
#else
        (void)phase;
#endif
    }
    template <typename Phase>
    CUDAMATRIX_BODY void for_each_thread_no_barrier(Phase phase) {
#if defined(__CUDA_ARCH__)
        phase(static_cast<int>(threadIdx.x));
#else
        (void)phase;
#endif
    }

    template <typename T>
    CUDAMATRIX_BODY ThreadLocal<T> per_thread() const {
        return {};
    }

    template <typename T>
    CUDAMATRIX_BODY void shuffle_down(ThreadLocal<T>& into, const ThreadLocal<T>& from, int delta) const {
#if defined(__CUDA_ARCH__)
        into[0] = __shfl_down_sync(0xffffffffU, from[0], static_cast<unsigned>(delta));
#else
        (void)into;
        (void)from;
        (void)delta;
#endif
    }

    template <typename T>
    CUDAMATRIX_BODY void atomic_add(T* address, T value) const {
#if defined(__CUDA_ARCH__)
        atomicAdd(address, value);
#else
        (void)address;
        (void)value;
#endif
    }

    /// `parts`: what it did for how many blocks, where blocks walk over more than one part of the work.
    CUDAMATRIX_BODY void report_done(RunFlag* flag, unsigned parts = 1) const {
#if defined(__CUDA_ARCH__)
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&flag->blocks, parts);
            flag->arch = __CUDA_ARCH__;
        }
#else
        (void)flag;
        (void)parts;
#endif
    }
};

}  // namespace cudamatrix::suite
