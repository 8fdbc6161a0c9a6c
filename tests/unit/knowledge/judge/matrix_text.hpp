#pragma once

#include <doctest/doctest.h>

#include <string>

#include "base/diagnostic.hpp"
#include "matrix/matrix_file.hpp"

/// The matrix of a file with this text.
inline cudamatrix::Matrix read(const std::string& text) {
    auto matrix = cudamatrix::read_matrix_text(text, "matrix.yaml");
    if (!matrix) {
        for (const auto& diagnostic : matrix.failure().diagnostics)
            MESSAGE(render(diagnostic, text));
    }
    REQUIRE(matrix);
    return *std::move(matrix);
}

inline cudamatrix::Matrix matrix_of(const std::string& text) {
    return read("version: 1\n" + text);
}
