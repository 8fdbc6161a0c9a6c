#include "look/measure/rows.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

constexpr const char* kToday = "2026-11-21";

MeasuredRow package(const std::string& name, const std::string& version, const std::string& abi = "py3") {
    return {"package_releases",
            fmt::format("package-{}-{}", name, version),
            {{"package", {name}, false},
             {"version", {version}, false},
             {"requires", {}, true},
             {"abi", {abi}, true},
             {"source",
              {fmt::format("wheel:{}-{}-py3-none-any.whl sha256:{}", name, version, std::string(64, 'b'))},
              false},
             {"confidence", {"measured"}, false}}};
}

std::string line(const std::string& name, const std::string& version, const std::string& more = "",
                 const std::string& abi = "py3") {
    return fmt::format(
        "  - {{id: package-{0}-{1}, package: \"{0}\", version: \"{1}\", requires: [], abi: [\"{4}\"], "
        "source: \"wheel:{0}-{1}-py3-none-any.whl sha256:{2}\", confidence: measured{3}}}\n",
        name, version, std::string(64, 'b'), more, abi);
}

std::string table(const std::string& lines, const std::string& as_of = kToday) {
    return fmt::format(
        "# Written by `cudamatrix facts measure`: read from the wheels themselves.\n"
        "table: package_releases\nas_of: \"{}\"\nrows:\n{}",
        as_of, lines);
}

