// Edits of the text of a matrix file, in every way that YAML has to write a list.
#include "advise/edit/editor.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "matrix/matrix_file.hpp"

using namespace cudamatrix;

namespace {

Matrix matrix_of(std::string_view text) {
    auto matrix = read_matrix_text(text, "m.yaml");
    REQUIRE(matrix);
    return *std::move(matrix);
}

const Value& value_at(const Matrix& matrix, std::size_t axis, std::size_t row) {
    return matrix.axes[axis].rows[row].front();
}

// `text` without the value at (axis, row), or "none" where no edit is made.
std::string without(std::string_view text, std::size_t axis, std::size_t row) {
    const auto matrix = matrix_of(text);
    const auto edit = Editor(matrix, Places(matrix)).remove(value_at(matrix, axis, row).where);
    return edit ? edited(matrix.source, {*edit}) : "none";
}

}  // namespace

TEST_CASE("edit: items of a list in brackets") {
    const std::string_view text = "version: 1\naxes: {driver: [\"470\", '535' , 550]}\n";
    CHECK(without(text, 0, 0) == "version: 1\naxes: {driver: ['535' , 550]}\n");
    CHECK(without(text, 0, 1) == "version: 1\naxes: {driver: [\"470\", 550]}\n");
    CHECK(without(text, 0, 2) == "version: 1\naxes: {driver: [\"470\", '535' ]}\n");
    const std::string_view lines =
        "version: 1\naxes:\n  gpu: [\n    T4,  # old\n    \"A100 80GB\",\n    H100\n  ]\n";
    CHECK(without(lines, 0, 1) == "version: 1\naxes:\n  gpu: [\n    T4,  # old\n    H100\n  ]\n");
    CHECK(without(lines, 0, 2) == "version: 1\naxes:\n  gpu: [\n    T4,  # old\n    \"A100 80GB\"\n  ]\n");
    // The comment would swallow what follows.
    CHECK(without("version: 1\naxes: {gpu: [T4 # x\n  , L4]}\n", 0, 0) == "none");
}

TEST_CASE("edit: items of a list of lines") {
    const std::string_view text =
        "version: 1\naxes:\n  gpu:\n  - T4\n  # next\n  - L4   # 24 GB\n\n  - H100\n  driver: [\"550\"]\n";
    CHECK(without(text, 0, 0) ==
          "version: 1\naxes:\n  gpu:\n  # next\n  - L4   # 24 GB\n\n  - H100\n  driver: [\"550\"]\n");
    CHECK(without(text, 0, 1) ==
          "version: 1\naxes:\n  gpu:\n  - T4\n  # next\n\n  - H100\n  driver: [\"550\"]\n");
    CHECK(without(text, 0, 2) ==
          "version: 1\naxes:\n  gpu:\n  - T4\n  # next\n  - L4   # 24 GB\n\n  driver: [\"550\"]\n");
}

TEST_CASE("edit: members of maps") {
    const auto removed = [](std::string_view text, std::string_view key) {
        const auto matrix = matrix_of(text);
        for (const auto& [field, value] : matrix.set) {
            if (info(field).name != key) continue;
            const auto edit = Editor(matrix, Places(matrix)).remove_member(value.where, key);
            return edit ? edited(matrix.source, {*edit}) : std::string("none");
        }
        return std::string("no such key");
    };
    CHECK(removed("version: 1\nset: {os: debian12, driver: \"550\", gpu: T4}\n", "driver") ==
          "version: 1\nset: {os: debian12, gpu: T4}\n");
    CHECK(removed("version: 1\nset: {os: debian12, driver: \"550\"}\n", "driver") ==
          "version: 1\nset: {os: debian12}\n");
    CHECK(removed("version: 1\nset: {driver: \"550\"}\n", "driver") == "version: 1\nset: {}\n");
    CHECK(removed("version: 1\nset:\n  os: debian12\n  driver: \"550\"\nname: x\n", "driver") ==
          "version: 1\nset:\n  os: debian12\nname: x\n");
    CHECK(removed("version: 1\nset:\n  packages:\n    timm: 0.6.13\n  driver: \"550\"\n", "packages") ==
          "version: 1\nset:\n  driver: \"550\"\n");
    CHECK(removed("version: 1\nset: {packages: {timm: 0.6.13, x: \"1\"}, os: debian12}\n", "packages") ==
          "version: 1\nset: {os: debian12}\n");
    // A key in quotes is not found: somebody has to do it.
    CHECK(removed("version: 1\nset: {\"driver\": \"550\"}\n", "driver") == "none");
}

