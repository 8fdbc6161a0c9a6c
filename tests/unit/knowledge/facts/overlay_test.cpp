// --facts DIR: rows laid over the embedded ones, and every mistake in them with its place.
#include <doctest/doctest.h>

#include <string>

#include "knowledge/facts/facts.hpp"
#include "knowledge/facts/schema.hpp"
#include "overlay_folder.hpp"

using namespace cudamatrix;
using test::Folder;
using test::kToday;
using test::mistakes_of;

namespace {

std::string branch(const std::string& columns) {
    return "table: driver_branches\nas_of: \"2026-12-01\"\nrows:\n  - {" + columns + "}\n";
}

}  // namespace

TEST_CASE("a row of the overlay replaces the one of its id, a new one joins") {
    Folder folder;
    folder.write("new.yaml",
                 "table: driver_branches\nas_of: \"2026-12-01\"\nrows:\n"
                 "  - {id: driver-r700, branch: 700, newest: 700.10, cuda: \"13.9\", source: "
                 "\"https://example.org/a\", confidence: read}\n"
                 "  - {id: driver-r550, branch: 550, newest: 550.999, source: [\"https://example.org/a\"], "
                 "confidence: measured}\n");
    const auto facts = Facts::with_overlay(folder.path(), kToday);
    REQUIRE(facts);
    CHECK(facts->row("driver-r700")->text("newest") == "700.10");
    CHECK(facts->row("driver-r550")->text("newest") == "550.999");
    CHECK(facts->row("driver-r535")->text("newest") == Facts::embedded().row("driver-r535")->text("newest"));
    CHECK(facts->table("driver_branches")->rows.back().id() == "driver-r700");
    CHECK(facts->row("driver-r700")->ref().as_of == "2026-12-01");
    CHECK(facts->date() == "2026-12-01");
    CHECK(facts->hash() != Facts::embedded().hash());
    CHECK(facts->row("driver-r550")->confidence() == Confidence::measured);
    CHECK_FALSE(Facts::embedded().row("driver-r700"));
    CHECK(Facts::embedded().laid_over().empty());
    const auto own = facts->laid_over();
    REQUIRE(own.size() == 1);
    CHECK(own.front().name == "driver_branches");
    REQUIRE(own.front().rows.size() == 2);
    CHECK(own.front().rows[0].text("newest") == "550.999");
    CHECK(own.front().rows[1].id() == "driver-r700");
}

TEST_CASE("each mistake is reported at its row") {
    Folder folder;
    const std::string good =
        "id: driver-r700, branch: 700, source: \"https://example.org/a\", confidence: read";
    struct Case {
        std::string columns, message;
    };
    const Case cases[] = {
        {"id: driver-r701, branch: 700, source: \"https://example.org/a\", confidence: read",
         "row 'driver-r701': its id is made of its columns: expected 'driver-r700'"},
        {"id: driver-r700, branch: 700, confidence: read", "row 'driver-r700': column 'source' is missing"},
        {"id: driver-r700, branch: 700, source: [], confidence: read", "row 'driver-r700': it has no source"},
        {"id: driver-r700, branch: 700, source: \"a friend\", confidence: read",
         "row 'driver-r700': source 'a friend': expected an https:// URL, github:OWNER/REPO@COMMIT:PATH, "
         "wheel:FILE.whl sha256:DIGEST, sdist:FILE.tar.gz (or .zip) sha256:DIGEST, deb:FILE.deb sha256:DIGEST, or "
         "image:HOST/PATH:TAG sha256:DIGEST"},
        {"id: driver-r700, branch: 700, source: \"https://example.org/a\", confidence: unverified",
         "row 'driver-r700': it is unverified, so its source is 'none found, DATE', not "
         "'https://example.org/a'"},
        {good + ", as_of: \"2026-02-30\"",
         "row 'driver-r700': column 'as_of' holds '2026-02-30': expected a date, YYYY-MM-DD"},
        {good + ", newest: banana",
         "row 'driver-r700': column 'newest' holds 'banana': expected a version such as 12.4.1"},
        {good + ", newest: [\"700.1\"]",
         "row 'driver-r700': column 'newest' is a single value, here it is a list"},
        {good + ", colour: blue", "row 'driver-r700': table 'driver_branches' has no column 'colour'"},
        {good + ", eol: soon",
         "row 'driver-r700': column 'eol' holds 'soon': expected a date, YYYY-MM-DD or YYYY-MM"},
        {"id: driver-r700, branch: 700, source: \"https://example.org/a\", confidence: guess",
         "row 'driver-r700': column 'confidence' holds 'guess': expected measured, read or unverified"},
    };
    folder.write("a.yaml", branch(good));
    CHECK(mistakes_of(folder) == "(none)");
    for (const auto& c : cases) {
        folder.write("a.yaml", branch(c.columns));
        CHECK(mistakes_of(folder) == "a.yaml:4:5: error: " + c.message + "\n");
    }
    folder.write("a.yaml",
                 "table: forward_compatibility\nas_of: \"2026-12-01\"\nrows:\n"
                 "  - {id: compat-99.9, cuda: \"99.9\", branches: [535], source: "
                 "\"https://example.org/a\", confidence: read}\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:4:5: error: row 'compat-99.9': column 'cuda' names '99.9', which "
          "cuda_toolkits.cuda does not have\n");
}

