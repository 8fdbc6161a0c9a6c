// Values in the place of those of the matrix file: --override and --host.
#pragma once

#include "commands/common.hpp"

namespace cudamatrix {

/// --override FIELD=VALUE.
void add_override(const Arguments& app, std::vector<std::string>& overrides);

/// Puts what --host finds and what --override says into `loaded`, and says on stderr what --override
/// replaced. Input failures: an unknown field, a value that is none of its field, a field that is overridden
/// twice. Environment failure: --host on a machine without driver and GPU.
[[nodiscard]] Status change_values(const MatrixOptions& options, const World& world, Loaded& loaded);

/// The matrix with one `--override FIELD=VALUE` in place.
[[nodiscard]] Result<Matrix> overridden(const Matrix& matrix, std::string_view option);

}  // namespace cudamatrix
