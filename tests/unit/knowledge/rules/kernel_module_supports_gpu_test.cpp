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

TEST_CASE("kernel-module-supports-gpu: open modules of early drivers") {
    const auto with_driver = [](std::string gpu, std::string driver) {
        auto words = module(std::move(gpu), "open");
        words.emplace_back(Field::driver, std::move(driver));
        return words;
    };
    CHECK(message_of(kRule, with_driver("A100", "470.161.03")) ==
          "driver 470.161.03 has no open kernel modules: they start with 515.43.04");
    CHECK(fix_of(kRule, with_driver("A100", "470.161.03")) ==
          "kernel_module proprietary, or driver >= 515.43.04");
    CHECK(fix_of(kRule, with_driver("GH200", "510.47.03")) == "driver >= 515.43.04");
    CHECK(verdict_of(kRule, with_driver("RTX 3090", "515.43.03")) == Verdict::rejected);
    CHECK(message_of(kRule, with_driver("RTX 3090", "535.183.01")) ==
          "the open kernel modules of driver 535.183.01 run RTX 3090 (compute 8.6), of class geforce, only "
          "with the "
          "module parameter NVreg_OpenRmEnableUnsupportedGpus=1; from 545.23.06 on they need none");
    CHECK(fix_of(kRule, with_driver("RTX 3090", "535.183.01")) ==
          "kernel_module proprietary, or driver >= 545.23.06");
    for (const std::string driver : {"515.43.04", "525.60.13", "530.30.02", "535"}) {
        CHECK(verdict_of(kRule, with_driver("RTX 3090", driver)) == Verdict::degraded);
        CHECK(verdict_of(kRule, with_driver("RTX A6000", driver)) == Verdict::degraded);
        CHECK(ask(kRule, with_driver("A100", driver)).empty());
        CHECK(ask(kRule, with_driver("H100", driver)).empty());
    }
    for (const std::string driver : {"545.23.06", "550.54.15", "580", "999.1"})
        CHECK(ask(kRule, with_driver("RTX 3090", driver)).empty());
    // The proprietary modules, Windows and Tegra know no such limit; a capability alone has no class.
    CHECK(
        ask(kRule, {{Field::gpu, "RTX 3090"}, {Field::kernel_module, "proprietary"}, {Field::driver, "470"}})
            .empty());
    CHECK(ask(kRule, {{Field::gpu, "RTX 3090"},
                      {Field::kernel_module, "open"},
                      {Field::driver, "472.12"},
                      {Field::os, "windows11"}})
              .empty());
    CHECK(ask(kRule, with_driver("Jetson Thor", "38.2")).empty());
    CHECK(ask(kRule, {{Field::compute, "8.6"}, {Field::kernel_module, "open"}, {Field::driver, "535"}})
              .empty());
    CHECK(verdict_of(kRule, {{Field::compute, "8.6"},
                             {Field::host_class, "geforce"},
                             {Field::kernel_module, "open"},
                             {Field::driver, "535"}}) == Verdict::degraded);
    CHECK(message_of(kRule, {{Field::gpu, "RTX 3091"},
                             {Field::compute, "8.6"},
                             {Field::kernel_module, "open"},
                             {Field::driver, "535.183.01"}}) ==
          "no fact knows gpu RTX 3091: whether the open kernel modules of driver 535.183.01 run it without "
          "NVreg_OpenRmEnableUnsupportedGpus=1 is unknown");
}

TEST_CASE("kernel-module-supports-gpu: branches without the proprietary modules") {
    const auto proprietary = [](std::string gpu, std::string driver) {
        return Words{{Field::gpu, gpu}, {Field::kernel_module, "proprietary"}, {Field::driver, driver}};
    };
    CHECK(message_of(kRule, proprietary("T4", "615.71.09")) ==
          "driver 615.71.09 has open kernel modules only");
    CHECK(fix_of(kRule, proprietary("T4", "620.70.06")) == "kernel_module open, or driver 610");
    for (const auto* driver : {"610.43.02", "610", "595.45.04", "535.183.01", "999.1"})
        CHECK(ask(kRule, proprietary("T4", driver)).empty());
    for (const auto* driver : {"615.71.09", "620"})
        CHECK(ask(kRule, {{Field::gpu, "T4"}, {Field::kernel_module, "open"}, {Field::driver, driver}})
                  .empty());
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
