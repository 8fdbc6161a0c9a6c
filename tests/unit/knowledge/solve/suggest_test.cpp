#include "knowledge/solve/suggest.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "unit/knowledge/rules/golden_case.hpp"
#include "unit/knowledge/solve/rows.hpp"

using namespace cudamatrix;
using namespace cudamatrix::solve;

namespace {

std::string refused(const Query& query) {
    return failure_text(suggest(Facts::embedded(), query, {solve::kToday, 5}));
}

// check reads the rows and judges each as the search did.
void check_rows(const Suggestion& suggestion) {
    if (suggestion.stacks.empty()) return;
    const auto verdicts = verdicts_of(matrix_text(suggestion), Facts::embedded());
    REQUIRE(verdicts.size() == suggestion.stacks.size());
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        CHECK(verdicts[i] == suggestion.stacks[i].verdict);
        CHECK(verdicts[i] <= kGoodEnough);
        CHECK((verdicts[i] == Verdict::degraded) == !suggestion.stacks[i].limits.empty());
    }
}

Version torch_of(const Stack& stack) {
    const auto* value = stack.cell().get(Field::torch);
    REQUIRE(value != nullptr);
    return *Version::parse(value->text);
}

}  // namespace

TEST_CASE("the report of a T4 on driver 470 with transformers 4.27.4: 1.12.1+cu113 or better") {
    const auto found =
        suggested({{{Field::gpu, "T4"}, {Field::driver, "470.161.03"}}, {"transformers==4.27.4"}});
    REQUIRE(found.stacks.size() == 5);
    CHECK(torch_of(found.stacks.front()) >= *Version::parse("1.12.1"));
    check_rows(found);
    // Newest first.
    for (std::size_t i = 1; i < found.stacks.size(); ++i)
        CHECK(torch_of(found.stacks[i - 1]) >= torch_of(found.stacks[i]));
    const auto narrow = suggested({{{Field::gpu, "T4"},
                                    {Field::driver, "470.161.03"},
                                    {Field::torch, ">=1.12,<2"},
                                    {Field::python, "3.9"}},
                                   {"transformers==4.27.4"}},
                                  100);
    check_rows(narrow);
    CHECK(std::any_of(narrow.stacks.begin(), narrow.stacks.end(), [](const Stack& stack) {
        return stack.cell().get(Field::torch)->text == "1.12.1+cu113";
    }));
}

TEST_CASE("each build of torch once, the newest release first, of one release the fewest limits first") {
    const auto found = suggested({{{Field::gpu, "H100"}}, {}}, 60);
    check_rows(found);
    std::set<std::string> builds;
    for (std::size_t i = 0; i < found.stacks.size(); ++i) {
        CHECK(builds.insert(found.stacks[i].cell().get(Field::torch)->text).second);
        CHECK_FALSE(found.stacks[i].why.empty());
        if (i == 0) continue;
        const auto &before = found.stacks[i - 1], &here = found.stacks[i];
        CHECK(torch_of(before) >= torch_of(here));
        const auto release = [](const Stack& stack) {
            const auto& text = stack.cell().get(Field::torch)->text;
            return text.substr(0, text.find('+'));
        };
        if (release(before) == release(here)) CHECK(before.limits.size() <= here.limits.size());
    }
    CHECK(builds.size() == found.stacks.size());
}

namespace {

// "2.7.1+cu118 accepted: why" of each stack.
std::string ranks(const Suggestion& suggestion) {
    std::string out;
    for (const auto& stack : suggestion.stacks) {
        const auto cell = stack.cell();
        const auto* packages = cell.get(Field::packages);
        out += fmt::format("{}{}{} {}: {}\n", cell.get(Field::torch)->text, packages ? " " : "",
                           packages ? packages->text : "", to_string(stack.verdict), stack.why);
    }
    return out;
}

}  // namespace

