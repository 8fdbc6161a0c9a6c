#include "kernels/tensor/wgmma.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorWgmma> wgmma_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorWgmma>(shape);
}

Record wgmma_check(const TensorInputs<TensorWgmma>& in, const TensorOutputs<TensorWgmma>& out,
                   const char* backend) {
    return tensor_check(in, out, 2e-5, backend);  // as tc.bf16: a bfloat16 sum or result has 1e-3 and more
}

}  // namespace cudamatrix::suite
