#include "kernels/host/health_verdict.hpp"
#include "kernels/host/host_tests.hpp"

namespace cudamatrix::suite {

/// The GPUs after all else ran on them. dev.health lets no error of the memory pass, so none may have come
/// since.
Record stress_health(const Context& context) {
    return health_record(context);
}

}  // namespace cudamatrix::suite
