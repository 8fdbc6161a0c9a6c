#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/exec/gpu.cuh"
#include "kernels/host/library.hpp"
#include "kernels/support/measure.hpp"

/// Times work on a GPU. Nothing of this is called by a part that is no GPU's: see measured().
namespace cudamatrix::suite {

/// Times a run of some work: run(call) starts one, and is false when a call failed.
class Stopwatch {
  public:
    Stopwatch() = default;
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() {
        if (begin_ != nullptr) cudaEventDestroy(begin_);
        if (end_ != nullptr) cudaEventDestroy(end_);
    }
    bool create(GpuCall& call, cudaStream_t stream) {
        stream_ = stream;
        return call.ok(cudaEventCreate(&begin_), "cudaEventCreate") &&
               call.ok(cudaEventCreate(&end_), "cudaEventCreate");
    }
    /// Seconds of each of `runs` runs.
    template <typename Run>
    bool time(GpuCall& call, const Run& run, int runs, double& seconds) const {
        float ms = 0;
        if (!call.ok(cudaEventRecord(begin_, stream_), "cudaEventRecord")) return false;
        for (int i = 0; i < runs; ++i) {
            if (!run(call)) return false;
        }
        if (!call.ok(cudaEventRecord(end_, stream_), "cudaEventRecord") ||
            !call.ok(cudaEventSynchronize(end_), "cudaEventSynchronize") ||
            !call.ok(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime"))
            return false;
        seconds = static_cast<double>(ms) / 1000 / runs;
        return true;
    }
    /// Warms up, and finds out how many runs make a batch.
    template <typename Run>
    bool warm_up(GpuCall& call, const Run& run, int& runs) const {
        constexpr int kWarmUps = 3;
        double seconds = 0;
        if (!time(call, run, kWarmUps, seconds) || !time(call, run, 1, seconds)) return false;
        runs = runs_of_batch(seconds);
        return true;
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

/// Rounds of own work and of its roof by turns, so that both have the same clocks; again, where they are
/// noisy. Both start all that they do on `stream`, or bring it back there.
template <typename Own, typename Roof>
bool measure(GpuCall& call, cudaStream_t stream, const Own& own, const Roof& roof, Rounds& rounds,
             bool with_roof = true) {
    Stopwatch watch;
    int own_runs = 0;
    int roof_runs = 0;
    if (!watch.create(call, stream) || !watch.warm_up(call, own, own_runs)) return false;
    if (with_roof && !watch.warm_up(call, roof, roof_runs)) return false;
    for (int attempt = 0; attempt < kMeasuredTries; ++attempt) {
        rounds = {};
        for (int round = 0; round < kMeasuredRounds; ++round) {
            double seconds = 0;
            if (!watch.time(call, own, own_runs, seconds)) return false;
            rounds.own.push_back(seconds);
            if (!with_roof) continue;
            if (!watch.time(call, roof, roof_runs, seconds)) return false;
            rounds.roof.push_back(seconds);
        }
        if (!is_noisy(rounds)) break;
    }
    return true;
}

/// ... of own work alone.
template <typename Own>
bool measure(GpuCall& call, cudaStream_t stream, const Own& own, Rounds& rounds) {
    return measure(call, stream, own, own, rounds, false);
}

/// n elements on the device, which repeat `pattern`: constant data costs less power, and looks faster.
template <typename T>
bool fill_repeating(GpuCall& call, DeviceBuffer<T>& buffer, const std::vector<T>& pattern, std::size_t n) {
    if (!buffer.fill(call, n, 0)) return false;
    for (std::size_t at = 0; at < n; at += pattern.size()) {
        const std::size_t bytes = std::min(pattern.size(), n - at) * sizeof(T);
        if (!call.ok(cudaMemcpy(buffer.get() + at, pattern.data(), bytes, cudaMemcpyHostToDevice),
                     "cudaMemcpy"))
            return false;
    }
    return true;
}

/// 0 where the driver does not say.
inline int device_attribute(cudaDeviceAttr attribute) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess ? value : 0;
}

/// As many blocks as the GPU runs at once.
template <typename Kernel>
int resident_blocks(GpuCall& call, Kernel kernel, int threads) {
    int each = 0;
    if (!call.ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0),
                 "cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
        return 1;
    return std::max(1, each * device_attribute(cudaDevAttrMultiProcessorCount));
}

/// Whether the device is an instance of MIG: its attributes of memory may be those of the whole GPU.
inline bool is_instance() {
    int (*name_of)(char*, int, int) = nullptr;
    char name[128] = "";
    if (!bind_symbol(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cuDeviceGetName", name_of))
        return false;
    return name_of(name, static_cast<int>(sizeof name) - 1, 0) == 0 &&
           std::string(name).find("MIG") != std::string::npos;
}

/// GB/s that the memory makes by its attributes; 0 = unknown.
inline double memory_peak_of_device() {
    return is_instance() ? 0
                         : memory_peak(device_attribute(cudaDevAttrMemoryClockRate),
                                       device_attribute(cudaDevAttrGlobalMemoryBusWidth));
}

inline double fp32_peak_of_device() {
    return fp32_peak(device_attribute(cudaDevAttrComputeCapabilityMajor),
                     device_attribute(cudaDevAttrComputeCapabilityMinor),
                     device_attribute(cudaDevAttrMultiProcessorCount),
                     device_attribute(cudaDevAttrClockRate));
}

/// The record of what was checked, with what `measurement(call, performance)` finds where it passed on a
/// GPU. Too little memory to measure in is a note; any other call that fails is the test's failure.
template <typename Measurement>
Record measured(const Context& context, Record record, Measurement measurement) {
    if (!may_measure(context, record)) return record;
    Performance performance;
    GpuCall call;
    measurement(call, performance);
    if (call.code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        performance.note("not measured: too little free memory");
    } else if (call.code != cudaSuccess) {
        return gpu_failure(call);
    }
    performance.tell(context, record);
    return record;
}

}  // namespace cudamatrix::suite
