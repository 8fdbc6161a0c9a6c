#include "kernels/interpreter/cudart_state.hpp"

namespace cudamatrix::suite::ptx {

int runtime_version() {
    return CUDAMATRIX_CUDART_VERSION;
}

}  // namespace cudamatrix::suite::ptx
