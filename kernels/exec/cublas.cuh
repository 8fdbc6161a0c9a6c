#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <library_types.h>

#include <string>

#include "kernels/exec/gpu.cuh"
#include "kernels/exec/measure.cuh"
#include "kernels/host/library.hpp"

/// The matrix products of NVIDIA's library, to compare with, where the image has it. Its header may not be
/// there: the declarations are those of cublas_api.h, the same from CUDA 11.2 to 13.
namespace cudamatrix::suite {

class Cublas {
  public:
    explicit Cublas(const Context& context) {
        std::string name = "libcublas.so." + std::to_string(CUDART_VERSION / 1000);
        for (const std::string& lib : context.libs) {  // the one that the cell promises
            if (lib.substr(lib.rfind('/') + 1).rfind("libcublas.so", 0) == 0) name = lib;
        }
        void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            why_ = load_error();
        } else if (!bind_symbol(library, "cublasCreate_v2", create_) ||
                   !bind_symbol(library, "cublasDestroy_v2", destroy_) ||
                   !bind_symbol(library, "cublasSgemm_v2", sgemm_) ||
                   !bind_symbol(library, "cublasGemmEx", gemm_ex_)) {
            why_ = name + " lacks a function";
        } else {
            said(create_(&handle_), "cublasCreate");
        }
    }
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;
    ~Cublas() {
        if (handle_ != nullptr) destroy_(handle_);
    }

    /// Why there is nothing to compare with; "" when there is.
    [[nodiscard]] const std::string& why() const { return why_; }

    // C (m x n) = A (m x k) times B (k x n), all stored row by row: to the library, which counts columns,
    // transposed C = transposed B times transposed A.
    void product(int m, int n, int k, const float* a, const float* b, float* c) {
        const float one = 1;
        const float zero = 0;
        said(sgemm_(handle_, kAsIs, kAsIs, n, m, k, &one, b, n, a, k, &zero, c, n), "cublasSgemm");
    }
    /// The same of elements of 16 bits, with float32 sums.
    void product(int m, int n, int k, const void* a, const void* b, cudaDataType type, float* c) {
        const float one = 1;
        const float zero = 0;
        said(gemm_ex_(handle_, kAsIs, kAsIs, n, m, k, &one, b, type, n, a, type, k, &zero, c, CUDA_R_32F, n,
                      kFloatSums, kAnyAlgorithm),
             "cublasGemmEx");
    }

  private:
    static constexpr int kAsIs = 0;           // CUBLAS_OP_N
    static constexpr int kFloatSums = 68;     // CUBLAS_COMPUTE_32F
    static constexpr int kAnyAlgorithm = -1;  // CUBLAS_GEMM_DEFAULT

    void said(int status, const char* function) {
        if (status != 0 && why_.empty()) why_ = std::string(function) + ": status " + std::to_string(status);
    }

    std::string why_;
    void* handle_ = nullptr;
    int (*create_)(void**) = nullptr;
    int (*destroy_)(void*) = nullptr;
    int (*sgemm_)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                  const float*, float*, int) = nullptr;
    int (*gemm_ex_)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int, const void*,
                    cudaDataType, int, const void*, void*, cudaDataType, int, int, int) = nullptr;
};

/// Measures a product of `operations` against cuBLAS's: `own(call)` starts the one, `theirs(cublas)` the
/// other. `peak`: TFLOP/s that the device promises, 0 = unknown; a goal of 0 only reports.
template <typename Own, typename Theirs>
void measure_product(const Context& context, GpuCall& call, Performance& performance, double operations,
                     const Own& own, const Theirs& theirs, const char* function, double goal, double peak) {
    Cublas cublas(context);
    if (cublas.why().empty()) theirs(cublas);  // tried first: what it cannot do is no roof
    const auto roof = [&](GpuCall&) {
        theirs(cublas);
        return true;
    };
    Rounds rounds;
    if (!measure(call, nullptr, own, roof, rounds, cublas.why().empty())) return;
    if (!cublas.why().empty()) {
        performance.note("not compared with cuBLAS: " + cublas.why());
        rounds.roof.clear();
    }
    const double work = operations / 1e12;
    performance.add(rate_metric("product", "TFLOP/s", {work, work}, rounds, function, goal), peak);
}

}  // namespace cudamatrix::suite