TEST_CASE("ranks, and why") {
    const auto rank = [](const std::vector<std::pair<Field, std::string>>& fields,
                         const std::vector<std::string>& needs, std::size_t limit) {
        return ranks(suggested({fields, needs}, limit));
    };
    // 1.13 has no torch.compile that could be missing; that does not bring it before a newer torch.
    CHECK(rank({{Field::gpu, "P100"}, {Field::driver, "580"}, {Field::torch, ">=1.13.1,<2.0.1"}}, {}, 9) ==
          R"(2.0.0+cu118 degraded: the newest torch that fits
2.0.0+cu117 degraded: torch 2.0.0+cu117 is built for an older CUDA than 2.0.0+cu118
1.13.1+cu117 accepted: torch 1.13.1 is older than 2.0.0
1.13.1+cu116 accepted: past its end of life: python 3.10
)");
    // What has a wheel comes first, whatever is newer.
    CHECK(
        rank({{Field::gpu, "A100"}, {Field::driver, "580"}, {Field::torch, ">=1.11,<1.12.1"}}, {"xformers"},
             9) ==
        R"(1.12.0+cu116 xformers=0.0.13 accepted: the newest xformers, then the newest torch that fit, all from wheels
1.12.0+cu113 xformers=0.0.13 accepted: torch 1.12.0+cu113 is built for an older CUDA than 1.12.0+cu116
1.11.0+cu115 xformers=0.0.11 degraded: something of it is built from its source
1.11.0+cu113 xformers=0.0.11 degraded: torch 1.11.0+cu113 is built for an older CUDA than 1.11.0+cu115
)");
    // The newest release of what is needed comes before the newest torch.
    CHECK(
        rank({{Field::gpu, "H100"}, {Field::driver, "580"}}, {"vllm>=0.9,<0.11"}, 5) ==
        R"(2.8.0+cu129 vllm=0.10.2 accepted: the newest vllm, then the newest torch that fit, all from wheels
2.8.0+cu128 vllm=0.10.2 accepted: torch 2.8.0+cu128 is built for an older CUDA than 2.8.0+cu129
2.8.0+cu126 vllm=0.10.2 accepted: torch 2.8.0+cu126 is built for an older CUDA than 2.8.0+cu128
2.7.1+cu128 vllm=0.10.1.1 accepted: vllm 0.10.1.1 is older than 0.10.2
2.7.1+cu126 vllm=0.10.1.1 accepted: torch 2.7.1+cu126 is built for an older CUDA than 2.7.1+cu128
)");
    // Of one release, a python that is repaired comes first.
    CHECK(rank({{Field::gpu, "A100"}, {Field::driver, "470"}, {Field::torch, "1.13.1"}}, {}, 4) ==
          R"(1.13.1+cu117 accepted: the newest torch that fits
1.13.1+cu116 accepted: past its end of life: python 3.10, driver 470
)");
    CHECK(rank({{Field::torch, "none"}, {Field::cuda, ">=12.8,<13"}, {Field::driver, "580"}}, {}, 2) ==
          R"(none accepted: the newest cuda that fits
none accepted: cuda 12.9.1 is older than 12.9.2
)");
}

TEST_CASE("a release that was yanked is in no stack as long as there is another") {
    const auto version = [](const Stack& stack) { return stack.cell().get(Field::packages)->text; };
    const auto limits = [](const Stack& stack) {
        std::string out;
        for (const auto& limit : stack.limits)
            out += fmt::format("{} ", limit.rule);
        return out;
    };
    const Query query{{{Field::torch, "2.2.2+cu121"}, {Field::python, "3.12"}, {Field::gpu, "A100"}},
                      {"transformers>=4.45,<4.46.1"}};
    // 4.46.0 is newer, and torch.compile makes either degraded.
    const auto found = suggested(query, 1);
    REQUIRE(found.stacks.size() == 1);
    CHECK(version(found.stacks.front()) == "transformers=4.45.2");
    CHECK(found.stacks.front().verdict == Verdict::degraded);
    check_rows(found);

    auto only = query;
    only.needs = {"transformers==4.46.0"};
    const auto pinned = suggested(only, 1);
    REQUIRE(pinned.stacks.size() == 1);
    CHECK(version(pinned.stacks.front()) == "transformers=4.46.0");
    CHECK(limits(pinned.stacks.front()).find("package-not-yanked ") != std::string::npos);
    check_rows(pinned);

    // Nor is it the least that helps: torchvision 0.15.0 is nearer than 0.15.1.
    const auto nothing =
        suggested({{{Field::torch, "2.0.0"}, {Field::python, "3.10"}}, {"torchvision==0.14.1"}});
    REQUIRE(nothing.stacks.empty());
    std::vector<std::string> least;
    for (const auto& remedy : nothing.remedies)
        least.push_back(text::join(remedy.changes, " and "));
    CHECK(text::join(least, ", ") == "torch <= 1.13.1, torchvision >= 0.15.1, without torchvision");
}

