#include "kernels/tensor/bf16.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorBf16> bf16_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorBf16>(shape);
}

Record bf16_check(const TensorInputs<TensorBf16>& in, const TensorOutputs<TensorBf16>& out,
                  const char* backend) {
    return tensor_check(in, out, 2e-5, backend);  // a bfloat16 sum or result has 1e-3 and more
}

}  // namespace cudamatrix::suite
