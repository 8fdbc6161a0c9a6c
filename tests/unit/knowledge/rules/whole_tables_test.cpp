// Questions put to every row of a table, and a matrix of many packages.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "fatbin/cover.hpp"
#include "knowledge/facts/known_problems.hpp"
#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/images.hpp"
#include "matrix/matrix_file.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

TEST_CASE("a Windows driver runs what it came with") {
    std::size_t compared = 0;
    for (const auto& row : Facts::embedded().table("cuda_releases")->rows) {
        if (!row.has("bundled_driver_windows")) continue;
        CAPTURE(std::string(row.id()));
        CHECK(ask("driver-supports-cuda", {{Field::driver, std::string(row.text("bundled_driver_windows"))},
                                           {Field::cuda, std::string(row.text("cuda"))},
                                           {Field::os, "windows11"}})
                  .empty());
        ++compared;
    }
    CHECK(compared >= 35);
}

TEST_CASE("image-tag-exists agrees with the table on every tag of it") {
    const auto facts = Facts::embedded();
    std::size_t tags = 0;
    for (const auto& row : facts.table("cuda_images")->rows) {
        const auto expected = row.text("status") == "deleted" ? Verdict::rejected : Verdict::accepted;
        if (!row.has("os")) {
            const auto tag = std::string(row.text("cuda")) + "-devel-ubuntu20.04";
            CHECK_MESSAGE(
                verdict_of("image-tag-exists", {{Field::image, "nvidia/cuda:" + tag}}, facts) == expected,
                tag);
        }
        for (const auto os : row.list("os")) {
            for (const auto flavour : row.list("flavours")) {
                const CudaTag tag{std::string(row.text("cuda")), std::string(flavour), std::string(os)};
                const auto verdict =
                    verdict_of("image-tag-exists", {{Field::image, "nvidia/cuda:" + tag.text()}}, facts);
                CHECK_MESSAGE(verdict == expected, tag.text());
                ++tags;
            }
        }
    }
    MESSAGE(tags << " tags");
}

TEST_CASE("the suite takes for integrated what the facts say is") {
    const auto facts = Facts::embedded();
    std::size_t integrated = 0;
    for (const auto& row : facts.rows("architectures")) {
        for (const auto compute : row.list("compute")) {
            const auto version = *Version::parse(compute);
            const fatbin::Arch arch{static_cast<int>(version.part(0)), static_cast<int>(version.part(1))};
            CHECK_MESSAGE(fatbin::is_tegra(arch) == (row.text("integrated") == "true"), compute);
            if (fatbin::is_tegra(arch)) ++integrated;
        }
    }
    CHECK(integrated == 7);
}

TEST_CASE("packages: thousands of cells with packages are judged") {
    std::string torches, pythons, gpus;
    const auto facts = Facts::embedded();
    const auto list = [&](std::string_view table, std::string_view column, std::string& out) {
        for (const auto& row : facts.table(table)->rows)
            out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", row.text(column));
    };
    torches = "2.2.2, 2.3.1, 2.4.0, 2.4.1+cu118, 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0";
    list("pythons", "python", pythons);
    list("architectures", "compute", gpus);
    const auto matrix = read_matrix_text(
        fmt::format(
            "version: 1\nname: many\naxes:\n  torch: [{}]\n  python: [{}]\n  compute: [{}]\nset:\n"
            "  cuda: 12.4.1\n  packages: {{xformers: 0.0.28, transformers: 4.46.3, vllm: 0.6.0, numpy: "
            "2.2.6,\n"
            "    our-own-tools: 1.0, cupy-cuda12x: 13.3.0, cuda-toolkit: 13.0.2, bitsandbytes: 0.46.0}}\n",
            torches, pythons, gpus),
        "many.yaml");
    REQUIRE(matrix);
    const auto start = std::chrono::steady_clock::now();
    const auto judgement = judge(*matrix, facts, {std::string(kToday), 100'000});
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    REQUIRE(judgement);
    MESSAGE(fmt::format("{} cells, {} findings, {:.2f} s", judgement->cells.size(),
                        judgement->findings.size(), took));
    CHECK(judgement->cells.size() > 1'000);
}

TEST_CASE("a rule of known problems reads what its rows may name") {
    for (const auto& known : facts::problem_rules()) {
        const auto* rule = rule_named(known.id);
        REQUIRE_MESSAGE(rule != nullptr, std::string(known.id));
        for (const auto& field : all_fields()) {
            if (known.fields.contains(field.field)) CHECK(rule->reads.contains(field.field));
        }
    }
}
