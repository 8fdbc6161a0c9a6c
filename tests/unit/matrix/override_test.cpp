// Matrices whose cells have other values than the file says.
#include "matrix/matrix.hpp"

#include "support.hpp"

using namespace cudamatrix;
using matrix_test::accepted;
using matrix_test::ids;
using Ids = std::vector<std::string>;

namespace {

Value value(std::string text) {
    return {std::move(text), {"this machine", 0, 0, 1}, {}};
}

Matrix overridden(const Matrix& matrix, Field field, std::string_view text) {
    auto result = with_override(matrix, field, text, {});
    REQUIRE(result.ok());
    return std::move(*result);
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
    CHECK(changed.expect == Expect{});
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
    const auto changed = with_override(matrix, Field::driver, "580", {"--override driver=580", 0, 0, 1});
    REQUIRE(changed);
    CHECK(changed->axes[0].rows.size() == 1);
    CHECK(changed->axes[0].rows[0][0].where.file == "--override driver=580");
    CHECK_FALSE(with_override(matrix, Field::driver, "new", {}));
    CHECK_FALSE(with_override(matrix, Field::arch, "amd64", {}));
}

TEST_CASE("an override sets a field in every cell") {
    const auto matrix = accepted(
        "version: 1\nexpect_cells: 6\naxes: {driver: [\"470\", \"570\"], gpu: [T4, H100]}\nexclude: "
        "[{driver: \"<500\", gpu: H100}]\n"
        "include: [{driver: \"535\", gpu: L4}, {driver: \"550\", gpu: L4}, {driver: \"550\", gpu: T4, cuda: "
        "12}]\n");
    const auto one = overridden(matrix, Field::driver, "580");
    CHECK(ids(one) == Ids{"drv580-t4", "drv580-h100", "drv580-l4", "drv580-t4-cu12"});
    CHECK(one.expect == Expect{});
    CHECK(ids(overridden(matrix, Field::python, "3.12")) == Ids{"drv470-t4-py3.12", "drv570-t4-py3.12",
                                                                "drv570-h100-py3.12", "drv535-l4-py3.12",
                                                                "drv550-l4-py3.12", "drv550-t4-cu12-py3.12"});

    CHECK(overridden(matrix, Field::uses, "THC,ptx-only").set.back().second.items.size() == 2);
    const auto map = overridden(matrix, Field::env, "NVIDIA_DRIVER_CAPABILITIES=compute,utility,A=b");
    CHECK(map.set.back().second.items == std::vector<std::pair<std::string, std::string>>{
                                             {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}, {"A", "b"}});
}

TEST_CASE("an override of a zipped axis keeps the rows that differ elsewhere") {
    const auto matrix = accepted(
        "version: 1\naxes: {cuda: [\"11.8.0\", \"12.4.1\", \"12.6.3\"], os: [debian12, debian13, "
        "debian13]}\nzip: [[cuda, os]]\n");
    CHECK(ids(overridden(matrix, Field::cuda, "13.0")) == Ids{"cu13.0-debian12", "cu13.0-debian13"});
}

TEST_CASE("an override of a matrix of includes makes no new cell") {
    const auto matrix = accepted("version: 1\ninclude: [{gpu: T4}, {gpu: H100}]\n");
    CHECK(ids(overridden(matrix, Field::cuda, "12")) == Ids{"t4-cu12", "h100-cu12"});
}

TEST_CASE("an override is checked like a value of the file") {
    const auto matrix = accepted("version: 1\nset: {cuda: 12}\n");
    const std::vector<std::pair<Field, std::string>> bad{{Field::driver, "<500"},   {Field::gpu, "$(x)"},
                                                         {Field::arch, "amd64"},    {Field::env, "PATH=/x"},
                                                         {Field::packages, "timm"}, {Field::uses, ""}};
    for (const auto& each : bad) {
        CAPTURE(each.second);
        const auto result = with_override(matrix, each.first, each.second, {});
        REQUIRE_FALSE(result.ok());
        CHECK(result.failure().code == ExitCode::bad_input);
    }
}
