// tests/malformed/<case>.yaml is refused with exactly the text of <case>.expected; CUDAMATRIX_UPDATE_GOLDEN=1
// rewrites the expected texts.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "folders.hpp"
#include "support.hpp"

using namespace cudamatrix;

TEST_CASE("every malformed file is refused with its expected text") {
    const std::filesystem::path folder = std::filesystem::path(tests_dir()) / "malformed";
    std::size_t cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".yaml") {
            CHECK_MESSAGE(
                std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension(".yaml")),
                entry.path().string());
            continue;
        }
        ++cases;
        CAPTURE(entry.path().stem().string());
        const auto text = matrix_test::slurp(entry.path());
        const auto result = read_matrix_text(text, "matrix.yaml");
        REQUIRE_FALSE(result.ok());
        const auto& diagnostics = result.failure().diagnostics;
        CHECK(result.failure().code == ExitCode::bad_input);
        const auto expected = std::filesystem::path(entry.path()).replace_extension(".expected");
        const auto got = matrix_test::rendered(diagnostics, text);
        if (std::getenv("CUDAMATRIX_UPDATE_GOLDEN") != nullptr)
            std::ofstream(expected, std::ios::binary) << got;
        CHECK(got == matrix_test::slurp(expected));
        CHECK(std::all_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
            return each.where.file == "matrix.yaml" && each.where.line > 0 && each.where.column > 0;
        }));
    }
    CHECK(cases >= 45);
    MESSAGE("malformed files refused: ", cases);
}

TEST_CASE("what cannot be read is refused by name") {
    const auto message_of = [](const std::filesystem::path& path) {
        const auto result = read_matrix_file(path);
        REQUIRE_FALSE(result.ok());
        CHECK(result.failure().code == ExitCode::bad_input);
        REQUIRE(result.failure().diagnostics.size() == 1);
        return result.failure().diagnostics.front().message;
    };
    CHECK(message_of("/nonexistent/matrix.yaml") ==
          "cannot read /nonexistent/matrix.yaml: No such file or directory");
    CHECK(message_of("/") == "cannot read /: it is a directory");
}

TEST_CASE("a file of more than a mebibyte is refused") {
    const std::string text = "version: 1\n#" + std::string(1u << 20, 'x');
    CHECK(matrix_test::refusal(text) ==
          "0:0: the file has 1048588 bytes: at most 1048576 are read | split it into several files");
}

TEST_CASE("a file with thousands of mistakes reports a hundred and their number") {
    std::string text = "version: 1\n";
    for (int i = 0; i < 3000; ++i)
        text += fmt::format("key{}: 1\n", i);
    const auto result = read_matrix_text(text, "matrix.yaml");
    REQUIRE_FALSE(result.ok());
    REQUIRE(result.failure().diagnostics.size() == 100);
    CHECK(result.failure().diagnostics.back().notes ==
          std::vector<std::string>{"and 2900 more mistakes not shown"});
}
