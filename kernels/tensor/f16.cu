#include "kernels/tensor/f16.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/measure.cuh"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_f16(TensorArgs<TensorF16> args) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    wmma_product<half, half>(args);
#else
    (void)args;
#endif
}

namespace {

Record gpu_part(const Context& context) {
    return tensor_measured_part(context, f16_inputs(), cudamatrix_tc_f16, f16_check, CUDA_R_16F);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorF16::kId, gpu_part, nullptr)
