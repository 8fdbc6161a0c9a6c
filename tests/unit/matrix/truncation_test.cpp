// A file that lost its tail, or one byte, is never silently another matrix.
#include <random>

#include "folders.hpp"
#include "matrix/matrix_text.hpp"
#include "support.hpp"

using namespace cudamatrix;

TEST_CASE("no prefix of a shipped matrix is accepted as another") {
    std::size_t files = 0;
    for (const auto& path : matrix_test::shipped_matrices()) {
        CAPTURE(path.string());
        const auto text = matrix_test::slurp(path);
        const auto whole = matrix_test::accepted(text);
        ++files;
        REQUIRE(whole.expect.cells == count_cells(whole, 1u << 20));
        REQUIRE(whole.expect.keys.has_value());
        REQUIRE(whole.expect.end);
        const auto all = matrix_text(whole);
        for (std::size_t length = 0; length < text.size(); ++length) {
            const auto result = read_matrix_text(std::string_view(text).substr(0, length), "matrix.yaml");
            if (!result.ok()) continue;
            CAPTURE(length);
            CHECK(matrix_text(*result) == all);
        }
    }
    CHECK(files > 10);
}

TEST_CASE("the default matrix parses without a warning") {
    const auto text = matrix_test::slurp(std::filesystem::path(source_dir()) / "matrix" / "default.yaml");
    const auto matrix = matrix_test::accepted(text);
    CHECK(matrix_test::rendered(matrix.warnings, text) == "");
}

TEST_CASE("one-byte edits and lost lines of the default matrix never crash the reader") {
    const auto text = matrix_test::slurp(std::filesystem::path(source_dir()) / "matrix" / "default.yaml");
    std::mt19937 random(20261121);  // NOLINT: a fixed seed repeats the same edits
    const auto check = [&](const std::string& edited) {
        const auto result = read_matrix_text(edited, "matrix.yaml");
        if (!result.ok()) {
            CHECK(result.failure().code == ExitCode::bad_input);
            CHECK_FALSE(result.failure().diagnostics.empty());
            return;
        }
        const auto all = matrix_test::ids(*result);
        CHECK(all.size() == count_cells(*result, 1u << 20));
        CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    };
    for (int i = 0; i < 2000; ++i) {
        std::string edited = text;
        const auto at = random() % text.size();
        const auto kind = random() % 3;
        if (kind == 0) edited[at] = static_cast<char>(random() % 256);
        if (kind == 1) edited.erase(at, 1);
        if (kind == 2) edited.insert(at, 1, static_cast<char>(random() % 128));
        check(edited);
    }
    const auto lines = text::split(text, '\n');
    for (std::size_t skip = 0; skip < lines.size(); ++skip) {
        for (const bool twice : {false, true}) {
            auto edited = lines;
            const auto at = edited.begin() + static_cast<std::ptrdiff_t>(skip);
            twice ? edited.insert(at, lines[skip]) : edited.erase(at);
            check(text::join(edited, "\n"));
        }
    }
}
