#include "kernels/tensor/tf32.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorTf32> tf32_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorTf32>(shape);
}

Record tf32_check(const TensorInputs<TensorTf32>& in, const TensorOutputs<TensorTf32>& out,
                  const char* backend) {
    return tensor_check(in, out, 2e-5, backend);  // inputs as bfloat16 have 1e-3, float16 cannot hold them
}

}  // namespace cudamatrix::suite
