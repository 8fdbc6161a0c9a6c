#pragma once

#include <cstdint>

/// A kernel's body is written once, against a small "block" interface, and runs on two back ends: DeviceBlock
/// (exec/device_block.cuh) on a GPU, CpuBlock (exec/cpu_block.hpp) on the host. The interface:
///
///   block.index(), block.count(), block.threads()         which block of how many, threads in a block
///   block.for_each_thread([&](int t) {...})               all threads, then a barrier
///   block.for_each_thread_no_barrier([&](int t) {...})    the same without one
///   auto x = block.template per_thread<T>(); x[t]         a variable of each thread that outlives a phase
///   block.shuffle_down(into, from, delta)                 values move down the lanes of each warp
///   block.atomic_add(address, value)
///   block.report_done(flag)                               once per block, as its last step
#if defined(__CUDACC__)
#define CUDAMATRIX_BODY __host__ __device__ inline
#else
#define CUDAMATRIX_BODY inline
#endif

/// Before a loop of which a GPU is to do two rounds at a time.
#if defined(__CUDA_ARCH__)
#define CUDAMATRIX_UNROLL_2 _Pragma("unroll 2")
#else
#define CUDAMATRIX_UNROLL_2
#endif

namespace cudamatrix::suite {

inline constexpr int kWarp = 32;

/// Written by the kernel itself: without it an empty kernel (code cut away by an architecture guard, or a
/// launch that never happened) could look like a successful one.
struct RunFlag {
    unsigned blocks = 0;  ///< how many blocks came to their end
    unsigned arch = 0;    ///< __CUDA_ARCH__ of the code that ran: 860 for 8.6; 1 on the CPU back end
};

inline constexpr unsigned kCpuArch = 1;

}  // namespace cudamatrix::suite