TEST_CASE("what the rules take for granted is checked in the rows of packages") {
    Folder folder;
    const auto mistake_in = [&](const std::string& table, const std::string& columns) {
        folder.write("a.yaml", "table: " + table + "\nas_of: \"2026-12-01\"\nrows:\n  - {" + columns +
                                   ", source: \"https://example.org/a\", confidence: read}\n");
        return mistakes_of(folder);
    };
    const std::string release = "id: package-acme-1.0, package: acme, version: \"1.0\"";
    const std::string at = "a.yaml:4:5: error: row 'package-acme-1.0': column ";
    CHECK(mistake_in("package_releases",
                     release + ", requires: [numpy, \"torch >=2; python >=3.9; arch x86_64\"], abi: [cp312, "
                               "cp313t, cp39-abi3, cp315-abi3t, py3, py39], requires_python: \">=3.9\"") ==
          "(none)");
    for (const std::string demand : {"", "numpy >>1", "numpy >=1; os linux", "numpy >=1; python 3.x",
                                     "; python >=3", "numpy >=1; arch"}) {
        CHECK(mistake_in("package_releases", release + ", requires: [\"" + demand + "\"]") ==
              at + "'requires' holds '" + demand +
                  "': expected a package with clauses such as 'numpy >=1.26; python >=3.12; arch x86_64'\n");
    }
    for (const std::string tag : {"3.12", "cp2", "cp312-none", "py2", "py3-none", "cp3x", "cp3"}) {
        CHECK(mistake_in("package_releases", release + ", abi: [\"" + tag + "\"]") ==
              at + "'abi' holds '" + tag + "': expected a tag such as cp312, cp313t, cp39-abi3 or py3\n");
    }
    const std::string shared =
        "id: package-acme-1.0-and-others, package: acme, version: \"1.0\", also: [\"1.1\", \"";
    CHECK(mistake_in("package_releases", shared + "1.1\"]") ==
          "a.yaml:4:5: error: row 'package-acme-1.0-and-others': acme 1.1 is there twice\n");
    CHECK(mistake_in("package_releases", shared + "1.0\"]") ==
          "a.yaml:4:5: error: row 'package-acme-1.0-and-others': acme 1.0 is there twice\n");
    CHECK(
        mistake_in("package_releases", release + ", also: [\"1.1\"]") ==
        "a.yaml:4:5: error: row 'package-acme-1.0': its id is made of its columns: expected 'package-acme-1.0-and-others'\n");
    CHECK(mistake_in("package_releases", release + ", requires_python: \"3.9 or so\"") ==
          at + "'requires_python' holds '3.9 or so': expected clauses such as >=2.0,<3\n");
    CHECK(mistake_in("package_releases", "id: package-acme-one, package: acme, version: one") ==
          "a.yaml:4:5: error: row 'package-acme-one': column 'version' holds 'one': expected a version of a "
          "Python package such as 2.0rc1\n");
    CHECK(
        mistake_in("torch_companions", "id: companion-acme-1.0, package: acme, version: \"1.0\"") ==
        "a.yaml:4:5: error: row 'companion-acme-1.0': one of its columns torch, torch_min, built_for has to "
        "be there\n");
}