TEST_CASE("domains without values that were yanked") {
    const auto variable = variable_of_package(Facts::embedded(), "transformers");
    CHECK(variable.yanked.contains("4.57.0"));
    CHECK_FALSE(variable.yanked.contains("4.57.1"));
    const auto at = [&](std::string_view text) { return *variable.find(text); };
    const Domains both{{at("4.57.1"), at("4.57.0")}};
    CHECK(without_yanked({variable}, both) == Domains{{at("4.57.1")}});
    const Domains none{{at("4.57.0"), at("4.46.0")}};
    CHECK(without_yanked({variable}, none) == none);
    const Domains mixed{{at("4.57.0"), at("4.57.1"), at("4.46.0"), at("4.45.2")}};
    CHECK(yanked_last({variable}, mixed) ==
          Domains{{at("4.57.1"), at("4.45.2"), at("4.57.0"), at("4.46.0")}});
    // What finds a yanked release is asked again, without those.
    std::size_t asked = 0;
    const auto found = [&](const auto& takes) {
        asked = 0;
        return prefer_kept({variable}, mixed, [&](const Domains& domains) -> std::optional<Assignment> {
            ++asked;
            const auto& values = domains.front();
            const auto value = std::find_if(values.begin(), values.end(), takes);
            return value == values.end() ? std::nullopt : std::optional(Assignment{*value});
        });
    };
    CHECK(found([](std::uint32_t) { return true; }) == Assignment{at("4.57.1")});
    CHECK(asked == 1);
    CHECK(found([&](std::uint32_t value) { return variable.is_yanked(value); }) == Assignment{at("4.57.0")});
    CHECK(asked == 2);
    CHECK_FALSE(found([](std::uint32_t) { return false; }));
    CHECK(asked == 1);
    CHECK(variable_of(Facts::embedded(), Field::torch).yanked.empty());
}

TEST_CASE("toolkits, systems, patterns, packages by range and by name, no torch at all") {
    const auto whole = suggested({{{Field::gpu, "A100*"},
                                   {Field::cuda, ">=12,<13"},
                                   {Field::os, "ubuntu22.04"},
                                   {Field::arch, "x86_64"}},
                                  {"transformers>=4.40,<4.50", "accelerate"}},
                                 2);
    REQUIRE(whole.stacks.size() == 2);
    check_rows(whole);
    const auto toolkit =
        suggested({{{Field::torch, "none"}, {Field::driver, "550"}, {Field::cuda, ">=12"}}, {}});
    REQUIRE(toolkit.stacks.size() == 5);
    check_rows(toolkit);
    // A toolkit is what varies then.
    CHECK(toolkit.stacks[0].cell().get(Field::cuda)->text != toolkit.stacks[1].cell().get(Field::cuda)->text);
    const auto alias = suggested({{{Field::gpu, "Tesla T4"}}, {}}, 1);
    check_rows(alias);
    CHECK(alias.stacks.front().cell().get(Field::gpu)->text == "Tesla T4");
}