std::string left_out(const test::TempFolder& folder, std::vector<MeasuredRow> rows,
                     const char* today = kToday) {
    const auto done = write_overlay(folder.path(), std::move(rows), today);
    return done.ok() ? text::join(done.value(), "\n") : done.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("rows become a table that --facts reads; none become nothing") {
    const test::TempFolder folder;
    CHECK(left_out(folder, {}).empty());
    CHECK(folder.entries() == 0);
    CHECK(
        left_out(folder, {package("b", "1.0"), package("a", "10.0", "cp312"), package("a", "9.0")}).empty());
    CHECK(folder.text("package_releases.yaml") ==
          table(line("a", "9.0") + line("a", "10.0", "", "cp312") + line("b", "1.0")));
    CHECK(folder.entries() == 1);
    CHECK(Facts::with_overlay(folder.path(), kToday).ok());
}

TEST_CASE("releases that say the same share a row, and leave it when they are measured again") {
    const test::TempFolder folder;
    const auto shared = [](const std::string& first, const std::string& also, const std::string& as_of = "") {
        auto text = line("a", first, as_of);
        text.replace(text.find(", package"), 0, "-and-others");
        text.replace(text.find(", requires"), 0, ", also: [" + also + "]");
        return text;
    };
    CHECK(left_out(folder, {package("a", "10.0"), package("a", "9.0"), package("a", "9.5")}).empty());
    CHECK(folder.text("package_releases.yaml") == table(shared("9.0", "\"9.5\", \"10.0\"")));
    const auto facts = Facts::with_overlay(folder.path(), kToday);
    REQUIRE(facts.ok());
    for (const auto* version : {"9.0", "9.5", "10.0"})
        CHECK(lookup::package_release(*facts, "a", version)->id() == "package-a-9.0-and-others");
    CHECK(!lookup::package_release(*facts, "a", "9.1"));
    // A row of its own counts.
    CHECK(left_out(folder, {package("a", "9.0", "cp312")}).empty());
    CHECK(folder.text("package_releases.yaml") ==
          table(line("a", "9.0", "", "cp312") +
                text::replace_all(shared("9.5", "\"10.0\""), "a-9.5-py3", "a-9.0-py3")));
    // What was measured on another day says so, and is not in one row with the rest.
    CHECK(left_out(folder, {package("a", "11.0")}, "2026-11-22").empty());
    CHECK(Facts::with_overlay(folder.path(), "2026-11-22").ok());
    CHECK(folder.text("package_releases.yaml").find("version: \"11.0\", requires") != std::string::npos);
}

TEST_CASE("rows of earlier runs stay, with their day, until they are measured again") {
    const test::TempFolder folder;
    CHECK(left_out(folder, {package("a", "1.0"), package("a", "2.0")}, "2026-01-02").empty());
    CHECK(left_out(folder, {package("a", "2.0"), package("b", "1.0")}).empty());
    const auto expected =
        table(line("a", "1.0", ", as_of: \"2026-01-02\"") + line("a", "2.0") + line("b", "1.0"));
    CHECK(folder.text("package_releases.yaml") == expected);
    CHECK(left_out(folder, {package("b", "1.0")}).empty());
    CHECK(folder.text("package_releases.yaml") ==
          table(line("a", "1.0", ", as_of: \"2026-01-02\"") + line("a", "2.0") + line("b", "1.0")));
}

TEST_CASE("a row that the tables would refuse is left out, and the others are written") {
    const test::TempFolder folder;
    MeasuredRow wheel{"torch_wheels",
                      "torch-99.0.0+cu990-x86_64",
                      {{"torch", {"99.0.0"}, false},
                       {"variant", {"cu990"}, false},
                       {"cuda", {"99.0"}, false},
                       {"arch", {"x86_64"}, false},
                       {"pythons", {"3.12"}, true},
                       {"source", {"wheel:w.whl sha256:" + std::string(64, 'b')}, false},
                       {"confidence", {"measured"}, false}}};
    const auto release = [&](const std::string& variant) {
        return MeasuredRow{"torch_releases",
                           "torch-99.0.0",
                           {{"torch", {"99.0.0"}, false},
                            {"variants", {variant}, true},
                            {"python_min", {"3.12"}, false},
                            {"python_max", {"3.12"}, false},
                            {"complete", {"false"}, false},
                            {"source", {"wheel:w.whl sha256:" + std::string(64, 'b')}, false},
                            {"confidence", {"measured"}, false}}};
    };
    CHECK(
        left_out(folder, {wheel, release("cu990"), package("a", "1.0", "not a tag"), package("b", "1.0")}) ==
        "row 'package-a-1.0': column 'abi' holds 'not a tag': expected a tag such as cp312, cp313t, "
        "cp39-abi3 or py3\n"
        "row 'torch-99.0.0+cu990-x86_64': column 'cuda' names '99.0', which cuda_toolkits.cuda does not "
        "have");
    CHECK(folder.text("package_releases.yaml") == table(line("b", "1.0")));
    CHECK(folder.text("torch_releases.yaml").find("torch-99.0.0,") != std::string::npos);
    CHECK(folder.entries() == 2);
    CHECK(Facts::with_overlay(folder.path(), kToday).ok());
    // The overlay that was measured beside may have what is missing.
    const test::TempFolder beside;
    beside.put("toolkits.yaml",
               "table: cuda_toolkits\nas_of: \"2026-11-21\"\nrows:\n  - {id: cuda-toolkit-99.0, cuda: "
               "\"99.0\", ptx_isa: "
               "\"9.0\", targets: [\"9.0\"], source: \"https://example.org\", confidence: read}\n");
    const test::TempFolder together;
    const auto done = write_overlay(together.path(), {wheel, release("cu990")}, kToday, beside.path());
    REQUIRE(done.ok());
    CHECK(text::join(*done, "\n") == "");
    CHECK(together.entries() == 2);
    // A row that another one needs goes with it.
    const test::TempFolder other;
    wheel.cells.erase(wheel.cells.begin() + 2);
    auto broken = release("cu990");
    broken.cells.pop_back();
    CHECK(left_out(other, {wheel, broken}) ==
          "row 'torch-99.0.0': column 'confidence' is missing\n"
          "row 'torch-99.0.0+cu990-x86_64': column 'torch' names '99.0.0', which torch_releases.torch does "
          "not have");
    CHECK(other.entries() == 0);
}

TEST_CASE("what stands there and is no table is not replaced, and a mistake in it stops nobody") {
    const test::TempFolder folder;
    folder.put("package_releases.yaml", "rows: [");
    CHECK(left_out(folder, {package("a", "1.0")}) == "a list that starts with '[' has no ']'");
    CHECK(folder.text("package_releases.yaml") == "rows: [");
    CHECK(folder.entries() == 1);
    const test::TempFolder mine;
    mine.put("mine.yaml", "table: no_such_table\n");
    CHECK(left_out(mine, {package("a", "1.0")}).empty());
    CHECK(mine.text("package_releases.yaml") == table(line("a", "1.0")));
    CHECK(mine.text("mine.yaml") == "table: no_such_table\n");
    // The rows that a person wrote into our file are not ours to take away either.
    const test::TempFolder edited;
    edited.put("package_releases.yaml", table("  - {id: package-x-1, package: x}\n"));
    CHECK(left_out(edited, {package("a", "1.0")}).empty());
    CHECK(edited.text("package_releases.yaml") ==
          table(line("a", "1.0") + "  - {id: package-x-1, package: \"x\"}\n"));
}

TEST_CASE("a folder that cannot be is a failure") {
    const test::TempFolder folder;
    folder.put("file", "");
    const auto done = write_overlay(folder.path() / "file", {package("a", "1.0")}, kToday);
    REQUIRE_FALSE(done.ok());
    CHECK(done.failure().code == ExitCode::environment);
}
