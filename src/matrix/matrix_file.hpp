// Reads a matrix file: YAML in, Matrix or every mistake of the file out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// Reads and checks the file. All mistakes are reported in one Failure (exit code 2), each with
/// file:line:col, what was found, what would be accepted, and "did you mean" where a near word exists.
[[nodiscard]] Result<Matrix> read_matrix_file(const std::filesystem::path& path);

/// The same for a text; `name` stands for the file in messages.
[[nodiscard]] Result<Matrix> read_matrix_text(std::string_view text, std::string_view name);

}  // namespace cudamatrix
