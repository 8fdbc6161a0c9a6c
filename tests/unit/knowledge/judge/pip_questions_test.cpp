// What pip's resolver is asked about the cells of a matrix.
#include "knowledge/judge/pip_questions.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "knowledge/resolve/pip_question.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/matrix_file.hpp"
#include "read_matrix.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;

namespace {

constexpr std::string_view kDay = "2026-11-27";

// The questions, each on a line, and what is refused.
std::string asked(const std::string& text, const Facts& facts = Facts::embedded()) {
    const auto found = pip_questions(test::read("version: 1\n" + text), facts, kDay);
    std::string out;
    for (const auto& question : found.open)
        out += question.text() + "\n";
    for (const auto& why : found.refused)
        out += "refused: " + why + "\n";
    return out;
}

std::string of_set(const std::string& set, const Facts& facts = Facts::embedded()) {
    return asked("set: {" + set + "}\n", facts);
}

Facts with_row(const std::string& row, const std::string& day) {
    test::TempFolder folder;
    test::put_file(folder.path() / "resolutions.yaml",
                   fmt::format("table: resolutions\nas_of: \"{}\"\nrows:\n  - {{id: resolution-x, {}, pip: "
                               "\"26.3\", source: \"https://example.org/x\", confidence: measured}}\n",
                               day, row));
    auto facts = Facts::with_overlay(folder.path(), kDay);
    if (!facts.ok()) MESSAGE(render(facts.failure().diagnostics.front(), {}));
    REQUIRE(facts.ok());
    return *std::move(facts);
}

}  // namespace

TEST_CASE("torch and packages are asked about together, once for each python and system") {
    CHECK(of_set("torch: 2.6.0, python: '3.12', packages: {Odd_Pkg: '1.0', other: any, torchvision: auto}") ==
          "odd-pkg==1.0, other, torch==2.6.0, torchvision for python 3.12 on x86_64\n");
    CHECK(of_set("torch: 2.6.0+cu118, python: '3.12', os: ubuntu22.04, gpu: GH200") ==
          "torch==2.6.0+cu118 for python 3.12 on aarch64 (glibc 2.35)\n");
    CHECK(of_set("torch: 2.6.0+cu118, python: '3.12', os: ubuntu22.04, gpu: T4") ==
          "torch==2.6.0+cu118 for python 3.12 on x86_64 (glibc 2.35)\n");
    CHECK(of_set("python: 3.13t, glibc: '2.34', arch: aarch64, packages: {odd: '1'}") ==
          "odd==1 for python 3.13t on aarch64 (glibc 2.34)\n");
    CHECK(of_set("python: '3.12', gpu: GH200, packages: {odd: '1'}") ==
          "odd==1 for python 3.12 on aarch64\n");
    CHECK(
        asked(
            "axes:\n  gpu: [T4, L4]\n  driver: ['550.54.15', '580.65.06']\n  python: ['3.11', '3.12']\nset: "
            "{packages: {odd: '1'}}\n") ==
        "odd==1 for python 3.11 on x86_64\nodd==1 for python 3.12 on x86_64\n");
}

TEST_CASE("pip is not asked where there is nothing to ask, or nothing that it could tell") {
    for (const char* set :
         {"torch: 2.6.0", "python: '3.12'", "torch: none, python: '3.12'", "driver: 580.65.06",
          "torch: 2.6.0, python: '3.12', os: windows", "torch: 2.6.0, python: '3.12', os: alpine3.20",
          "family: ngc, torch: 2.6.0, python: '3.12', packages: {odd: '1'}",
          "torch: 97.0.0, python: '3.12', packages: {odd: '1'}",
          "torch: 2.9.0.dev20250812+cu128, python: '3.12', packages: {odd: '1'}",
          // Rejected by what is known: no such build, no wheel for the python, demands that contradict.
          "torch: 1.12.1+cu118, python: '3.10'", "torch: 1.13.1, python: '3.12'",
          "torch: 2.6.0, python: '3.12', packages: {xformers: 0.0.28}"}) {
        CAPTURE(std::string(set));
        CHECK(of_set(set) == "");
    }
}

