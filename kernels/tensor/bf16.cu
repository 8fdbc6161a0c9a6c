#include "kernels/tensor/bf16.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/measure.cuh"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_bf16(TensorArgs<TensorBf16> args) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    wmma_product<__nv_bfloat16, __nv_bfloat16>(args);
#else
    (void)args;
#endif
}

namespace {

Record gpu_part(const Context& context) {
    return tensor_measured_part(context, bf16_inputs(), cudamatrix_tc_bf16, bf16_check, CUDA_R_16BF);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorBf16::kId, gpu_part, nullptr)
