#include <algorithm>
#include <limits>
#include <random>

#include "support.hpp"

using namespace cudamatrix;
using matrix_test::accepted;
using matrix_test::ids;
using Ids = std::vector<std::string>;

TEST_CASE("the product has the order of the file, the last axis fastest; includes come last") {
    const auto matrix = accepted(
        "version: 1\naxes: {driver: [\"470\", \"570\"], gpu: [T4, RTX 4090]}\ninclude: [{driver: \"580\", "
        "gpu: H200}]\n");
    CHECK(product_size(matrix) == 4);
    CHECK(count_cells(matrix, 100) == 5);
    CHECK(ids(matrix) == Ids{"drv470-t4", "drv470-rtx4090", "drv570-t4", "drv570-rtx4090", "drv580-h200"});
    std::vector<std::uint64_t> indices;
    for_each_cell(matrix, [&](const Cell& cell) {
        indices.push_back(cell.index);
        return indices.size() < 5;
    });
    CHECK(indices == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a visitor can stop") {
    const auto matrix = accepted("version: 1\naxes: {driver: [1, 2, 3]}\ninclude: [{driver: 4}]\n");
    int seen = 0;
    for_each_cell(matrix, [&](const Cell&) { return ++seen < 2; });
    CHECK(seen == 2);
}

TEST_CASE("an id joins the named fields in one order and is legal as a tag and a file name") {
    const auto matrix = accepted(
        "version: 1\nset: {python: 3.12, os: ubuntu22.04}\naxes:\n  torch: 2.6.0+cu124\n  cuda: \"12.4.1\"\n "
        " gpu: RTX 4090\n  driver: 550.54.15\n");
    CHECK(ids(matrix) == Ids{"drv550.54.15-rtx4090-cu12.4.1-torch2.6.0_cu124-py3.12-ubuntu22.04"});
    const auto wide = accepted(
        "version: 1\nset: {image: \"docker.io/library/debian:12\", compiler: gcc-11, family: nvidia-cuda, "
        "uses: [THC, ptx-only], packages: {timm: 0.6.13}, arch_list: \"7.5;8.0+PTX\"}\n");
    CHECK(ids(wide) == Ids{"nvidia_cuda-imgdocker.io_library_debian_12-gcc11-pkgtimm_0.6.13-usesthc_ptx_only-"
                           "al7.5_8.0_ptx"});
    const auto unpinned = accepted(
        "version: 1\naxes: {packages: [{timm: any}, {timm: 0.6.13}, {timm: auto}, {timm_any: any}, {timm: any, "
        "any: any}]}\n");
    CHECK(ids(unpinned) ==
          Ids{"pkgtimm_any", "pkgtimm_0.6.13", "pkgtimm_auto", "pkgtimm_any_any", "pkgtimm_any_any_any"});
}

TEST_CASE("a cell that lacks a named field leaves it out") {
    const auto matrix =
        accepted("version: 1\naxes: {cuda: [\"12.4.1\"]}\nset: {os: debian12}\ninclude: [{torch: 2.6.0}]\n");
    CHECK(ids(matrix) == Ids{"cu12.4.1-debian12", "torch2.6.0-debian12"});
}

TEST_CASE("values that would share a slug are told apart by a hash") {
    const auto same_field =
        accepted("version: 1\naxes: {gpu: [A100-80GB, T4]}\ninclude: [{gpu: A100 80GB}]\n");
    CHECK(ids(same_field) == Ids{"a10080gb_3d3ce4e5", "t4", "a10080gb_a18f1257"});
    // A GPU that is called like an operating system, in cells of which one lacks the GPU and the other the
    // system.
    const auto other_field =
        accepted("version: 1\ninclude: [{gpu: debian12, cuda: 12}, {os: debian12, cuda: 12}]\n");
    const auto both = ids(other_field);
    REQUIRE(both.size() == 2);
    CHECK(both[0] != both[1]);
}

TEST_CASE("a long id is cut to a hundred characters and stays unique") {
    std::string text = "version: 1\nset: {platform: " + std::string(60, 'p') + ", image: \"" +
                       std::string(60, 'i') + "\"}\naxes: {vram_gb: [";
    for (int i = 1; i <= 200; ++i)
        text += fmt::format("{}, ", i);
    const auto all = ids(accepted(text + "]}\n"));
    REQUIRE(all.size() == 200);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 200);
    CHECK(std::all_of(all.begin(), all.end(),
                      [](const std::string& id) { return id.size() <= 100 && id.size() > 80; }));
}