TEST_CASE("a build that is on no index is refused, and its cell is not asked about") {
    CHECK(of_set("python: '3.12', packages: {odd: '1', flash-attn: 2.7.4.post1+cu12torch2.6cxx11abiFALSE}") ==
          "refused: flash-attn 2.7.4.post1+cu12torch2.6cxx11abiFALSE is on no index\n");
    CHECK(of_set("python: '3.12', packages: {torchvision: 0.21.0+cu118}") ==
          "torchvision==0.21.0+cu118 for python 3.12 on x86_64\n");
}

// The reader refuses them, and so does what makes arguments of them.
TEST_CASE("hostile names and versions never become arguments") {
    const auto facts = Facts::embedded();
    const Value python{"3.12", {}, {}};
    for (const auto& hostile : std::vector<std::pair<std::string, std::string>>{{"--index-url", "1"},
                                                                                {"-r", "1"},
                                                                                {"-", "1"},
                                                                                {"", "1"},
                                                                                {"a b", "1"},
                                                                                {"a[x]", "1"},
                                                                                {"a@https://x", "1"},
                                                                                {"a", "-r"},
                                                                                {"a", "--pre"},
                                                                                {"a", "1;x"},
                                                                                {"a", "1 --pre"},
                                                                                {"a", "*"},
                                                                                {"a", "1\n2"},
                                                                                {"a", ""},
                                                                                {"a", ">=1"},
                                                                                {"../a", "1"},
                                                                                {"a-", "1"}}) {
        const std::string name = hostile.first, version = hostile.second;
        CAPTURE(name);
        CAPTURE(version);
        const Value packages{name + "=" + version, {}, {{name, version}}};
        Cell cell;
        cell.set(Field::python, &python);
        cell.set(Field::packages, &packages);
        PipQuestions found;
        add_pip_question(cell, facts, kDay, found);
        CHECK(found.open.empty());
        CHECK(found.refused.size() == 1);
    }
}

TEST_CASE("an answer is not asked for again, but on another day where it may have changed") {
    const std::string set = "python: '3.12', packages: {odd: '1'}",
                      open = "python: '3.12', packages: {odd: any}";
    const std::string row = "pins: [\"odd==1\"], python: \"3.12\", arch: x86_64, ";
    const std::string unpinned = "pins: [\"odd\"], python: \"3.12\", arch: x86_64, ";
    const std::string takes = "takes: [\"odd==1\"]", conflict = "conflict: [\"x\"]",
                      absent = "absent: [\"x\"]";
    for (const auto& answer : {takes, conflict, absent}) {
        CAPTURE(answer);
        CHECK(of_set(set, with_row(row + answer, "2026-11-27")) == "");
        CHECK(of_set(open, with_row(unpinned + answer, "2026-11-27")) == "");
        CHECK((of_set(set, with_row(row + answer, "2026-11-26")) == "") == (answer == takes));
        CHECK(of_set(open, with_row(unpinned + answer, "2026-11-26")) == "odd for python 3.12 on x86_64\n");
        // Other machines and other pins have no answer.
        for (const char* other :
             {"python: '3.11', packages: {odd: '1'}", "python: '3.12', arch: aarch64, packages: {odd: '1'}",
              "python: '3.12', glibc: '2.31', packages: {odd: '1'}",
              "python: '3.12', packages: {odd: '1', even: '2'}", "python: '3.12', packages: {odd: '2'}"})
            CHECK(of_set(other, with_row(row + answer, "2026-11-27")) != "");
    }
}

TEST_CASE("a matrix with more cells than are looked at says so") {
    const auto matrix =
        test::read("version: 1\naxes:\n  python: ['3.11', '3.12', '3.13']\nset: {packages: {odd: '1'}}\n");
    const auto some = pip_questions(matrix, Facts::embedded(), kDay, 2);
    CHECK(!some.all);
    CHECK(some.open.size() == 2);
    CHECK(pip_questions(matrix, Facts::embedded(), kDay, 3).all);
}
