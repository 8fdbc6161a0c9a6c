#include "kernels/tensor/s8.hpp"

namespace cudamatrix::suite {

TensorInputs<TensorS8> s8_inputs(const TensorShape& shape) {
    return tensor_inputs<TensorS8>(shape);
}

Record s8_check(const TensorInputs<TensorS8>& in, const TensorOutputs<TensorS8>& out, const char* backend) {
    return tensor_check(in, out, 0, backend);  // exact
}

}  // namespace cudamatrix::suite
