#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// What the GPU parts of the tests share. Only calls that mean the same from CUDA 11.2 to 13.x are used.
namespace cudamatrix::suite {

/// The first CUDA call that failed; later ones are not made.
struct GpuCall {
    cudaError_t code = cudaSuccess;
    const char* api = "";

    bool ok(cudaError_t result, const char* name) {
        if (code == cudaSuccess && result != cudaSuccess) {
            code = result;
            api = name;
        }
        return code == cudaSuccess;
    }
};

/// Memory on the device, freed with the object.
template <typename T>
class DeviceBuffer {
  public:
    DeviceBuffer() = default;
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer() { cudaFree(data_); }

    bool upload(GpuCall& call, const std::vector<T>& from) {
        return call.ok(cudaMalloc(reinterpret_cast<void**>(&data_), from.size() * sizeof(T)), "cudaMalloc") &&
               refresh(call, from);
    }
    bool upload(GpuCall& call, const T& one) {
        return call.ok(cudaMalloc(reinterpret_cast<void**>(&data_), sizeof(T)), "cudaMalloc") &&
               call.ok(cudaMemcpy(data_, &one, sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    /// New values for the elements that are there.
    bool refresh(GpuCall& call, const std::vector<T>& from) {
        return call.ok(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
                       "cudaMemcpy");
    }
    /// Memory for n elements, each byte of them the same.
    bool fill(GpuCall& call, std::size_t n, int byte) {
        return call.ok(cudaMalloc(reinterpret_cast<void**>(&data_), n * sizeof(T)), "cudaMalloc") &&
               call.ok(cudaMemset(data_, byte, n * sizeof(T)), "cudaMemset");
    }
    /// As many elements as `into` has, from the one with index `first` on.
    bool download(GpuCall& call, std::vector<T>& into, std::size_t first = 0) const {
        return call.ok(
            cudaMemcpy(into.data(), data_ + first, into.size() * sizeof(T), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
    }
    bool download(GpuCall& call, T& one) const {
        return call.ok(cudaMemcpy(&one, data_, sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    [[nodiscard]] T* get() const { return data_; }

  private:
    T* data_ = nullptr;
};

/// After a launch: did it start, and did it end without a fault?
inline bool finished(GpuCall& call) {
    return call.ok(cudaGetLastError(), "kernel launch") &&
           call.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// What runs the kernels, for summaries.
inline const char* backend_of(const Context& context) {
    return context.part == "interpreted" ? "PTX interpreter" : "GPU";
}

/// Is there a device at all? If not, `record` is what the test answers.
inline bool have_device(const Context& context, Record& record) {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) return true;
    const bool absent =
        code == cudaSuccess || code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver;
    const std::string text = code == cudaSuccess ? "no CUDA device" : cudaGetErrorString(code);
    record = absent && !context.gpu_is_promised() ? Record::skip("no_device", text)
                                                  : Record::fail("no_device", "", text);
    if (code != cudaSuccess)
        record.error = {"cudaGetDeviceCount", static_cast<int>(code), cudaGetErrorName(code)};
    return false;
}

/// The record of a CUDA call that failed: what the code means for the image, by the fault catalogue.
inline Record gpu_failure(const GpuCall& call) {
    struct Meaning {
        int code;
        const char* reason;
        const char* fault;
        const char* hint;
    };
    static const Meaning kMeanings[] = {
        {2, "out_of_memory", "", "another process holds the memory, or the GPU is smaller than promised"},
        {46, "device_unavailable", "F16", "the GPU is in exclusive mode or being reset"},
        {209, "no_kernel_image", "F6",
         "the program has no SASS for this GPU and no PTX: add its compute capability"},
        {218, "invalid_ptx", "F7", "the driver could not compile the PTX"},
        {221, "no_jit_compiler", "F8",
         "libnvidia-ptxjitcompiler is missing: NVIDIA_DRIVER_CAPABILITIES needs compute"},
        {222, "ptx_too_new", "F7",
         "the driver is older than the toolkit that wrote the PTX: add SASS or update it"},
        {223, "jit_disabled", "F8", "CUDA_DISABLE_PTX_JIT is set and there is no SASS for this GPU"},
        {214, "ecc_error", "F15", "uncorrectable memory error: look at the GPU's health"},
    };
    Record record =
        Record::fail("cuda_error", "", std::string(call.api) + ": " + cudaGetErrorString(call.code));
    for (const Meaning& meaning : kMeanings) {
        if (meaning.code != static_cast<int>(call.code)) continue;
        record.reason = meaning.reason;
        record.fault = meaning.fault;
        record.hint = meaning.hint;
    }
    record.error = {call.api, static_cast<int>(call.code), cudaGetErrorName(call.code)};
    return record;
}

}  // namespace cudamatrix::suite
