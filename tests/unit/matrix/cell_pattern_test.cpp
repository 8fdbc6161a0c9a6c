#include "matrix/cell_pattern.hpp"

#include <doctest/doctest.h>

#include "matrix/matrix.hpp"
#include "matrix/value.hpp"

using namespace cudamatrix;

namespace {

bool means(const std::string& pattern, const std::string& id) {
    const Value cuda{"11.8.0", {}, {}};
    const Value python{"3.12", {}, {}};
    Cell cell;
    cell.set(Field::cuda, &cuda);
    cell.set(Field::python, &python);
    const auto parsed = CellPattern::parse(pattern);
    REQUIRE(parsed.ok());
    CHECK(parsed->text() == pattern);
    return parsed->means(id, cell);
}

}  // namespace

TEST_CASE("cell pattern: an id, the digits that end one, a pattern of ids, values") {
    const std::string id = "drv470-cu11.8.0-0123456789ab";
    for (const auto* pattern : {"drv470-cu11.8.0-0123456789ab", "0123456789ab", "drv470*", "*cu11?8*",
                                "cuda=11.8", "cuda=>=11,python=3.12", "cuda=11.8.0,cuda=<12"})
        CHECK_MESSAGE(means(pattern, id), pattern);
    for (const auto* pattern :
         {"", "drv470", "drv470-cu11.8.0-0123456789a", "123456789ab", "0123456789aB", "DRV470*", "drv470?",
          "cu11*", "cuda=12", "cuda=11.8,python=3.13", "driver=470", "cuda=11.8,cuda=<11"})
        CHECK_FALSE_MESSAGE(means(pattern, id), pattern);
    CHECK_FALSE(means("0123456789ab", "drv4700123456789ab"));
}

TEST_CASE("cell pattern: values that are none, and fields that there are not, are refused") {
    const auto refused = [](const std::string& pattern) {
        const auto parsed = CellPattern::parse(pattern);
        REQUIRE_FALSE(parsed.ok());
        CHECK(parsed.failure().code == ExitCode::bad_input);
        return parsed.failure().diagnostics.front().message;
    };
    for (const auto* pattern : {"cudo=11.8", "=11.8", "cuda=11.8,python", "cuda=11.8,"})
        CHECK(refused(pattern).ends_with(": expected a field and its value, such as cuda=11.8"));
    CHECK(refused("cuda=<x").starts_with("invalid cuda"));
    for (const auto& [pattern, fix] :
         {std::pair{"cudo=11.8", "did you mean cuda?"}, {"cuda=11.8,python", ""}, {"=11.8", ""}})
        CHECK(CellPattern::parse(pattern).failure().diagnostics.front().fix == fix);
}