TEST_CASE("every example has a stack, and check judges each as the search does") {
    for (const auto& folder : golden::cases(std::filesystem::path(source_dir()) / "examples")) {
        CAPTURE(folder.filename().string());
        const auto matrix = golden::read_case(folder);
        std::set<std::string> seen;
        std::size_t found = 0;
        for_each_cell(matrix, [&](const Cell& cell) {
            Query query;
            std::string key;
            for (const auto field : {Field::gpu, Field::driver, Field::python, Field::os}) {
                if (const auto* value = cell.get(field); value != nullptr) {
                    query.fields.emplace_back(field, value->text);
                    key += value->text + "\n";
                }
            }
            if (!seen.insert(key).second || seen.size() > 4) return true;
            const auto suggestion = suggested(query, 1);
            check_rows(suggestion);
            found += suggestion.stacks.size();
            return true;
        });
        CHECK(found > 0);
    }
}

TEST_CASE("what no fact knows, and what is no value, is refused with what is near") {
    CHECK(refused({}) ==
          "cudamatrix: error: nothing is asked for\n"
          "  fix: say what you have, e.g. --gpu T4 --driver 470.161.03\n");
    CHECK(
        refused({{{Field::gpu, "T44"}, {Field::driver, "1"}, {Field::python, "3.99"}},
                 {"transfomers", "transformers==4.27.99", "timm", "timm>=1"}}) ==
        R"(cudamatrix: error: no fact knows gpu "T44": expected GB10, GeForce RTX 5050, GeForce RTX 5050 Laptop GPU, GeForce RTX 5060, GeForce RTX 5060 Laptop GPU, GeForce RTX 5060 Ti, GeForce RTX 5070, GeForce RTX 5070 Laptop GPU, ...
  fix: did you mean T4?
cudamatrix: error: no fact knows driver "1": expected 375.10 to 620.70.06
cudamatrix: error: no fact knows python "3.99": expected 2.7 to 3.15
  fix: did you mean 3.9?
cudamatrix: error: no fact knows package "transfomers"
  fix: did you mean transformers?
cudamatrix: error: no known release of transformers is "==4.27.99": expected 4.0.0 to 5.23.0
  fix: did you mean 4.27.4?
cudamatrix: error: --need "timm>=1": timm is needed twice
  fix: join the two with a comma, as in "timm>=0.6,<1"
)");
    CHECK(refused({{{Field::torch, ">=99"},
                    {Field::cuda, "12;4"},
                    {Field::os, ">=debian12"},
                    {Field::arch, "x86-64"}},
                   {"", "a b", "==1", "transformers>=99", "flash-attn=>2"}}) ==
          R"(cudamatrix: error: no known torch is ">=99": expected 1.0.0+cu80 to 2.15.0+cu132
cudamatrix: error: invalid cuda "12;4": expected a version (12.4.1), or 12.4 for its newest update
cudamatrix: error: os: ranges compare versions, but os is text: expected a value, a list or a pattern with '*'
cudamatrix: error: invalid arch "x86-64": expected x86_64, aarch64 or ppc64le
  fix: write x86_64
cudamatrix: error: invalid --need "": expected a package with a version, such as transformers==4.27.4 or timm>=0.6
cudamatrix: error: invalid --need "a b": expected a package with a version, such as transformers==4.27.4 or timm>=0.6
cudamatrix: error: invalid --need "==1": expected a package with a version, such as transformers==4.27.4 or timm>=0.6
cudamatrix: error: no known release of transformers is ">=99": expected 4.0.0 to 5.23.0
cudamatrix: error: invalid --need "flash-attn=>2": expected a package with a version, such as transformers==4.27.4 or timm>=0.6
)");
    CHECK(
        refused({{{Field::torch, ""}, {Field::gpu, std::string(200, 'x')}}, {}}) ==
        R"(cudamatrix: error: invalid torch "": expected a version (2.6.0 or 2.6.0+cu124), or none, or a range such as ">=1.2,<2"
cudamatrix: error: invalid gpu "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...": expected a GPU name such as T4, "A100 80GB" or "RTX 4090"
)");
}
