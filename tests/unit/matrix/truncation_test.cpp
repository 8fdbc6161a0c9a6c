// A file that lost its tail, or one byte, is never silently another matrix.
#include <random>

#include "folders.hpp"
#include "support.hpp"

using namespace cudamatrix;

TEST_CASE("no prefix of a shipped matrix with expect_cells is accepted with fewer cells") {
    std::size_t files = 0;
    std::size_t prefixes = 0;
    std::size_t accepted = 0;
    for (const auto& path : matrix_test::shipped_matrices()) {
        CAPTURE(path.string());
        const auto text = matrix_test::slurp(path);
        const auto whole = matrix_test::accepted(text);
        if (!whole.expect_cells) continue;
        ++files;
        const auto cells = count_cells(whole, 1u << 20);
        REQUIRE(cells == whole.expect_cells);
        for (std::size_t length = 0; length < text.size(); ++length) {
            ++prefixes;
            const auto result = read_matrix_text(std::string_view(text).substr(0, length), "matrix.yaml");
            if (!result.ok()) continue;
            ++accepted;
            CAPTURE(length);
            CHECK(count_cells(result.value(), 1u << 20) == cells);
        }
    }
    CHECK(files >= 1);
    MESSAGE("prefixes: ", prefixes, " of ", files, " files; accepted, all with the full count: ", accepted);
}

TEST_CASE("the default matrix has expect_cells and parses without a warning") {
    const auto text = matrix_test::slurp(std::filesystem::path(source_dir()) / "matrix" / "default.yaml");
    const auto matrix = matrix_test::accepted(text);
    CHECK(matrix.expect_cells.has_value());
    CHECK(matrix_test::rendered(matrix.warnings, text) == "");
}

TEST_CASE("one-byte edits and lost lines of the default matrix never crash the reader") {
    const auto text = matrix_test::slurp(std::filesystem::path(source_dir()) / "matrix" / "default.yaml");
    std::mt19937 random(20261121);  // NOLINT: a fixed seed repeats the same edits
    std::size_t accepted = 0;
    const auto check = [&](const std::string& edited) {
        const auto result = read_matrix_text(edited, "matrix.yaml");
        if (!result.ok()) {
            CHECK(result.failure().code == ExitCode::bad_input);
            CHECK_FALSE(result.failure().diagnostics.empty());
            return;
        }
        ++accepted;
        const auto all = matrix_test::ids(*result);
        CHECK(all.size() == count_cells(*result, 1u << 20));
        CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    };
    for (int i = 0; i < 2000; ++i) {
        std::string edited = text;
        const auto at = random() % text.size();
        switch (random() % 3) {
            case 0:
                edited[at] = static_cast<char>(random() % 256);
                break;
            case 1:
                edited.erase(at, 1);
                break;
            default:
                edited.insert(at, 1, static_cast<char>(random() % 128));
                break;
        }
        check(edited);
    }
    const auto lines = text::split(text, '\n');
    for (std::size_t skip = 0; skip < lines.size(); ++skip) {
        for (const bool twice : {false, true}) {
            std::string edited;
            for (std::size_t i = 0; i < lines.size(); ++i) {
                if (i != skip || twice) edited += lines[i] + "\n";
                if (i == skip && twice) edited += lines[i] + "\n";
            }
            check(edited);
        }
    }
    MESSAGE("edits accepted as another sound matrix: ", accepted);
}
