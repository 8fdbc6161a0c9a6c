#include "matrix/matrix_text.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "folders.hpp"
#include "matrix/yaml.hpp"
#include "read_matrix.hpp"

using namespace cudamatrix;

namespace {

std::string printed(std::string_view text) {
    return matrix_text(test::read(text));
}

// "images.healthcheck.test" of every key, without the words that the user made up.
void add_keys(const yaml::Node& node, const std::string& above, std::set<std::string>& keys) {
    for (const auto& item : node.items)
        add_keys(item, above, keys);
    for (const auto& [key, value] : node.members) {
        const auto path = above.empty() ? key.text : above + "." + key.text;
        keys.insert(path);
        add_keys(value, path, keys);
    }
}

std::set<std::string> keys_of(std::string_view text) {
    const auto root = yaml::parse(text, "matrix.yaml");
    REQUIRE(root.ok());
    std::set<std::string> keys;
    add_keys(*root, "", keys);
    return keys;
}

}  // namespace

TEST_CASE("a matrix is printed in one form, whatever its file looked like") {
    CHECK(printed("{set: {cuda: 12}, version: '1'}  # words") == R"(version: 1
name: matrix
set:
  cuda: "12"
)");
    CHECK(printed(R"(
version: 1
name: all
expect: {cells: 5, keys: 14, end: true}
set: {arch: amd64, env: {B: "1", A: "x y"}, uses: [vllm, triton]}
include:
  - {cuda: 12.8.1, torch: none, python: "3.10"}
zip: [[torch, cuda]]
axes:
  torch: [v2.6.0, "2.7.0"]
  python: ["3.10", 3.12]
  cuda: [12.4.1, 12.6.3]
exclude:
  - {python: "3.9", cuda: [">= 12.4, < 12.5", "!=12.6.3"]}
keep: [{python: 3.12}]
rules:
  - {id: own, require: {driver: "470.*"}, because: "it: has a colon", severity: warning}
  - {because: b, require: {cuda: ">=12"}, id: two, stage: runtime, source: "https://example.org", when: {os: jammy*}, severity: error}
waive:
  - {rule: end-of-life, because: mirrored, until: 2027-03-31}
stages: [runtime, install]
build: {user: app, netrc: ./a.netrc, snapshot: 2026-11-01, network: host}
mirrors: {docker.io: registry.example.org/hub/, "https://download.example.org/whl/": "https://mirror.example.org"}
...
)") == R"(version: 1
name: all
expect:
  cells: 5
  keys: 14
  end: true
axes:
  torch: ["2.6.0", "2.7.0"]
  cuda: ["12.4.1", "12.6.3"]
  python: ["3.10", "3.12"]
zip:
  - [torch, cuda]
exclude:
  - {python: "3.9", cuda: [">=12.4,<12.5", "!=12.6.3"]}
include:
  - {cuda: "12.8.1", torch: "none", python: "3.10"}
set:
  arch: x86_64
  env:
    B: "1"
    A: x y
  uses: [vllm, triton]
keep:
  - {python: "3.12"}
rules:
  - id: own
    require:
      driver: "470.*"
    because: "it: has a colon"
    severity: warning
  - id: two
    when:
      os: "jammy*"
    require:
      cuda: ">=12"
    because: b
    source: "https://example.org"
    stage: runtime
waive:
  - {rule: end-of-life, because: mirrored, until: "2027-03-31"}
stages: [runtime, install]
build:
  netrc: "./a.netrc"
  network: host
  snapshot: "20261101T000000Z"
mirrors:
  docker.io: registry.example.org/hub
  "https://download.example.org/whl": "https://mirror.example.org"
...
)");
}

TEST_CASE("every key of the documentation is printed, and what is printed is printed again") {
    std::size_t files = 0;
    const auto folder = std::filesystem::path(source_dir()) / "docs/examples";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".yaml") continue;
        ++files;
        CAPTURE(entry.path().string());
        const auto text = *file::read(entry.path(), 1u << 20);
        const auto once = printed(text);
        CHECK(printed(once) == once);
        const auto kept = keys_of(once);
        // Defaults (of build.yaml), and a key that is printed as another.
        const std::set<std::string> others{"build.cache", "build.user", "build.workdir", "expect_cells"};
        for (const auto& key : keys_of(text))
            CHECK_MESSAGE((kept.contains(key) || others.contains(key)), key);
    }
    CHECK(files > 40);
}

TEST_CASE("values in the place of those of the file are printed") {
    const auto matrix = test::read(
        "version: 1\nexpect: {cells: 2, keys: 3, end: true}\naxes: {cuda: [12.4.1, 12.6.3]}\n...\n");
    const auto one = with_override(matrix, Field::cuda, "12.8.1", {});
    REQUIRE(one.ok());
    CHECK(matrix_text(*one) == "version: 1\nname: matrix\naxes:\n  cuda: [\"12.8.1\"]\n");
}
