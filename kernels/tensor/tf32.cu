#include "kernels/tensor/tf32.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/wmma.cuh"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_tf32(TensorArgs<TensorTf32> args) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    // Converting the fragments would change nothing: the host has rounded the inputs.
    wmma_product<nvcuda::wmma::precision::tf32, float>(args);
#else
    (void)args;
#endif
}

namespace {

Record gpu_part(const Context& context) {
    return tensor_gpu_part(context, tf32_inputs(), cudamatrix_tc_tf32, tf32_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorTf32::kId, gpu_part, nullptr)