TEST_CASE("edit: a value replaced, a field moved under set, a stage added") {
    const auto matrix =
        matrix_of("version: 1\naxes: {torch: [2.6.0+cu127, \"2.5.0\"], os: debian12}\nstages: [install]\n");
    const Places places(matrix);
    const Editor editor(matrix, places);
    const auto& source = matrix.source;
    CHECK(edited(source, {*editor.replace(value_at(matrix, 0, 0).where, "2.6.0+cu126")}) ==
          "version: 1\naxes: {torch: [\"2.6.0+cu126\", \"2.5.0\"], os: debian12}\nstages: [install]\n");
    CHECK(edited(source, {*editor.remove(matrix.axes[1].where),
                          *editor.add_to_set("os", value_at(matrix, 1, 0).where)}) ==
          "version: 1\naxes: {torch: [2.6.0+cu127, \"2.5.0\"]}\nstages: [install]\nset: {os: debian12}\n");
    CHECK(edited(source, {*editor.add_to_list(places.value_of("stages"), {"runtime"})})
              .ends_with("stages: [runtime, install]\n"));
    const auto block = matrix_of(
        "version: 1\naxes:\n  os: [debian12]\n  gpu: [T4, L4]\nset:\n  driver: \"550\"\nstages:\n- build\n");
    const Places block_places(block);
    const Editor of_block(block, block_places);
    CHECK(edited(block.source, {*of_block.remove(block.axes[0].where),
                                *of_block.add_to_set("os", value_at(block, 0, 0).where)}) ==
          "version: 1\naxes:\n  gpu: [T4, L4]\nset:\n  os: debian12\n  driver: \"550\"\nstages:\n- build\n");
    CHECK(edited(block.source, {*of_block.add_to_list(block_places.value_of("stages"), {"runtime"})})
              .ends_with("stages:\n- runtime\n- build\n"));
}

TEST_CASE("edit: what stands nowhere, or elsewhere, cannot be edited") {
    const auto matrix = matrix_of("version: 1\naxes: {gpu: [T4, L4]}\n");
    const Places places(matrix);
    const Editor editor(matrix, places);
    for (const Location& where : {Location{}, Location{"m.yaml", 0, 0, 1}, Location{"m.yaml", 99, 1, 1},
                                  Location{"--override gpu=T4", 2, 14, 1}}) {
        CHECK_FALSE(editor.remove(where));
        CHECK_FALSE(editor.replace(where, "x"));
        CHECK_FALSE(editor.remove_member(where, "gpu"));
        CHECK_FALSE(editor.add_to_set("gpu", where));
        CHECK_FALSE(editor.add_to_list(where, {"x"}));
    }
    CHECK_FALSE(editor.replace(Location{"m.yaml", 2, 13, 1}, "x"));  // a list
}

TEST_CASE("edit: only what reads as a file of the right number of cells is offered") {
    const auto matrix = matrix_of("version: 1\nexpect_cells: 2\naxes: {gpu: [T4, L4]}\n");
    const Places places(matrix);
    const Editor editor(matrix, places);
    const auto edit = *editor.remove(value_at(matrix, 0, 1).where);
    const auto good = editor.checked({edit}, 1);
    REQUIRE(good.size() == 2);
    CHECK(edited(matrix.source, good) == "version: 1\nexpect_cells: 1\naxes: {gpu: [T4]}\n");
    CHECK(editor.checked({edit}, 2).empty());
    CHECK(editor.checked({{3, 1, 3, 5, "axis"}}, 2).empty());
    CHECK(editor.checked({}, 2).empty());
}

TEST_CASE("edit: what a file expects of itself follows its edits") {
    const auto matrix = matrix_of(
        "version: 1\nexpect:\n  cells: \"2\"  # ours\n  keys: 3\n  end: true\naxes: {gpu: [T4, L4]}\n...\n");
    const Places places(matrix);
    const Editor editor(matrix, places);
    const auto added = editor.add_to_set("os", value_at(matrix, 0, 0).where);
    const auto removed = editor.remove(value_at(matrix, 0, 1).where);
    REQUIRE((added && removed));
    CHECK(edited(matrix.source, editor.checked({*removed}, 1)) ==
          "version: 1\nexpect:\n  cells: 1  # ours\n  keys: 3\n  end: true\naxes: {gpu: [T4]}\n...\n");
    CHECK(edited(matrix.source, {*added}).ends_with("axes: {gpu: [T4, L4]}\nset: {os: T4}\n...\n"));
    CHECK(editor.checked({*added}, 2).empty());  // T4 is no os
    const auto with_set = editor.checked({{7, 1, 7, 1, "set: {os: debian12}\n"}}, 2);
    CHECK(edited(matrix.source, with_set) ==
          "version: 1\nexpect:\n  cells: \"2\"  # ours\n  keys: 4\n  end: true\naxes: {gpu: [T4, L4]}\n"
          "set: {os: debian12}\n...\n");
}

