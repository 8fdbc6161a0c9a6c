#include "kernels/tensor/f64.hpp"

#include <cmath>

namespace cudamatrix::suite {

TensorInputs<TensorF64> f64_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorF64>(shape);
}

Record f64_check(const TensorInputs<TensorF64>& in, const TensorOutputs<TensorF64>& out,
                 const char* backend) {
    // A float32 input or sum has 1e-8 and more.
    return tensor_check(in, out, 1e-14 * std::sqrt(in.shape.k), backend);
}

}  // namespace cudamatrix::suite
