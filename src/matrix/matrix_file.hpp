// Reads a matrix file: YAML in, Matrix or every mistake of the file out; and the JSON schema that editors
// take.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// What else is wrong with a matrix, known to those who read it: its mistakes join those of the file.
using AlsoWrong = std::function<std::vector<Diagnostic>(const Matrix&)>;

/// All mistakes are reported in one Failure (exit code 2), each with file:line:col, what was found and
/// expected. Values in usual spellings are read as what they mean (Matrix::respelt); `names` knows those of
/// the facts. `read` gets the file, and what it names beside it.
[[nodiscard]] Result<Matrix> read_matrix_file(const std::filesystem::path& path,
                                              const AlsoWrong& also_wrong = {}, const Spelling& names = {},
                                              const file::Reader& read = file::read);

/// The same for a text; `name` stands for the file in messages.
[[nodiscard]] Result<Matrix> read_matrix_text(std::string_view text, std::string_view name,
                                              const AlsoWrong& also_wrong = {}, const Spelling& names = {});

/// JSON Schema (draft 7, which editors read): the keys, and the words of closed lists. Everything that the
/// reader accepts is valid by it.
[[nodiscard]] Json matrix_schema();

}  // namespace cudamatrix
