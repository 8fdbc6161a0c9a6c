#include "base/exit_code.hpp"

#include <algorithm>
#include <array>

namespace cudamatrix {

ExitCode worse(ExitCode a, ExitCode b) {
    static constexpr std::array order{ExitCode::interrupted, ExitCode::bad_input,   ExitCode::environment,
                                      ExitCode::findings,    ExitCode::pass_static, ExitCode::success};
    return *std::find_if(order.begin(), order.end(), [&](ExitCode code) { return code == a || code == b; });
}

}  // namespace cudamatrix
