// Which releases packages without a pin stand for, where many have to agree; single cells are in
// tests/verdicts/packages-pinned.txt.
#include "knowledge/resolve/unpinned.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "entries.hpp"
#include "own_facts.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

std::string released(const std::string& set, const Facts& facts) {
    const auto matrix = read_cell(set);
    std::string out = "(none)";
    for_each_cell(matrix, [&](const Cell& cell) {
        if (const auto value = with_releases(cell, facts)) out = value->text;
        return false;
    });
    return out;
}

std::string many(const std::string& name) {
    std::string also;
    for (int i = 1; i < 240; ++i)
        also += fmt::format("{}\"1.{}\"", i == 1 ? "" : ", ", i);
    return fmt::format(
        "id: package-{0}-1.0-and-others, package: {0}, version: \"1.0\", also: [{1}], requires: [], abi: [py3]",
        name, also);
}

std::string one(const std::string& name, const std::string& demand) {
    return fmt::format("id: package-{0}-1.0, package: {0}, version: \"1.0\", requires: [\"{1}\"], abi: [py3]",
                       name, demand);
}

}  // namespace

TEST_CASE("packages without a pin: pins, and what nobody knows, stay as they are") {
    const auto facts = Facts::embedded();
    CHECK(released("packages: {timm: 1.0.15}", facts) == "(none)");
    CHECK(released("packages: {timm: auto}", facts) == "(none)");
    CHECK(released("torch: 2.6.0", facts) == "(none)");
    CHECK(released("packages: {nothing-known: any, timm: 1.0.15}", facts) == "nothing-known=any,timm=1.0.15");
    CHECK(released("python: \"3.6\", packages: {vllm: any, timm: any, torchvision: auto}", facts) ==
          "vllm=any,timm=0.6.12,torchvision=auto");
    CHECK(released("torch: 2.6.0, packages: {torchvision: any, Torch_Audio: auto}", facts) ==
          "torchvision=0.21.0,Torch_Audio=auto");
    // The GPU says the machine.
    CHECK(released("gpu: GH200, torch: 2.6.0, flavour: runtime, packages: {xformers: any}", facts) !=
          released("gpu: H100, torch: 2.6.0, flavour: runtime, packages: {xformers: any}", facts));
}

TEST_CASE("packages without a pin: too many to try are unknown, and not a guess") {
    const auto facts = with_rows(
        "package_releases", {many("big"), many("huge"), one("left", "mid ==1"), one("right", "mid ==2")});
    CHECK(released("packages: {big: any, huge: any, left: any}", facts) == "big=1.239,huge=1.239,left=1.0");
    const std::string both = "packages: {big: any, huge: any, left: any, right: any}";
    CHECK(released(both, facts) == "big=any,huge=any,left=any,right=any");
    const auto& rule = *rule_named("packages-pinned");
    const auto found = asked_example(rule, both, facts).findings;
    REQUIRE(found.size() == 4);
    for (const auto& finding : found)
        CHECK(finding.severity == Severity::unknown);
    CHECK(
        found.front().message ==
        "too many releases of big and the other packages without a pin: which release of big pip would take "
        "is unknown");
    // Two of them alone are soon seen not to go together.
    for (const auto& finding : asked_example(rule, "packages: {left: any, right: any}", facts).findings)
        CHECK(finding.severity == Severity::error);
}
