// triton-comes-with-torch, triton-matches-torch and triton-runs-on-driver.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kComes = "triton-comes-with-torch";
constexpr std::string_view kMatches = "triton-matches-torch";
constexpr std::string_view kDriver = "triton-runs-on-driver";

Words on(std::string os, std::string torch) {
    return {{Field::os, os}, {Field::torch, torch}};
}
Words with(std::string torch, std::string packages) {
    return {{Field::torch, torch}, {Field::packages, packages}};
}
Words drives(std::string driver, std::string gpu, Field field, std::string value) {
    return {{Field::driver, driver}, {Field::gpu, gpu}, {field, value}};
}

}  // namespace

TEST_CASE("triton-comes-with-torch degrades Windows") {
    CHECK(message_of(kComes, on("windows", "2.4.1+cu124")) ==
          "torch.compile of torch 2.4.1+cu124 does not work on Windows: it refuses the system; eager mode "
          "works");
    CHECK(fix_of(kComes, on("windows", "2.4.1+cu124")) == "os ubuntu24.04");
    CHECK(message_of(kComes, on("windows11", "2.6.0+cu124")) ==
          "torch.compile of torch 2.6.0+cu124 does not work on Windows 11: torch brings triton, its compiler "
          "for GPUs, for Linux only; eager mode works");
    CHECK(fix_of(kComes, on("windows11", "2.6.0+cu124")) == "triton-windows 3.2.0, or os ubuntu24.04");
}

TEST_CASE("triton-comes-with-torch accepts the others") {
    for (const auto& words :
         {on("ubuntu24.04", "2.6.0+cu124"), on("windows", "2.6.0"), on("windows", "1.13.1+cu117"),
          on("windows", "none"), on("macos", "2.6.0+cu124"), on("windows", "9.9.9+cu130"),
          on("windows", "2.6.0+cu118x"), on("windows", "2.6.0+cu121")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kComes, words).empty());
    }
    auto words = on("windows", "2.6.0+cu124");
    words.emplace_back(Field::packages, "triton-windows=3.2.0");
    CHECK(ask(kComes, words).empty());
}

TEST_CASE("triton-matches-torch degrades another release than torch's own") {
    CHECK(message_of(kMatches, with("2.4.0", "triton=3.7.0")) ==
          "torch.compile of torch 2.4.0 is made for triton 3.0.0, not triton 3.7.0: imports from another "
          "release may fail; eager mode works");
    CHECK(fix_of(kMatches, with("2.4.0", "triton=3.7.0")) == "triton 3.0.0");
    CHECK(message_of(kMatches, with("2.8.0+cu129", "triton-windows=3.5.0")) ==
          "torch.compile of torch 2.8.0 is made for triton 3.4.0, not triton-windows 3.5.0: imports from "
          "another release may fail; eager mode works");
    CHECK(verdict_of(kMatches, with("2.8.0", "triton-windows=3.5.0.post21")) == Verdict::degraded);
}

TEST_CASE("triton-matches-torch accepts its minor, and has nothing to ask of the others") {
    for (const auto& words :
         {with("2.8.0", "triton=3.4.0"), with("2.8.0", "triton-windows=3.4.0.post20"),
          with("2.12.0", "triton=3.7.1"), with("1.13.1", "triton=3.7.0"), with("none", "triton=3.7.0"),
          with("9.9.9", "triton=3.7.0"), with("2.8.0", "numpy=2.0.0")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kMatches, words).empty());
    }
    const auto facts = with_rows(
        "torch_releases", {"id: torch-3.0.0, torch: \"3.0.0\", variants: [cu130], default_variant: cu130, "
                           "python_min: \"3.12\", python_max: \"3.15\", complete: false"});
    CHECK(message_of(kMatches, with("3.0.0", "triton=3.7.0"), facts) ==
          "no fact knows the triton of torch 3.0.0: whether it works with triton 3.7.0 is unknown");
}

TEST_CASE("triton-runs-on-driver degrades drivers of an older CUDA major") {
    const auto ampere = drives("470.57.02", "A100", Field::packages, "triton=2.2.0");
    CHECK(message_of(kDriver, ampere) ==
          "triton 2.2.0 assembles for A100 (compute 8.0) with the ptxas of CUDA 12.3: driver 470.57.02 (CUDA "
          "11.4) does not load kernels of CUDA 12 (TRITON_PTXAS_PATH may name an older one)");
    const auto blackwell = drives("575", "B200", Field::packages, "triton=3.7.1");
    CHECK(verdict_of(kDriver, blackwell) == Verdict::degraded);
    // torch 2.12 for CUDA 12.6 pins a triton whose assembler for Blackwell is of CUDA 13.
    CHECK(verdict_of(kDriver, drives("575.57.08", "RTX 5090", Field::torch, "2.12.0+cu126")) ==
          Verdict::degraded);
}

TEST_CASE("triton-runs-on-driver accepts the others") {
    for (const auto& words : {drives("535.104.05", "A100", Field::packages, "triton=2.2.0"),
                              drives("580.95.05", "B200", Field::packages, "triton=3.7.1"),
                              drives("575", "H100", Field::packages, "triton=3.7.1"),
                              drives("575", "B200", Field::packages, "triton=3.6.0"),
                              drives("575.57.08", "H100", Field::torch, "2.12.0+cu126"),
                              drives("470.57.02", "A100", Field::torch, "2.6.0+cu118x"),
                              drives("470.57.02", "A100", Field::torch, "2.6.0+cu124"),
                              drives("470.57.02", "A100", Field::torch, "none"),
                              drives("470.57.02", "A100", Field::torch, "1.13.1"),
                              drives("470.57.02", "A100", Field::torch, "2.6.0+cpu"),
                              drives("470.57.02", "A100", Field::packages, "numpy=2.0.0"),
                              drives("470.57.02", "Voodoo", Field::packages, "triton=2.2.0"),
                              drives("999.1", "A100", Field::packages, "triton=2.2.0"),
                              drives("470.57.02", "Jetson AGX Orin", Field::packages, "triton=2.2.0")}) {
        CAPTURE(words[0].second + " " + words[1].second + " " + words[2].second);
        CHECK(ask(kDriver, words).empty());
    }
    auto compat = drives("470.57.02", "A100", Field::packages, "triton=2.2.0");
    compat.emplace_back(Field::cuda_compat, "12.4");
    CHECK(ask(kDriver, compat).empty());
    CHECK(message_of(kDriver, drives("470.57.02", "A100", Field::packages, "triton=1.1.1")) ==
          "no fact knows the ptxas of triton 1.1.1: whether the driver loads kernels of triton 1.1.1 is "
          "unknown");
}
