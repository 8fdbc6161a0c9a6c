#include <cstdlib>
#include <string>

#include "kernels/host/driver_probe.hpp"
#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {

Record dev_driver(const Context& context) {
    DriverOptions options;
    options.root = context.root;
    return judge_driver(probe_driver(options), context);
}

}  // namespace cudamatrix::suite