TEST_CASE("files that are no tables") {
    Folder folder;
    CHECK(mistakes_of(folder).find("holds no .yaml file") != std::string::npos);
    folder.write("a.yaml", "table: driver_branch\nas_of: \"2026-12-01\"\nrows: []\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:1:1: error: there is no table 'driver_branch'; did you mean 'driver_branches'?\n");
    folder.write("a.yaml", "- 1\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:1:1: error: a facts file is a map: expected the keys table, as_of and rows\n");
    folder.write("a.yaml", "table: gpus\nas_of: \"2026-12-01\"\nrow: []\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:3:1: error: unknown key 'row': expected table, as_of or rows\n"
          "a.yaml:1:1: error: 'rows' is missing or not a list\n");
    folder.write("a.yaml", "table: gpus\nas_of: \"2026-12-01\"\nrows:\n  - {id: {a: b}}\n  - 7\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:4:10: error: column 'id' is a map: rows are flat\n"
          "a.yaml:5:5: error: a row is a map of columns\n");
    const auto missing = Facts::with_overlay(folder.path() / "nowhere", kToday);
    REQUIRE_FALSE(missing);
    CHECK(missing.failure().code == ExitCode::bad_input);
}

TEST_CASE("null leaves a column out, a list holds single values, keys of the file are single values") {
    Folder folder;
    folder.write("a.yaml", branch("id: driver-r700, branch: 700, newest: null, source: "
                                  "\"https://example.org/a\", confidence: read"));
    const auto facts = Facts::with_overlay(folder.path(), kToday);
    REQUIRE(facts);
    CHECK_FALSE(facts->row("driver-r700")->has("newest"));
    folder.write("a.yaml",
                 "table: [gpus]\nas_of: \"2026-12-01\"\nrows:\n  - {id: gpu-x, aliases: [a, [b]]}\n");
    CHECK(mistakes_of(folder) ==
          "a.yaml:1:8: error: 'table' is missing or not one value\n"
          "a.yaml:4:30: error: column 'aliases' holds something that is not one value\n");
}

TEST_CASE("each kind of value says what it accepts") {
    Folder folder;
    folder.write("a.yaml",
                 "table: gpus\nas_of: \"2026-12-01\"\nrows:\n"
                 "  - {id: gpu-x, name: \"\", aliases: [], compute: \"8\", class: geforce, memory_gb: "
                 "[lots], source: \"https://example.org/a\", "
                 "confidence: read}\n");
    folder.write("b.yaml",
                 "table: operating_systems\nas_of: \"2026-12-01\"\nrows:\n"
                 "  - {id: os-x, os: x, name: X, render: maybe, source: \"https://example.org/a\", "
                 "confidence: read}\n");
    folder.write("c.yaml",
                 "table: wheel_indexes\nas_of: \"2026-12-01\"\nrows:\n"
                 "  - {id: index-cu118, name: cu118, url: \"https://example.org/cu118/\", torch_first: "
                 "\"2.0.0\", torch_last: \"2.7.1\", source: \"https://example.org/a\", confidence: read}\n");
    CHECK(
        mistakes_of(folder) ==
        "a.yaml:4:5: error: row 'gpu-x': column 'name' holds '': expected some words\n"
        "a.yaml:4:5: error: row 'gpu-x': column 'compute' holds '8': expected a compute capability such as "
        "7.5 or 9.0a\n"
        "a.yaml:4:5: error: row 'gpu-x': column 'memory_gb' holds 'lots': expected a whole number\n"
        "b.yaml:4:5: error: row 'os-x': column 'render' holds 'maybe': expected true or false\n"
        "c.yaml:4:5: error: row 'index-cu118': column 'url' holds 'https://example.org/cu118/': expected an "
        "https:// URL without a slash at its end\n");
}

