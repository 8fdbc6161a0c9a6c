// tests/malformed/<case>.yaml is refused with exactly what its last lines say, one "#! line:first-last:
// message | fix" for each mistake (first and last column that the caret underlines); they are no part of what
// is read. CUDAMATRIX_UPDATE_GOLDEN=1 rewrites them.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "folders.hpp"
#include "support.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kCut = "#! without a newline at the end\n";

std::string marked(const std::vector<Diagnostic>& diagnostics) {
    std::string out;
    for (const auto& each : diagnostics) {
        out += fmt::format("#! {}:{}-{}: {}", each.where.line, each.where.column,
                           each.where.column + std::max<std::size_t>(each.where.length, 1) - 1,
                           text::printable(each.message));
        for (const auto& note : each.notes)
            out += " | note: " + text::printable(note);
        out += (each.fix.empty() ? "" : " | " + text::printable(each.fix)) + "\n";
    }
    return out;
}

}  // namespace

TEST_CASE("every malformed file is refused with its expected text") {
    const std::filesystem::path folder = std::filesystem::path(tests_dir()) / "malformed";
    std::size_t cases = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        ++cases;
        CAPTURE(entry.path().stem().string());
        const auto whole = matrix_test::slurp(entry.path());
        const auto end = whole.find("\n#! ") + 1;
        REQUIRE(end != 0);
        auto text = whole.substr(0, end);
        auto expected = whole.substr(end);
        const bool cut = expected.starts_with(kCut);
        if (cut) {
            text.pop_back();
            expected.erase(0, kCut.size());
        }
        const auto result = read_matrix_text(text, "matrix.yaml");
        REQUIRE_FALSE(result.ok());
        const auto& diagnostics = result.failure().diagnostics;
        CHECK(result.failure().code == ExitCode::bad_input);
        const auto got = marked(diagnostics);
        if (std::getenv("CUDAMATRIX_UPDATE_GOLDEN") != nullptr)
            std::ofstream(entry.path(), std::ios::binary) << whole.substr(0, end) << (cut ? kCut : "") << got;
        CHECK(got == expected);
        // Printed with an excerpt, nothing that drives a terminal is left of it.
        const auto printed = matrix_test::rendered(diagnostics, text);
        CHECK(std::none_of(printed.begin(), printed.end(), [](unsigned char c) {
            return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        }));
        CHECK(std::all_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
            return each.severity == Severity::error && each.where.file == "matrix.yaml" &&
                   each.where.line > 0 && each.where.column > 0;
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
