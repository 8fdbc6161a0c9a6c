// --host: a matrix on the machine that the program runs on.
#pragma once

#include "base/result.hpp"
#include "knowledge/facts/facts.hpp"
#include "matrix/matrix.hpp"
#include "report/results.hpp"
#include "run/host/host.hpp"

namespace cudamatrix::probe {

/// The same matrix on the machine `host`, and what was used of it.
struct OnMachine {
    Matrix matrix;
    report::HostInfo info;
};

/// Environment failure: a machine without driver and GPU.
[[nodiscard]] Result<OnMachine> on_machine(const Matrix& matrix, const Host& host, const Facts& facts);

}  // namespace cudamatrix::probe
