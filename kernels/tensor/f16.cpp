#include "kernels/tensor/f16.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorF16> f16_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorF16>(shape);
}

Record f16_check(const TensorInputs<TensorF16>& in, const TensorOutputs<TensorF16>& out,
                 const char* backend) {
    return tensor_check(in, out, 2e-5, backend);  // a float16 sum has 1e-4 and more, inputs as bf16 1e-3
}

}  // namespace cudamatrix::suite
