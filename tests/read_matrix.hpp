// A matrix that a test needs, from its text.
#pragma once

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

#include "base/diagnostic.hpp"
#include "matrix/matrix_file.hpp"

namespace cudamatrix::test {

/// The matrix of a file with this text and name; what is wrong with it is printed, and ends the test.
[[nodiscard]] inline Matrix read(std::string_view text, std::string_view name = "matrix.yaml",
                                 const Spelling& names = {}) {
    auto matrix = read_matrix_text(text, name, {}, names);
    if (!matrix) {
        for (const auto& diagnostic : matrix.failure().diagnostics)
            MESSAGE(render(diagnostic, text));
    }
    REQUIRE(matrix);
    return *std::move(matrix);
}

}  // namespace cudamatrix::test
