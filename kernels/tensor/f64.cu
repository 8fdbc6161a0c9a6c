#include "kernels/tensor/f64.hpp"

#include "kernels/support/test_main.hpp"
#include "kernels/tensor/wmma.cuh"

using namespace cudamatrix::suite;

extern "C" __global__ void __launch_bounds__(kTensorThreads) cudamatrix_tc_f64(TensorArgs<TensorF64> args) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    wmma_product<double, double>(args);
#else
    (void)args;
#endif
}

namespace {

Record gpu_part(const Context& context) {
    return tensor_gpu_part(context, f64_inputs(), cudamatrix_tc_f64, f64_check);
}

}  // namespace

CUDAMATRIX_TEST_MAIN(TensorF64::kId, gpu_part, nullptr)
