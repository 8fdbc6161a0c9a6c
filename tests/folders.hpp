// Where this checkout lies. Only tests/unit/main.cpp is compiled with the paths, so that a compiler cache
// serves every checkout.
#pragma once

namespace cudamatrix {

[[nodiscard]] const char* tests_dir();   ///< tests/
[[nodiscard]] const char* source_dir();  ///< the folder above it

}  // namespace cudamatrix
