// Matrices whose cells have other values than the file says.
#include "matrix/what_if.hpp"

#include "support.hpp"

using namespace cudamatrix;
using matrix_test::accepted;
using matrix_test::ids;
using Ids = std::vector<std::string>;

namespace {

Value value(std::string text) {
    return {std::move(text), {"this machine", 0, 0, 1}, {}};
}

const std::vector<Field> kFields{Field::driver, Field::gpu};
const std::vector<std::vector<Value>> kTwo{{value("535"), value("T4")}, {value("535"), value("L4")}};

}  // namespace

TEST_CASE("rows replace axes, zipped columns and set, and cells that become equal are one") {
    const auto matrix = accepted(
        "version: 1\nexpect_cells: 4\naxes: {driver: [\"470\", \"570\"], cuda: [\"11.8\", \"12.4\"], gpu: "
        "[V100, H100]}\n"
        "zip: [[driver, cuda]]\n");
    const auto changed = with_rows(matrix, kFields, kTwo);
    CHECK(ids(changed) ==
          Ids{"drv535-t4-cu11.8", "drv535-l4-cu11.8", "drv535-t4-cu12.4", "drv535-l4-cu12.4"});
    CHECK_FALSE(changed.expect_cells);
    const auto same =
        with_rows(accepted("version: 1\naxes: {gpu: [V100, H100]}\nset: {driver: \"470\", os: debian12}\n"),
                  kFields, {kTwo[0]});
    CHECK(ids(same) == Ids{"drv535-t4-debian12"});
    CHECK(same.axes.back().rows[0][1].where.file == "this machine");
}

TEST_CASE("rows reach includes, which stay what they were beside the product") {
    const auto matrix = accepted(
        "version: 1\naxes: {gpu: [V100]}\ninclude: [{gpu: H100, cuda: \"12.4\"}, {driver: \"470\", cuda: "
        "\"12.4\"}]\n");
    CHECK(ids(with_rows(matrix, kFields, kTwo)) ==
          Ids{"drv535-t4", "drv535-l4", "drv535-t4-cu12.4", "drv535-l4-cu12.4"});
    // Without axes set only completes the includes: no product comes into being.
    const auto alone = accepted("version: 1\ninclude: [{cuda: \"12.4\"}]\nset: {driver: \"470\"}\n");
    CHECK(ids(with_rows(alone, kFields, kTwo)) == Ids{"drv535-t4-cu12.4", "drv535-l4-cu12.4"});
    CHECK(alone.include.size() == 1);
}

TEST_CASE(
    "a field may be dropped with the rows, and a matrix of nothing else is still one cell for each row") {
    const auto matrix = accepted("version: 1\naxes: {compute: [\"7.5\", \"9.0\"], host_class: [geforce]}\n");
    CHECK(ids(with_rows(matrix, {Field::gpu}, {{value("T4")}, {value("L4")}},
                        {Field::compute, Field::host_class})) == Ids{"t4", "l4"});
}

TEST_CASE("excludes hold for the new values too") {
    const auto matrix = accepted(
        "version: 1\naxes: {gpu: [V100], cuda: [\"11.8\", \"12.4\"]}\nexclude: [{gpu: L4, cuda: "
        "\"11.8\"}]\n");
    CHECK(ids(with_rows(matrix, {Field::gpu}, {{value("T4")}, {value("L4")}})) ==
          Ids{"t4-cu11.8", "t4-cu12.4", "l4-cu12.4"});
    const auto none =
        accepted("version: 1\naxes: {gpu: [V100], cuda: [\"11.8\", \"12.4\"]}\nexclude: [{gpu: T4}]\n");
    CHECK(ids(with_rows(none, {Field::gpu}, {{value("T4")}})).empty());
}

TEST_CASE("an override points where the caller says") {
    const auto matrix = accepted("version: 1\naxes: {driver: [\"470\", \"570\"]}\n");
    const auto changed = with_override_from(matrix, Field::driver, "580", {"--override driver=580", 0, 0, 1});
    REQUIRE(changed);
    CHECK(changed->axes[0].rows.size() == 1);
    CHECK(changed->axes[0].rows[0][0].where.file == "--override driver=580");
    CHECK_FALSE(with_override_from(matrix, Field::driver, "new", {}));
    CHECK_FALSE(with_override_from(matrix, Field::arch, "amd64", {}));
}
