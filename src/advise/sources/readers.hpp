// One reader for each kind of file (private to advise/sources).
#pragma once

#include <string>

#include "advise/sources/text.hpp"

namespace cudamatrix::sources {

[[nodiscard]] Source read_dockerfile(std::string path, std::string text, const ReadOptions& options);
[[nodiscard]] Source read_compose(std::string path, std::string text);
[[nodiscard]] Source read_conda_environment(std::string path, std::string text);
/// pyproject.toml, uv.lock, poetry.lock.
[[nodiscard]] Source read_toml(Kind kind, std::string path, std::string text);

}  // namespace cudamatrix::sources