TEST_CASE("ids are injective over random matrices and legal as tags") {
    std::mt19937 random(7);  // NOLINT: a fixed seed
    const std::vector<std::string> gpus{"T4",   "RTX 4090", "RTX-4090", "rtx_4090",
                                        "A100", "debian12", "x86_64"};
    const std::vector<std::string> systems{"debian12", "ubuntu22.04", "x86_64"};
    const std::vector<std::string> torches{"none", "2.6.0", "2.6.0+cu124", "2.6"};
    const auto some = [&](const std::vector<std::string>& from) {
        std::set<std::string> out;
        for (const auto& each : from) {
            if (random() % 2 == 0) out.insert(each);
        }
        if (out.empty()) out.insert(from.front());
        return text::join({out.begin(), out.end()}, ", ");
    };
    std::size_t cells = 0;
    for (int round = 0; round < 200; ++round) {
        std::string text = "version: 1\naxes:\n";
        if (random() % 2 == 0) text += "  gpu: [" + some(gpus) + "]\n";
        text += "  torch: [" + some(torches) + "]\ninclude:\n";
        for (int i = 0; i < 3; ++i)
            text += "  - {gpu: " + gpus[random() % gpus.size()] + ", torch: none}\n";
        for (int i = 0; i < 3; ++i)
            text += "  - {os: " + systems[random() % systems.size()] + ", torch: none}\n";
        text += "  - {arch: x86_64, torch: none}\n";
        const auto result = read_matrix_text(text, "matrix.yaml");
        if (!result.ok()) continue;  // two spellings of one GPU on an axis
        const auto all = ids(*result);
        cells += all.size();
        CAPTURE(text);
        CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
        for (const auto& id : all) {
            CHECK(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string::npos);
            CHECK(id.front() != '-');
            CHECK(id.front() != '.');
        }
    }
    CHECK(cells > 1000);
    MESSAGE("ids compared: ", cells);
}

TEST_CASE("zip joins axes at the place of the first and keeps their order") {
    const auto matrix = accepted(
        "version: 1\naxes:\n  cuda: [\"11.8.0\", \"12.4.1\"]\n  gpu: [T4, H100]\n  os: [debian12, "
        "debian13]\nzip: [[os, cuda]]\n");
    CHECK(product_size(matrix) == 4);
    CHECK(ids(matrix) == Ids{"t4-cu11.8.0-debian12", "h100-cu11.8.0-debian12", "t4-cu12.4.1-debian13",
                             "h100-cu12.4.1-debian13"});
}

TEST_CASE("with no axes set is one cell; beside includes it only completes them") {
    CHECK(ids(accepted("version: 1\nset: {cuda: 12}\n")) == Ids{"cu12"});
    CHECK(ids(accepted("version: 1\naxes: {}\nset: {cuda: 12}\n")) == Ids{"cu12"});
    CHECK(ids(accepted("version: 1\nset: {cuda: 12}\ninclude: [{gpu: T4}, {gpu: H100, cuda: 13}]\n")) ==
          Ids{"t4-cu12", "h100-cu13"});
}