TEST_CASE("edit: a file is made to expect what it holds") {
    const auto made = [](std::string_view text) {
        const auto matrix = matrix_of(text);
        const Places places(matrix);
        const auto edits = Editor(matrix, places).add_expect("expect: {end: true}");
        return edits[0] ? edited(matrix.source, {*edits[0], *edits[1]}) : std::string("none");
    };
    CHECK(made("# ours\nversion: 1\nset: {gpu: T4}") ==
          "# ours\nversion: 1\nexpect: {end: true}\nset: {gpu: T4}\n...\n");
    CHECK(made("version: 1\nexpect_cells: 1  # one\nset: {gpu: T4}\n") ==
          "version: 1\nexpect: {end: true}  # one\nset: {gpu: T4}\n...\n");
    for (const auto* text : {"{version: 1, set: {gpu: T4}}\n", "version: 1\nset: {gpu: T4}\n...\n",
                             "version: 1\nexpect: {cells: 1}\nset: {gpu: T4}\n"})
        CHECK(made(text) == "none");
}

TEST_CASE("edit: an item added behind another, in every way to write a list") {
    const auto behind = [](std::string_view text, std::size_t row) {
        const auto matrix = matrix_of(text);
        const auto edit =
            Editor(matrix, Places(matrix)).add_behind(value_at(matrix, 0, row).where, "\"570\"");
        return edit ? edited(matrix.source, {*edit}) : std::string("none");
    };
    CHECK(behind("version: 1\naxes: {driver: [\"470\", 535]}\n", 0) ==
          "version: 1\naxes: {driver: [\"470\", \"570\", 535]}\n");
    CHECK(behind("version: 1\naxes: {driver: [\"470\", 535 ]}  # two\n", 1) ==
          "version: 1\naxes: {driver: [\"470\", 535, \"570\" ]}  # two\n");
    CHECK(behind("version: 1\naxes:\n  driver: [\n    470,  # old\n    535  # new\n  ]\n", 1) ==
          "version: 1\naxes:\n  driver: [\n    470,  # old\n    535,\n    \"570\"  # new\n  ]\n");
    CHECK(behind("version: 1\naxes:\n  driver:\n  - 470  # old\n  - 535\nset: {gpu: T4}\n", 0) ==
          "version: 1\naxes:\n  driver:\n  - 470  # old\n  - \"570\"\n  - 535\nset: {gpu: T4}\n");
    CHECK(behind("version: 1\naxes:\n  driver:\n    - 470\n    - 535", 1) ==
          "version: 1\naxes:\n  driver:\n    - 470\n    - 535\n    - \"570\"");
    // A map without braces goes on below; one value is no list.
    const std::string_view maps =
        "version: 1\naxes:\n  packages:\n    - x: \"1\"\n      y: \"2\"\n    - x: \"2\"\n";
    CHECK(behind(maps, 0) == "none");
    CHECK(behind(maps, 1) == std::string(maps) + "    - \"570\"\n");
    CHECK(behind("version: 1\naxes:\n  driver: 470\n", 0) == "none");
}

TEST_CASE("places: a member of a map, wherever the map stands") {
    const auto place = [](std::string_view text, std::string_view key) {
        const auto matrix = matrix_of(text);
        const auto& map = matrix.set.empty() ? value_at(matrix, 0, 0) : matrix.set.front().second;
        const auto where = Places(matrix).member_of(map.where, key);
        return fmt::format("{}:{}", where.line, where.column);
    };
    CHECK(place("version: 1\nset: {packages: {timm: 0.6.13, x: \"1\"}}\n", "x") == "2:35");
    CHECK(place("version: 1\nset:\n  packages:\n    timm: 0.6.13\n    x: \"1\"\n", "x") == "5:8");
    CHECK(place("version: 1\naxes: {packages: [{timm: 0.6.13}, {timm: 0.9.2}]}\n", "timm") == "2:26");
    CHECK(place("version: 1\nset: {packages: {timm: 0.6.13}}\n", "torch") == "0:0");
    CHECK(place("version: 1\nset: {os: debian12}\n", "os") == "0:0");
}
