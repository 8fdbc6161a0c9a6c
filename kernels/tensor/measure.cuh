#pragma once

#include "kernels/exec/cublas.cuh"
#include "kernels/tensor/wmma.cuh"

namespace cudamatrix::suite {

/// Elements of 16 bits against cuBLAS, in the same process. Reported only: a kernel that stages each tile
/// once and uses nothing but wmma is far from what a library does on 9.0 and later.
template <class Format>
void measure_tensor(const Context& context, GpuCall& call, Performance& performance,
                    const TensorInputs<Format>& pattern, void (*kernel)(TensorArgs<Format>),
                    cudaDataType type) {
    constexpr int kSide = kTensorMeasured;
    constexpr std::size_t kElements = std::size_t{kSide} * kSide;
    constexpr TensorShape kShape{kSide, kSide, kSide};
    DeviceBuffer<typename Format::Stored> a;
    DeviceBuffer<typename Format::Stored> b;
    DeviceBuffer<float> c;
    DeviceBuffer<RunFlag> flag;
    if (!fill_repeating(call, a, pattern.a, kElements) || !fill_repeating(call, b, pattern.b, kElements) ||
        !c.fill(call, kElements, 0) || !flag.upload(call, RunFlag{}))
        return;
    const TensorArgs<Format> args{a.get(), b.get(), c.get(), kShape, flag.get()};
    const auto own = [&](GpuCall& running) {
        kernel<<<tensor_blocks<Format>(kShape), kTensorThreads>>>(args);
        return running.ok(cudaGetLastError(), "kernel launch");
    };
    const auto theirs = [&](Cublas& cublas) {
        cublas.product(kSide, kSide, kSide, a.get(), b.get(), type, c.get());
    };
    measure_product(context, call, performance, 2.0 * kElements * kSide, own, theirs, "cublasGemmEx", 0, 0);
}

/// The part "gpu" of a test that is measured, too.
template <class Format>
Record tensor_measured_part(const Context& context, const TensorInputs<Format>& inputs,
                            void (*kernel)(TensorArgs<Format>),
                            Record (*check)(const TensorInputs<Format>&, const TensorOutputs<Format>&,
                                            const char*),
                            cudaDataType type) {
    return measured(context, tensor_gpu_part(context, inputs, kernel, check),
                    [&](GpuCall& call, Performance& performance) {
                        measure_tensor(context, call, performance, inputs, kernel, type);
                    });
}

}  // namespace cudamatrix::suite