TEST_CASE("levels of confidence") {
    CHECK(to_string(Confidence::measured) == "measured");
    CHECK(to_string(Confidence::read) == "read");
    CHECK(to_string(Confidence::unverified) == "unverified");
}

TEST_CASE("sources and dates") {
    CHECK(facts::is_source("https://docs.nvidia.com/deploy/"));
    CHECK(facts::is_source("github:NVIDIA/open-gpu-kernel-modules@" + std::string(40, 'a') + ":README.md"));
    CHECK_FALSE(facts::is_source("github:NVIDIA/open-gpu-kernel-modules@580.65.06:README.md"));
    CHECK_FALSE(facts::is_source("github:NVIDIA/open-gpu-kernel-modules@main:README.md"));
    CHECK_FALSE(facts::is_source("github:NVIDIA/repo@" + std::string(39, 'a') + ":README.md"));
    CHECK_FALSE(facts::is_source("github:NVIDIA/repo@" + std::string(40, 'g') + ":README.md"));
    CHECK(facts::is_source("wheel:torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl sha256:" +
                           std::string(64, 'a')));
    CHECK(facts::is_source("sdist:flash_attn-2.8.3.tar.gz sha256:" + std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("sdist:flash_attn-2.8.3.whl sha256:" + std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("sdist:.tar.gz sha256:" + std::string(64, 'a')));
    CHECK(facts::is_source("deb:nvidia-driver_535.261.03-1_amd64.deb sha256:" + std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("deb:nvidia-driver_535.261.03-1_amd64.deb"));
    CHECK_FALSE(facts::is_source("deb:.deb sha256:" + std::string(64, 'a')));
    CHECK(facts::is_source("image:docker.io/nvidia/cuda:13.0.2-base-ubuntu24.04 sha256:" +
                           std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("image:docker.io/nvidia/cuda sha256:" + std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("image:cuda:13.0.2 sha256:" + std::string(64, 'a')));
    CHECK_FALSE(facts::is_source("image:docker.io/nvidia/cuda:13.0.2 sha256:" + std::string(63, 'a')));
    CHECK_FALSE(facts::is_source("http://example.org/"));
    CHECK_FALSE(facts::is_source("https://example"));
    CHECK_FALSE(facts::is_source("github:NVIDIA/repo:README.md"));
    CHECK_FALSE(facts::is_source("github:NVIDIA@" + std::string(40, 'a') + ":README.md"));
    CHECK_FALSE(facts::is_source("wheel:torch.whl sha256:" + std::string(63, 'a')));
    CHECK_FALSE(facts::is_source("wheel:torch.whl sha256:" + std::string(64, 'G')));
    CHECK_FALSE(facts::is_source("MEM"));
    CHECK(facts::is_url("https://example.org/whl/cu118"));
    CHECK_FALSE(facts::is_url("https://example.org/whl/cu118/"));
    CHECK_FALSE(facts::is_url("http://example.org/whl/cu118"));
    CHECK_FALSE(facts::is_url("github:NVIDIA/repo@" + std::string(40, 'a') + ":README.md"));
    CHECK_FALSE(facts::is_url("https://"));
    CHECK(facts::is_date("2024-02-29"));
    CHECK_FALSE(facts::is_date("2023-02-29"));
    CHECK_FALSE(facts::is_date("2023-13-01"));
    CHECK_FALSE(facts::is_date("2023-1-01"));
    CHECK_FALSE(facts::is_date("2023-01-00"));
}
