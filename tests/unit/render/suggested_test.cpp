// What suggest proposes is rendered.
#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "render/image/families.hpp"
#include "render/image/resolve_cell.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

Renderer renderer() {
    Renderer out;
    for (const auto& family : family::all())
        out.families.emplace_back(family.name);
    out.render = [](const Cell& cell) -> Renderer::Rendering {
        auto made = resolve_cell(Matrix(), cell, Facts::embedded());
        if (auto* refusal = std::get_if<std::string>(&made)) return {{}, *refusal};
        return {std::get<Image>(made).os, {}};
    };
    return out;
}

Suggestion proposed(const Query& query) {
    auto found = suggest(Facts::embedded(), query, {kToday, 3, renderer()});
    REQUIRE(found);
    return *std::move(found);
}

std::string value_of(const Stack& stack, Field field) {
    const auto* value = stack.cell().get(field);
    return value == nullptr ? "" : value->text;
}

}  // namespace

TEST_CASE("whatever is asked for, each stack is rendered as it stands and judged as it was found") {
    const std::vector<Query> queries{
        {{{Field::gpu, "H100"}}, {}},
        {{{Field::gpu, "H100"}, {Field::os, "ubuntu24.04"}}, {}},
        {{{Field::gpu, "A100"}, {Field::os, "ubuntu20.04"}}, {"transformers"}},
        {{{Field::gpu, "T4"}, {Field::os, "rockylinux9"}}, {}},
        {{{Field::gpu, "T4"}, {Field::driver, "470"}, {Field::cuda, "11.8.0"}}, {}},
        {{{Field::gpu, "T4"}, {Field::cuda, "12.6.3"}}, {"vllm"}},
        {{{Field::gpu, "P100"}, {Field::driver, "535"}}, {"bitsandbytes"}},
        {{{Field::gpu, "GH200"}, {Field::arch, "aarch64"}}, {}},
        {{{Field::torch, "none"}, {Field::cuda, ">=12"}, {Field::driver, "550"}}, {}},
        {{{Field::torch, "1.13.1"}, {Field::gpu, "V100"}}, {"transformers==4.27.4"}}};
    for (const auto& query : queries) {
        CAPTURE(query.fields.front().second);
        const auto found = proposed(query);
        REQUIRE_FALSE(found.stacks.empty());
        const auto matrix = read_rows(matrix_text(found));
        for_each_cell(matrix, [&](const Cell& cell) {
            CHECK(std::holds_alternative<Image>(resolve_cell(matrix, cell, Facts::embedded())));
            return true;
        });
        const auto verdicts = verdicts_of(matrix_text(found), Facts::embedded());
        REQUIRE(verdicts.size() == found.stacks.size());
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            CAPTURE(found.stacks[i].row);
            CHECK(verdicts[i] == found.stacks[i].verdict);
            CHECK_FALSE(value_of(found.stacks[i], Field::family).empty());
        }
    }
}

TEST_CASE("family, toolkit and system are those that the system asks for") {
    const auto filled = [](const Query& query) {
        const auto found = proposed(query);
        REQUIRE_FALSE(found.stacks.empty());
        const auto& stack = found.stacks.front();
        return fmt::format("{} {} {} {}", value_of(stack, Field::torch), value_of(stack, Field::family),
                           value_of(stack, Field::os), value_of(stack, Field::cuda));
    };
    CHECK(filled({{{Field::torch, "2.6.0+cu124"}, {Field::gpu, "A100"}}, {}}) ==
          "2.6.0+cu124 debian debian13 ");
    CHECK(filled({{{Field::torch, "2.6.0+cu124"}, {Field::os, "ubuntu22.04"}}, {}}) ==
          "2.6.0+cu124 nvidia-cuda ubuntu22.04 12.4.1");
    CHECK(filled({{{Field::torch, "2.6.0+cu118"}, {Field::os, "ubuntu22.04"}}, {}}) ==
          "2.6.0+cu118 nvidia-cuda ubuntu22.04 11.8.0");
}

TEST_CASE("what no family renders is proposed where nothing else is, and says why") {
    const auto found =
        proposed({{{Field::torch, "2.6.0"}, {Field::os, "windows"}, {Field::python, "3.12"}}, {}});
    REQUIRE_FALSE(found.stacks.empty());
    CHECK(found.stacks.front().refusal ==
          "os windows is judged but not rendered: family debian is rendered on debian11, debian12, debian13");
    CHECK(value_of(found.stacks.front(), Field::family).empty());
}
