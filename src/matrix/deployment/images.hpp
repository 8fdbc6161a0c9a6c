// images: of a matrix file: exact requirements of Python packages, in its list or in a file beside it.
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

/// "numpy==1.26.4". What is not exact is refused, and so is torch, which is a field of a cell.
[[nodiscard]] std::variant<Requirement, ValueProblem> parse_requirement(std::string_view text);

/// Adds one to `image`; a problem where it is not exact, or the package is among its requirements already.
void add_requirement(std::vector<Diagnostic>& problems, ImageEntry& image, std::string_view text,
                     const Location& where);

/// Reads the requirements files that `images` name, beside the matrix file, into their `pip`; reports all
/// mistakes.
[[nodiscard]] Status read_requirements(const std::string& matrix_path, std::vector<ImageEntry>& images);

}  // namespace cudamatrix
