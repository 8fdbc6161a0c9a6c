#include "support.hpp"

using namespace cudamatrix;

namespace {

// Whether exclude: {field: condition} covers the cell {field: value}. The other driver keeps the file from
// being empty.
bool covers(std::string_view field, std::string_view condition, std::string_view value) {
    const auto text =
        fmt::format("version: 1\nset: {{{}: {}}}\nexclude: [{{{}: {}}}]\n", field, value, field, condition);
    const auto matrix = matrix_test::accepted(text);
    const bool excluded = matrix_test::ids(matrix).empty();
    CHECK(excluded == matrix.warnings.empty());
    return excluded;
}

}  // namespace

TEST_CASE("an equality on a version covers what it does not say") {
    CHECK(covers("cuda", "12", "12.4.1"));
    CHECK(covers("cuda", "\"12.4\"", "12.4.1"));
    CHECK(covers("cuda", "\"=12.4\"", "12.4.1"));
    CHECK(covers("cuda", "\"12.4\"", "12.4"));
    CHECK_FALSE(covers("cuda", "\"12.4\"", "12.40.1"));
    CHECK_FALSE(covers("cuda", "\"12.4.1\"", "12.4"));
    CHECK_FALSE(covers("cuda", "\"!=12.4\"", "12.4.1"));
    CHECK(covers("cuda", "\"!=12.4\"", "12.5"));
    CHECK(covers("driver", "550", "R550"));
    CHECK(covers("driver", "R550", "550.54.15"));
    CHECK(covers("torch", "2.6", "2.6.0+cu124"));
    CHECK(covers("torch", "2.6.0", "2.6.0+cu124"));
    CHECK_FALSE(covers("torch", "2.6.0+cu124", "2.6.0"));
    CHECK_FALSE(covers("torch", "2.6.0+cu124", "2.6.0+cu126"));
    CHECK(covers("torch", "none", "none"));
    CHECK_FALSE(covers("torch", "none", "2.6.0"));
}

TEST_CASE("a suffix that makes another thing is compared") {
    CHECK_FALSE(covers("python", "3.13", "3.13t"));
    CHECK(covers("python", "3.13t", "3.13t"));
    CHECK(covers("python", "3.13", "3.13.1"));
    CHECK_FALSE(covers("compute", "9.0", "9.0a"));
    CHECK(covers("compute", "9.0a", "9.0a"));
}

TEST_CASE("ranges compare as versions") {
    CHECK(covers("driver", "\"<500\"", "470.161.03"));
    CHECK_FALSE(covers("driver", "\"<500\"", "535.183.01"));
    CHECK(covers("driver", "\"<525.60.13\"", "525.60.2"));
    CHECK(covers("cuda", "\">=12\"", "12.0"));
    CHECK(covers("cuda", "\">=12,<13\"", "12.9.1"));
    CHECK_FALSE(covers("cuda", "\">=12,<13\"", "13.0"));
    CHECK(covers("cuda", "\">= 12, < 13\"", "12.10"));
    CHECK(covers("cuda", "\"<=12.4\"", "12.4.1"));
    CHECK_FALSE(covers("cuda", "\">12.4\"", "12.4.1"));
    CHECK(covers("cuda", "\">12.4\"", "12.10"));
    CHECK(covers("python", "\"<3.10\"", "3.9"));
    CHECK(covers("vram_gb", "\"<24\"", "16"));
    CHECK(covers("mig", "\">=1\"", "true"));
    CHECK_FALSE(covers("torch", "\"<3\"", "none"));
}

TEST_CASE("lists, patterns and text") {
    CHECK(covers("gpu", "t4", "T4"));
    CHECK(covers("gpu", "[H100, t4]", "T4"));
    CHECK_FALSE(covers("gpu", "T4", "T4G"));
    CHECK(covers("gpu", "\"rtx *\"", "RTX 4090"));
    CHECK_FALSE(covers("gpu", "\"rtx *\"", "GeForce RTX 4090"));
    CHECK(covers("driver", "\"470.*\"", "470.161.03"));
    CHECK_FALSE(covers("driver", "\"470.*\"", "4700.1"));
    CHECK(covers("cuda", "[\"<11\", \">=13\"]", "13.0"));
    CHECK_FALSE(covers("cuda", "[\"<11\", \">=13\"]", "12.0"));
    CHECK(covers("uses", "THC", "[AT_CHECK, THC]"));
    CHECK_FALSE(covers("uses", "THC", "[AT_CHECK]"));
    CHECK(covers("arch", "x86_64", "x86_64"));
}

TEST_CASE("an exclude that covers nothing is reported, with the field that no cell has") {
    const std::string text =
        "version: 1\naxes: {cuda: [\"12.4.1\"], driver: [\"570\"]}\nexclude:\n  - {cuda: \"<12\"}\n  - "
        "{cuda: \"12\", gpu: T4}\n  - {cuda: \"12\", driver: \"<500\"}\n";
    CHECK(matrix_test::rendered(matrix_test::accepted(text).warnings, text) ==
          "matrix.yaml:4:5: warning: this exclude covers no cell of the product\n"
          "  4 |   - {cuda: \"<12\"}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n"
          "matrix.yaml:5:5: warning: this exclude covers no cell of the product: no cell has the field gpu\n"
          "  5 |   - {cuda: \"12\", gpu: T4}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n"
          "matrix.yaml:6:5: warning: this exclude covers no cell of the product\n"
          "  6 |   - {cuda: \"12\", driver: \"<500\"}\n"
          "    |     ^\n"
          "  fix: correct it, or delete it\n");
}

TEST_CASE("an exclude never touches an include") {
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {gpu: [T4, H100]}\nexclude: [{gpu: \"*\"}]\ninclude: [{gpu: H100}]\n");
    CHECK(matrix_test::ids(matrix) == std::vector<std::string>{"h100"});
}

TEST_CASE("excludes see zipped fields together") {
    const auto matrix = matrix_test::accepted(
        "version: 1\naxes: {cuda: [\"11.8.0\", \"12.4.1\"], os: [debian12, debian13]}\nzip: [[cuda, os]]\n"
        "exclude: [{cuda: 11, os: debian13}, {cuda: 12, os: debian13}]\n");
    CHECK(matrix_test::ids(matrix) == std::vector<std::string>{"cu11.8.0-debian12"});
    REQUIRE(matrix.warnings.size() == 1);
    CHECK(matrix.warnings.front().where.line == 4);
}
