// `facts measure toolkit`: releases of the CUDA toolkit on an index, and what their compilers take.
#pragma once

#include "commands/measured.hpp"

namespace cudamatrix {

/// Looks at the meta packages of all releases that options.versions admits, and at the compiler of the newest
/// release of each minor. What could not be looked at is one of not_measured. Failures: an index without the
/// toolkit, a specifier that is none, an interrupt.
[[nodiscard]] Status measure_toolkits(const MeasureOptions& options, const std::string& index,
                                      const Facts& facts, Http& http, measure::Memory& memory,
                                      measure::Measured& measured);

}  // namespace cudamatrix
