// What the tests of src/matrix share.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "folders.hpp"
#include "matrix/matrix_file.hpp"
#include "temp_folder.hpp"

namespace matrix_test {

inline std::string slurp(const std::filesystem::path& path) {
    REQUIRE_MESSAGE(std::filesystem::exists(path), path.string());
    return cudamatrix::test::bytes_of(path);
}

inline std::string rendered(const std::vector<cudamatrix::Diagnostic>& diagnostics, std::string_view source) {
    std::string out;
    for (const auto& diagnostic : diagnostics)
        out += cudamatrix::render(diagnostic, source);
    return out;
}

/// The matrix of a text that must be accepted.
inline cudamatrix::Matrix accepted(std::string_view text) {
    auto result = cudamatrix::read_matrix_text(text, "matrix.yaml");
    if (!result.ok()) FAIL(rendered(result.failure().diagnostics, text));
    return std::move(result).value();
}

/// Whether a matrix of one cell reads with `sections` after its axes.
inline bool reads(const std::string& sections) {
    return cudamatrix::read_matrix_text("version: 1\naxes: {cuda: [\"11.8.0\"]}\n" + sections, "matrix.yaml")
        .ok();
}

/// Every message of a text that must be refused, without excerpts: "2:7: message | fix".
inline std::string refusal(std::string_view text) {
    const auto result = cudamatrix::read_matrix_text(text, "matrix.yaml");
    REQUIRE_FALSE(result.ok());
    CHECK(result.failure().code == cudamatrix::ExitCode::bad_input);
    std::string out;
    for (const auto& each : result.failure().diagnostics) {
        if (!out.empty()) out += '\n';
        out += fmt::format("{}:{}: {}", each.where.line, each.where.column, each.message);
        if (!each.fix.empty()) out += " | " + each.fix;
    }
    return out;
}

inline std::vector<std::string> ids(const cudamatrix::Matrix& matrix) {
    std::vector<std::string> out;
    cudamatrix::for_each_cell(matrix, [&](const cudamatrix::Cell& cell) {
        out.push_back(cell_id(matrix, cell));
        return true;
    });
    return out;
}

/// Every matrix that the repository ships.
inline std::vector<std::filesystem::path> shipped_matrices() {
    const std::filesystem::path root = cudamatrix::source_dir();
    std::vector<std::filesystem::path> out{root / "matrix" / "default.yaml"};
    for (const auto& entry : std::filesystem::directory_iterator(root / "matrix" / "presets"))
        out.push_back(entry.path());
    for (const auto& entry : std::filesystem::directory_iterator(root / "examples")) {
        if (std::filesystem::exists(entry.path() / "matrix.yaml"))
            out.push_back(entry.path() / "matrix.yaml");
    }
    return out;
}

}  // namespace matrix_test
