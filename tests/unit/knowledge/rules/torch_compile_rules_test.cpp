// The rules of the torch_compile stage: dynamo-supports-python and triton-supports-gpu.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kDynamo = "dynamo-supports-python";
constexpr std::string_view kTriton = "triton-supports-gpu";

Words with(std::string torch, std::string python) {
    return {{Field::torch, torch}, {Field::python, python}};
}
Words on(std::string torch, std::string gpu) {
    return {{Field::torch, torch}, {Field::gpu, gpu}};
}

}  // namespace

TEST_CASE("dynamo-supports-python degrades pythons that torch.compile refuses") {
    CHECK(message_of(kDynamo, with("2.3.1", "3.12")) ==
          "torch.compile of torch 2.3.1+cu121 refuses python 3.12: python 3.11 is the newest that it takes; "
          "eager mode works");
    CHECK(fix_of(kDynamo, with("2.3.1", "3.12")) == "torch 2.4.0, or python 3.11");
    CHECK(fix_of(kDynamo, with("2.0.1", "3.11.4")) == "torch 2.1.0, or python 3.10");
    CHECK(verdict_of(kDynamo, with("2.5.1", "3.13")) == Verdict::degraded);
    CHECK(verdict_of(kDynamo, with("2.9.1", "3.14")) == Verdict::degraded);
    CHECK(message_of(kDynamo, with("2.7.1", "3.13t")) ==
          "torch.compile of torch 2.7.1+cu126 refuses python 3.13t: it takes no free-threaded python; eager "
          "mode works");
    CHECK(fix_of(kDynamo, with("2.7.1", "3.13t")) == "torch 2.8.0, or python 3.13");
    CHECK(message_of(kDynamo, with("2.8.0", "3.13.2t")) ==
          "torch.compile of torch 2.8.0+cu128 refuses python 3.13.2t: python 3.13.3t is the oldest "
          "free-threaded one that it takes; eager mode works");
    CHECK(verdict_of(kDynamo, with("2.9.1", "3.14t")) == Verdict::degraded);
    // Of pythons without a wheel, too: torch built from source meets the same refusal.
    CHECK(message_of(kDynamo, with("2.6.0", "3.13t")) ==
          "torch.compile of torch 2.6.0+cu124 refuses python 3.13t: it takes no free-threaded python; eager "
          "mode works");
    CHECK(verdict_of(kDynamo, with("2.4.1", "3.13")) == Verdict::degraded);
}

TEST_CASE("dynamo-supports-python accepts the others") {
    for (const auto& words :
         {with("2.4.1", "3.12"), with("2.3.1", "3.11"), with("2.6.0", "3.13"), with("2.8.0", "3.13t"),
          with("2.8.0", "3.13.4t"), with("2.10.0", "3.14"), with("2.10.0", "3.14t"), with("2.15.0", "3.15"),
          with("2.0.1", "3.10.9"), with("1.13.1", "3.10"), with("none", "3.12"), with("9.9.9", "3.12"),
          with("2.6.0", "3"), with("1.12.1+cu118", "3.8")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kDynamo, words).empty());
    }
}

// By hand: the first python minor that the torch.compile of each 2.x minor refuses.
TEST_CASE("dynamo-supports-python agrees with a truth table over all default wheels") {
    constexpr int refused[] = {11, 12, 12, 12, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15, 15, 16};
    std::size_t compared = 0, disagreements = 0;
    const auto facts = Facts::embedded();
    for (const auto& wheel : facts.table("torch_wheels")->rows) {
        const auto torch = *Version::parse(wheel.text("torch"));
        if (wheel.text("arch") != "x86_64" || torch.major() < 2) continue;
        for (const auto python : wheel.list("pythons")) {
            const auto version = *Version::parse(python);
            const bool free = version.suffix() == "t";
            bool refuses = static_cast<int>(version.minor()) >= refused[torch.minor()];
            if (free && torch.minor() < 8) refuses = true;
            const auto text = fmt::format("{}+{}", torch.text(), wheel.text("variant"));
            const auto actual = verdict_of(kDynamo, with(text, std::string(python)));
            ++compared;
            if (actual == (refuses ? Verdict::degraded : Verdict::accepted)) continue;
            ++disagreements;
            MESSAGE(fmt::format("torch {} python {}: {}", text, python, to_string(actual)));
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared > 300);
    CHECK(disagreements == 0);
}

TEST_CASE("torch.compile of a release that no fact describes is unknown") {
    const std::string release =
        "id: torch-3.0.0, torch: \"3.0.0\", variants: [cu130], default_variant: cu130, python_min: \"3.12\", "
        "python_max: \"3.15\", complete: false";
    CHECK(verdict_of(kTriton, on("3.0.0", "H100"), with_rows("torch_releases", {release})) ==
          Verdict::unknown);
    const auto unverified = with_rows(
        "torch_compile",
        {"id: torch-compile-2.6.0, torch: \"2.6.0\", triton: \"3.2.0\", triton_os: [linux], triton_arch: "
         "[x86_64], python_max: \"3.13\", gpu_min: \"7.0\", windows: true, confidence: "
         "unverified"});
    CHECK(verdict_of(kDynamo, with("2.6.0", "3.12"), unverified) == Verdict::unknown);
}

TEST_CASE("triton-supports-gpu degrades GPUs that are too old or too new") {
    CHECK(message_of(kTriton, on("2.6.0+cu124", "P100")) ==
          "torch.compile of torch 2.6.0+cu124 does not work on P100 (compute 6.0): triton needs compute >= "
          "7.0; eager mode works");
    CHECK(fix_of(kTriton, on("2.6.0+cu124", "P100")).empty());
    CHECK(message_of(kTriton, on("2.9.0+cu128", "GB10")) ==
          "torch.compile of torch 2.9.0+cu128 does not work on GB10 (compute 12.1): the ptxas in its triton "
          "3.5.0 does not know compute 12.1 (TRITON_PTXAS_PATH may name a newer one)");
    CHECK(fix_of(kTriton, on("2.9.0+cu128", "GB10")) == "torch 2.10.0+cu128");
    CHECK(verdict_of(kTriton, on("2.9.1+cu130", "GB10")) == Verdict::degraded);
    // Whatever torch itself says of the GPU at runtime: each stage has its own verdict.
    CHECK(message_of(kTriton, on("2.6.0+cu124", "RTX 5090")) ==
          "torch.compile of torch 2.6.0+cu124 does not work on RTX 5090 (compute 12.0): the ptxas in its "
          "triton 3.2.0 does not know compute 12.0 (TRITON_PTXAS_PATH may name a newer one)");
    CHECK(fix_of(kTriton, on("2.6.0+cu124", "RTX 5090")) == "torch 2.7.0+cu128");
    CHECK(verdict_of(kTriton, on("2.8.0", "B300")) == Verdict::degraded);
}

TEST_CASE("triton-supports-gpu accepts the others") {
    for (const auto& words :
         {on("2.6.0+cu124", "T4"), on("2.0.1+cu118", "V100"), on("2.0.1+cu118", "RTX 4090"),
          on("2.7.0+cu128", "RTX 5090"), on("2.7.1+cu128", "B200"), on("2.10.0+cu128", "GB10"),
          on("2.10.0", "B300"), on("2.15.0", "H100"), on("1.13.1", "P100"), on("none", "P100"),
          on("2.6.0+cpu", "P100"), on("9.9.9", "P100"), on("2.6.0", "Voodoo 2")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kTriton, words).empty());
    }
}
