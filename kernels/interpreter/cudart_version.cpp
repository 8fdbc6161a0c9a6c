#include "kernels/interpreter/cudart_state.hpp"

namespace cudamatrix::suite::ptx {

int runtime_version() {
    return CUDAMATRIX_CUDART_VERSION;
}

}  // namespace cudamatrix::suite::ptx

/// By which a program knows that this libcudart interprets.
CUDAMATRIX_API int cudamatrix_interpreter() {
    return 1;
}
