#include "kernels/tensor/s8.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/wmma.cuh"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_s8(TensorArgs<TensorS8> args) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 720
    wmma_product<signed char, signed char>(args);
#else
    (void)args;
#endif
}

namespace {

Record gpu_part(const Context& context) {
    return tensor_gpu_part(context, s8_inputs(), cudamatrix_tc_s8, s8_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorS8::kId, gpu_part, nullptr)
