// Exact requirements of Python packages, in a list of the matrix file or in a file beside it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "matrix/deployment/services.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {

using Requirement = std::pair<std::string, std::string>;  ///< name, version

/// "numpy==1.26.4". Anything that is not exact is refused: what an image holds is decided by the file and the
/// lock alone. torch is refused too, because it is a field of a cell.
[[nodiscard]] std::variant<Requirement, ValueProblem> parse_requirement(std::string_view text);

/// Adds it to `image`; a problem where the package is among its requirements already.
void add_requirement(std::vector<Diagnostic>& problems, ImageEntry& image, Variable requirement);

/// Reads the requirements files that `images` name, beside the matrix file, into their `pip`. Input failures
/// name file, line and column; all of them in one run.
[[nodiscard]] Status read_requirements(const std::string& matrix_path, std::vector<ImageEntry>& images);

}  // namespace cudamatrix
