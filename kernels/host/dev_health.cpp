#include "kernels/host/health_verdict.hpp"
#include "kernels/host/host_tests.hpp"

namespace cudamatrix::suite {

/// The GPUs before anything ran on them.
Record dev_health(const Context& context) {
    return health_record(context);
}

}  // namespace cudamatrix::suite
