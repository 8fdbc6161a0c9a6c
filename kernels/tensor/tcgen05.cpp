#include "kernels/tensor/tcgen05.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorTcgen05> tcgen05_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorTcgen05>(shape);
}

Record tcgen05_check(const TensorInputs<TensorTcgen05>& in, const TensorOutputs<TensorTcgen05>& out,
                     const char* backend) {
    return tensor_check(in, out, 2e-5, backend);  // as tc.bf16: a bfloat16 sum or result has 1e-3 and more
}

}  // namespace cudamatrix::suite
