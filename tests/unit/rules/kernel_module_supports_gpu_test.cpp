#include <doctest/doctest.h>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "kernel-module-supports-gpu";

Words module(std::string gpu, std::string kind) {
    return {{Field::gpu, gpu}, {Field::kernel_module, kind}};
}

}  // namespace

TEST_CASE("kernel-module-supports-gpu rejects, without a driver too") {
    CHECK(message_of(kRule, module("B200", "proprietary")) ==
          "the proprietary kernel module does not run B200 (compute 10.0): it needs the open kernel modules");
    CHECK(fix_of(kRule, module("B200", "proprietary")) == "kernel_module open");
    CHECK(message_of(kRule, module("Tesla P4", "open")) ==
          "the open kernel modules do not run Tesla P4 (compute 6.1): they start with Turing");
    CHECK(fix_of(kRule, module("Tesla P4", "open")) == "kernel_module proprietary");
    for (const auto* gpu : {"V100", "GT 1030", "GTX 970", "K80", "Tesla M2090"})
        CHECK(verdict_of(kRule, module(gpu, "open")) == Verdict::rejected);
    // Hopper runs with either module, Grace Hopper does not.
    CHECK(message_of(kRule, module("GH200", "proprietary")) ==
          "the proprietary kernel module does not run GH200 (compute 9.0): it needs the open kernel modules");
}

TEST_CASE("kernel-module-supports-gpu accepts") {
    for (const auto& words :
         {module("B200", "open"), module("GB10", "open"), module("GH200", "open"), module("H100", "open"),
          module("H100", "proprietary"), module("T4", "open"), module("T4", "proprietary"),
          module("RTX 4050", "open"), module("V100", "proprietary"), module("GT 710", "proprietary"),
          module("Jetson AGX Orin", "proprietary"),
          Words{{Field::gpu, "RTX 5090"}, {Field::kernel_module, "proprietary"}, {Field::os, "windows11"}},
          Words{{Field::gpu, "P100"}, {Field::kernel_module, "open"}, {Field::platform, "wsl2"}}}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kRule, words).empty());
    }
    CHECK(ask(kRule, {{Field::gpu, "B200"}}).empty());
    CHECK(ask(kRule, {{Field::kernel_module, "open"}}).empty());
}

TEST_CASE("kernel-module-supports-gpu does not guess") {
    CHECK(message_of(kRule, module("RTX 4091", "open")) ==
          "no fact knows gpu RTX 4091 (did you mean RTX 4090?): whether the open kernel module runs it is "
          "unknown");
    CHECK(message_of(kRule, {{Field::compute, "10.7"}, {Field::kernel_module, "open"}}) ==
          "no fact says which kernel modules run compute 10.7: whether the open kernel module runs compute "
          "10.7 is unknown");
    CHECK(verdict_of(ask(kRule, module("B100", "open"), with_doubts({"gpu-b100"}))) == Verdict::unknown);
}
