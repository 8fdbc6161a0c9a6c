#pragma once

#include "kernels/exec/gpu.cuh"
#include "kernels/tensor/product.hpp"

namespace cudamatrix::suite {

/// The part "gpu" of a test. `launch(call, args)` starts the kernel and waits for its end; false when a call
/// failed.
template <class Format, class Launch>
Record tensor_part(const Context& context, const TensorInputs<Format>& inputs, Launch launch,
                   Record (*check)(const TensorInputs<Format>&, const TensorOutputs<Format>&, const char*)) {
    Record record;
    if (!have_device(context, record)) return record;
    TensorOutputs<Format> outputs = tensor_blank<Format>(inputs.shape);
    GpuCall call;
    DeviceBuffer<typename Format::Stored> a;
    DeviceBuffer<typename Format::Stored> b;
    DeviceBuffer<typename Format::Sum> c;
    DeviceBuffer<RunFlag> flag;
    if (a.upload(call, inputs.a) && b.upload(call, inputs.b) && c.upload(call, outputs.c) &&
        flag.upload(call, outputs.flag)) {
        const TensorArgs<Format> args{a.get(), b.get(), c.get(), inputs.shape, flag.get()};
        if (launch(call, args) && c.download(call, outputs.c)) flag.download(call, outputs.flag);
    }
    if (call.code != cudaSuccess) return gpu_failure(call);
    return check(inputs, outputs, backend_of(context));
}

}  // namespace cudamatrix::suite
