// Files that are nearly the examples: what is accepted says the same after it was printed and read again.
// tests/bench/matrix_texts.cpp makes many more of them.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/file.hpp"
#include "folders.hpp"
#include "matrix_mutants.hpp"
#include "matrix_properties.hpp"

using namespace cudamatrix;

namespace {

constexpr std::uint64_t kFileBytes = 1u << 20;

std::vector<std::string> matrix_files() {
    std::vector<std::string> texts;
    const std::filesystem::path top(source_dir());
    for (const auto* folder : {"examples", "docs/examples"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
            const auto name = entry.path().filename();
            const bool shown = folder == std::string_view("docs/examples") && name.extension() == ".yaml";
            if (name == "matrix.yaml" || shown) texts.push_back(*file::read(entry.path(), kFileBytes));
        }
    }
    return texts;
}

}  // namespace

TEST_CASE("examples, and what is nearly one, are printed back to an equal matrix") {
    test::MatrixProperties properties(200);
    const auto files = matrix_files();
    REQUIRE(files.size() > 50);
    std::size_t accepted = 0, refused = 0;
    for (const auto& text : files) {
        const auto whole = properties.look_at(text);
        CHECK_MESSAGE(whole.accepted, text);
        CHECK_MESSAGE(whole.broken.empty(), whole.broken);
        test::Mutants mutants(text, 1);
        for (int i = 0; i < 12; ++i) {
            const auto edited = i % 3 == 0 ? mutants.line_edit() : mutants.byte_edit();
            const auto found = properties.look_at(edited);
            CHECK_MESSAGE(found.broken.empty(), found.broken, "\nof\n", edited);
            ++(found.accepted ? accepted : refused);
        }
    }
    CHECK(accepted > 100);
    CHECK(refused > 100);
}