TEST_CASE("a scalar is an axis of one value, and text stays as it is written") {
    const auto matrix = accepted(
        "version: 1\naxes: {python: 3.10, cuda: \"12.40\", mig: true, uses: [THC, [THC, ptx-only]]}\n");
    CHECK(ids(matrix) == Ids{"cu12.40-py3.10-migtrue-usesthc", "cu12.40-py3.10-migtrue-usesthc_ptx_only"});
    for_each_cell(matrix, [&](const Cell& cell) {
        CHECK(cell.get(Field::python)->text == "3.10");
        CHECK(cell.get(Field::python)->where == Location{"matrix.yaml", 2, 16, 4});
        CHECK(cell.get(Field::driver) == nullptr);
        return true;
    });
}

TEST_CASE("an include that equals a cell is reported and makes no second one") {
    const std::string text =
        "version: 1\naxes: {gpu: [T4, H100]}\nexclude: [{gpu: H100}]\ninclude: [{gpu: T4}, {gpu: H100}, "
        "{gpu: H100}]\n";
    const auto matrix = accepted(text);
    CHECK(ids(matrix) == Ids{"t4", "h100"});
    CHECK(matrix_test::rendered(matrix.warnings, text) ==
          "matrix.yaml:4:11: warning: this include equals a cell of the product: it adds no cell\n"
          "  4 | include: [{gpu: T4}, {gpu: H100}, {gpu: H100}]\n"
          "    |           ^\n"
          "  fix: delete it\n"
          "matrix.yaml:4:35: warning: this include equals an earlier one: it adds no cell\n"
          "  4 | include: [{gpu: T4}, {gpu: H100}, {gpu: H100}]\n"
          "    |                                   ^\n"
          "  fix: delete it\n");
}

TEST_CASE("sizes saturate and large matrices are counted without walking them") {
    std::string numbers, text = "version: 1\naxes:\n";
    for (int i = 1; i <= 99; ++i)
        numbers += fmt::format("{}, ", i);
    for (const std::string field :
         {"driver", "cuda", "torch", "python", "glibc", "cudnn", "toolkit", "vram_gb", "mig", "cuda_compat"})
        text += "  " + field + ": [" + numbers + "]\n";
    CHECK(product_size(accepted(text)) == std::numeric_limits<std::uint64_t>::max());
    std::string nine = text.substr(0, text.find("  cuda_compat"));
    const auto matrix = accepted(nine + "exclude: [{driver: \"<50\"}, {cuda: \">=90\", glibc: 3}]\n");
    const std::uint64_t full = product_size(matrix);
    CHECK(full == 913517247483640899u);  // 99^9
    // 50 of 99 drivers stay; of their cells 10/99 * 1/99 go.
    const std::uint64_t per_driver_cuda_glibc = full / 99 / 99 / 99;
    CHECK(count_cells(matrix, 1'000'000) == per_driver_cuda_glibc * 50 * (99 * 99 - 10));
    CHECK_FALSE(count_cells(matrix, 10).has_value());
}

TEST_CASE("counting equals walking on random matrices") {
    std::mt19937 random(11);  // NOLINT: a fixed seed
    for (int round = 0; round < 100; ++round) {
        std::string text =
            "version: 1\naxes: {driver: [1, 2, 3, 4, 5], cuda: [10, 11, 12, 13], torch: [1, 2, "
            "3]}\nexclude:\n";
        for (int i = 0; i < 4; ++i) {
            text += fmt::format("  - {{driver: \"{}{}\", cuda: \"{}{}\"}}\n",
                                random() % 2 ? "<" : ">=", 1 + random() % 5, random() % 2 ? "<=" : "",
                                10 + random() % 4);
        }
        const auto matrix = accepted(text);
        CAPTURE(text);
        CHECK(count_cells(matrix, 1000) == ids(matrix).size());
        std::size_t by_conditions = 0;
        auto without = matrix;
        without.exclude.clear();
        for_each_cell(without, [&](const Cell& cell) {
            by_conditions += std::none_of(matrix.exclude.begin(), matrix.exclude.end(),
                                          [&](const Condition& c) { return matches(c, cell); });
            return true;
        });
        CHECK(by_conditions == ids(matrix).size());
    }
}
