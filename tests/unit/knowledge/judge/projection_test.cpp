// Tables of answers: small ones are plain, those of very long axes are not, and both keep their entries
// apart.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "knowledge/judge/evaluate.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

Matrix with_axes(std::size_t rows) {
    Matrix matrix;
    for (const auto field : {Field::driver, Field::cuda, Field::gpu})
        matrix.axes.push_back({{field}, std::vector<std::vector<Value>>(rows, std::vector<Value>(1)), {}});
    return matrix;
}

// Writes and reads back a number at each position of two axes; the third has no part in it.
std::size_t distinct(std::size_t rows) {
    const auto matrix = with_axes(rows);
    Projection projection(matrix, FieldSet{Field::driver, Field::gpu});
    Projection whole(matrix, FieldSet{Field::driver, Field::cuda, Field::gpu});
    std::uint32_t next = 0;
    std::set<std::uint32_t> read;
    for (std::uint64_t i = 0; i < rows; i += rows / 8) {
        for (std::uint64_t k = 0; k < rows; k += rows / 8) {
            const std::array<std::uint64_t, 3> here{i, 0, k};
            CHECK(projection.entry(here) == 0);
            projection.entry(here) = ++next;
            CHECK(whole.entry(here) == 0);
            whole.entry(here) = next;
            CHECK(whole.entry(here) == next);
        }
    }
    for (std::uint64_t i = 0; i < rows; i += rows / 8) {
        for (std::uint64_t k = 0; k < rows; k += rows / 8) {
            const std::array<std::uint64_t, 3> elsewhere{i, rows - 1, k};
            read.insert(projection.entry(elsewhere));
        }
    }
    return read.size();
}

}  // namespace

TEST_CASE("projections, plain and sparse") {
    CHECK(distinct(16) == 64);
    CHECK(distinct(1'600) == 64);  // more than a million positions
}
