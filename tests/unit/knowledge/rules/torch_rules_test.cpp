// torch-built-for-cuda, torch-ships-compute and torch-supports-python.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kBuilt = "torch-built-for-cuda";
constexpr std::string_view kShips = "torch-ships-compute";
constexpr std::string_view kPython = "torch-supports-python";

Words torch(std::string text) {
    return {{Field::torch, text}};
}
Words on(std::string text, std::string gpu) {
    return {{Field::torch, text}, {Field::gpu, gpu}};
}
Words with(std::string text, std::string python) {
    return {{Field::torch, text}, {Field::python, python}};
}

}  // namespace

TEST_CASE("torch-built-for-cuda rejects what was never published") {
    CHECK(message_of(kBuilt, torch("1.12.1+cu118")) ==
          "torch 1.12.1+cu118 was never published: torch 1.12.1 was built for cpu, cu102, cu113, cu116");
    CHECK(fix_of(kBuilt, torch("1.12.1+cu118")) == "torch 1.12.1+cu116, or torch 2.0.0+cu118");
    CHECK(verdict_of(kBuilt, torch("2.0.1+cu121")) == Verdict::rejected);
    CHECK(fix_of(kBuilt, torch("2.0.1+cu121")) == "torch 2.0.1+cu118, or torch 2.1.0+cu121");
    CHECK(verdict_of(kBuilt, torch("2.8.0+cu118")) == Verdict::rejected);
    CHECK(verdict_of(kBuilt, torch("2.6.0+cu128")) == Verdict::rejected);
    CHECK(verdict_of(kBuilt, torch("2.6.0+cu136")) == Verdict::rejected);
}

TEST_CASE("torch-built-for-cuda accepts what was") {
    for (const auto* text : {"1.12.1+cu116", "2.0.1+cu118", "2.6.0+cu124", "2.6.0", "2.6", "2.7.1+cu128",
                             "2.11.0+cu130", "2.15.0", "1.13.1", "none"}) {
        CAPTURE(text);
        CHECK(ask(kBuilt, torch(text)).empty());
    }
    CHECK(ask(kBuilt, {}).empty());
}

TEST_CASE("torch-built-for-cuda does not guess") {
    CHECK(message_of(kBuilt, torch("2.99.0")) ==
          "no fact knows torch 2.99.0 (the nearest that is known is 2.15.0): whether it was published is "
          "unknown");
    CHECK(fix_of(kBuilt, torch("2.99.0")) == "torch 2.15.0 (then accepted)");
    CHECK(message_of(kBuilt, torch("2.14.1+cu126")) ==
          "no fact describes a build of torch 2.14.1+cu126 for x86_64 (the nearest that is known is "
          "2.14.0+cu126): whether torch 2.14.1+cu126 was published is unknown");
    CHECK(fix_of(kBuilt, torch("2.14.1+cu126")) == "torch 2.14.0+cu126 (then accepted)");
    CHECK(fix_of(kBuilt, torch("2.15.0+cu130")) == "torch 2.14.1+cu130 (then accepted)");
    CHECK(fix_of(kBuilt, torch("2.9.1+cu129")) == "torch 2.8.0+cu129 (then accepted)");
    CHECK(fix_of(kBuilt, torch("2.15.0+cu140")) == "torch 2.15.0+cu132 (then accepted)");
    CHECK(verdict_of(kBuilt, {{Field::torch, "2.6.0+cu118"}, {Field::arch, "aarch64"}}) == Verdict::unknown);
}

TEST_CASE("torch-ships-compute rejects wheels without code for the GPU") {
    CHECK(message_of(kShips, on("1.12", "A100")) ==
          "torch 1.12.1+cu102 (the default build) has no code for A100 (compute 8.0): its SASS is for 3.7, "
          "5.0, "
          "6.0, 7.0, and it has no PTX");
    CHECK(message_of(kShips, on("2.5.0+cu124", "RTX 5090")) ==
          "torch 2.5.0+cu124 has no code for RTX 5090 (compute 12.0): its SASS is for 5.0, 6.0, 7.0, 7.5, "
          "8.0, 8.6, 9.0, and it "
          "has no PTX");
    CHECK(fix_of(kShips, on("2.5.0+cu124", "RTX 5090")) == "torch 2.7.0+cu128");
    CHECK(fix_of(kShips, on("2.8.0", "P100")) == "torch 2.8.0+cu126");
    CHECK(fix_of(kShips, on("2.15.0", "V100")) == "torch 2.14.0+cu126");
    // Whether those wheels hold PTX is not settled; nvcc 13 makes none for these GPUs.
    CHECK(message_of(kShips, on("2.9.1+cu130", "V100")) ==
          "torch 2.9.1+cu130 has no code for V100 (compute 7.0): it is built by nvcc of CUDA 13.0, whose "
          "lowest target is 7.5");
    CHECK(fix_of(kShips, on("2.9.1+cu130", "V100")) == "torch 2.9.1+cu128");
    CHECK(verdict_of(kShips, on("2.10.0+cu130", "GTX 1080 Ti")) == Verdict::rejected);
    CHECK(verdict_of(kShips, on("2.9.0+cu130", "P100")) == Verdict::rejected);
    CHECK(verdict_of(kShips, on("1.12.1", "A100")) ==
          Verdict::rejected);  // the index default was built for CUDA 10.2
    CHECK(verdict_of(kShips, on("2.7.1+cu128", "V100")) == Verdict::rejected);
    CHECK(verdict_of(kShips, on("2.6.0+cu124", "K80")) == Verdict::rejected);
    CHECK(verdict_of(kShips, on("2.6.0+cpu", "T4")) == Verdict::rejected);
    CHECK(
        message_of(kShips, {{Field::torch, "2.6.0+cpu"}, {Field::gpu, "GH200"}, {Field::arch, "aarch64"}}) ==
        "torch 2.6.0+cpu for aarch64 is built for the CPU: it has no code for GH200 (compute 9.0) or any "
        "other GPU");
}

TEST_CASE("torch-ships-compute accepts SASS of the same major") {
    for (const auto& words :
         {on("2.5.0+cu124", "T4"), on("2.5.0+cu124", "RTX 4090"), on("2.5.0+cu124", "P40"),
          on("2.6.0", "H100"), on("2.8.0", "V100"), on("2.7.1+cu128", "RTX 5090"), on("2.11.0", "B300"),
          on("2.11.0", "GB10"), on("1.12.1+cu116", "A100"), on("2.0.1+cu118", "K80"), on("none", "RTX 5090"),
          on("2.14.0+cu126", "M40")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kShips, words).empty());
    }
    CHECK(ask(kShips, {{Field::torch, "2.6.0"}, {Field::compute, "9.0a"}}).empty());
}

TEST_CASE("torch-ships-compute: PTX runs only where the driver compiles it") {
    const auto facts =
        with_rows("torch_wheels",
                  {"id: torch-2.6.0+cu124-x86_64, torch: \"2.6.0\", variant: cu124, cuda: \"12.4\", arch: "
                   "x86_64, pythons: [\"3.12\"], compute: [\"8.0\", \"9.0\"], ptx: [\"9.0\"]"});
    const auto ask_with = [&](const std::string& driver) {
        Words words = on("2.6.0+cu124", "RTX 5090");
        if (!driver.empty()) words.emplace_back(Field::driver, driver);
        return ask(kShips, words, facts);
    };
    REQUIRE(ask_with("").size() == 1);
    CHECK(ask_with("")[0].severity == Severity::warning);
    CHECK(ask_with("")[0].message ==
          "torch 2.6.0+cu124 runs on RTX 5090 (compute 12.0) by PTX 9.0 only: the driver compiles it at the "
          "first start, if it "
          "is of CUDA 12.4 or newer");
    CHECK(ask_with("580.95.05")[0].severity == Severity::warning);
    REQUIRE(ask_with("535.183.01").size() == 1);
    CHECK(ask_with("535.183.01")[0].severity == Severity::error);
    CHECK(ask_with("535.183.01")[0].message ==
          "torch 2.6.0+cu124 has only PTX 9.0 for RTX 5090 (compute 12.0), and driver 535.183.01 (CUDA 12.2) "
          "does not compile PTX "
          "of CUDA 12.4");
    CHECK(ask_with("535.183.01")[0].fix_text() == "torch 2.7.0+cu128");
}

TEST_CASE("torch-ships-compute does not guess") {
    CHECK(verdict_of(kShips, on("2.99.0", "T4")) == Verdict::unknown);
    CHECK(verdict_of(kShips, on("2.6.0", "Voodoo 2")) == Verdict::unknown);
    CHECK(verdict_of(kShips, on("2.14.1+cu126", "T4")) == Verdict::unknown);
    CHECK(verdict_of(kShips, on("2.11.0+cu129", "T4")) == Verdict::unknown);  // its list of code was not read
    CHECK(ask(kShips, on("1.12.1+cu118", "T4")).empty());                     // never published
    CHECK(ask(kShips, torch("2.6.0")).empty());
    const auto facts =
        with_rows("torch_wheels",
                  {"id: torch-2.6.0+cu124-x86_64, torch: \"2.6.0\", variant: cu124, cuda: \"12.4\", arch: "
                   "x86_64, pythons: [\"3.12\"], compute: [\"8.0\"], ptx: [], confidence: unverified"});
    CHECK(message_of(kShips, on("2.6.0+cu124", "A100"), facts) ==
          "whether torch 2.6.0+cu124 has code for A100 (compute 8.0) rests on the unverified fact "
          "torch-2.6.0+cu124-x86_64: would "
          "be accepted");
    CHECK(verdict_of(kShips, on("2.6.0+cu124", "T4"), facts) == Verdict::unknown);
}

// Independent of the rule's code: the road is computed here from the rows with plain numbers.
TEST_CASE("torch-ships-compute agrees with a truth table over all wheels and capabilities") {
    const auto number = [](std::string_view compute) {
        const auto dot = compute.find('.');
        return std::stoi(std::string(compute.substr(0, dot))) * 10 + (compute[dot + 1] - '0');
    };
    std::size_t compared = 0, disagreements = 0;
    const auto facts = Facts::embedded();
    for (const auto& wheel : facts.table("torch_wheels")->rows) {
        if (wheel.text("arch") != "x86_64") continue;
        for (const int device : {37, 50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121}) {
            const bool sass = std::any_of(
                wheel.list("compute").begin(), wheel.list("compute").end(), [&](std::string_view code) {
                    return number(code) / 10 == device / 10 && number(code) <= device;
                });
            const bool jit = std::any_of(wheel.list("ptx").begin(), wheel.list("ptx").end(),
                                         [&](std::string_view code) { return number(code) <= device; });
            auto expected = sass ? Verdict::accepted : jit ? Verdict::degraded : Verdict::rejected;
            const bool cpu = wheel.text("variant") == "cpu";
            if (!cpu && !sass && !jit && (!wheel.has("compute") || !wheel.has("ptx")))
                expected = Verdict::unknown;
            // By hand: what nvcc of a major cannot make, a wheel of that major cannot hold.
            const auto variant = wheel.text("variant");
            const int least = variant.starts_with("cu13") ? 75 : variant.starts_with("cu12") ? 50 : 0;
            if (device < least && !sass && !jit) expected = Verdict::rejected;
            if (wheel.confidence() == Confidence::unverified) expected = Verdict::unknown;
            const auto text = fmt::format("{}+{}", wheel.text("torch"), wheel.text("variant"));
            const auto compute = fmt::format("{}.{}", device / 10, device % 10);
            const auto actual = verdict_of(kShips, {{Field::torch, text}, {Field::compute, compute}});
            ++compared;
            if (actual == expected) continue;
            ++disagreements;
            MESSAGE(fmt::format("torch {} compute {}: {} instead of {}", text, compute, to_string(actual),
                                to_string(expected)));
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared > 1500);
    CHECK(disagreements == 0);
}

TEST_CASE("torch-supports-python rejects pythons without a wheel") {
    CHECK(message_of(kPython, with("2.4.1", "3.13")) ==
          "torch 2.4.1+cu121 has no wheel for python 3.13 on x86_64: it has them for 3.8, 3.9, 3.10, 3.11, "
          "3.12");
    CHECK(fix_of(kPython, with("2.4.1", "3.13")) == "python 3.12, or torch 2.5.0");
    CHECK(fix_of(kPython, with("2.4.1+cu121", "3.13.1")) == "python 3.12, or torch 2.5.0+cu124");
    CHECK(verdict_of(kPython, with("2.6.0", "3.8")) == Verdict::rejected);
    CHECK(fix_of(kPython, with("2.6.0", "3.8")) == "python 3.9, or torch 2.4.1");
    CHECK(verdict_of(kPython, with("2.6.0", "3.13t")) == Verdict::rejected);
    CHECK(verdict_of(kPython, with("2.15.0", "3.10")) == Verdict::rejected);
    CHECK(verdict_of(kPython, with("1.12.1+cu116", "3.11")) == Verdict::rejected);
}

TEST_CASE("torch-supports-python accepts the others") {
    for (const auto& words :
         {with("2.4.1", "3.12"), with("2.4.1", "3.12.4"), with("2.5.0", "3.13"), with("2.7.0", "3.13t"),
          with("2.6.0", "3.9"), with("2.15.0", "3.15t"), with("1.12.1+cu116", "3.7"), with("none", "3.99"),
          with("2.11.0+cu126", "3.14"), with("2.0.1+cu118", "3.8")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kPython, words).empty());
    }
}

TEST_CASE("torch-supports-python does not guess") {
    CHECK(verdict_of(kPython, with("2.99.0", "3.12")) == Verdict::unknown);
    CHECK(verdict_of(kPython, with("2.6.0", "3.99")) == Verdict::unknown);
    CHECK(verdict_of(kPython, with("2.6.0", "3")) == Verdict::unknown);
    CHECK(verdict_of(kPython, with("2.5.0+cu118", "3.13")) ==
          Verdict::unknown);  // other builds of 2.5.0 have it
    CHECK(verdict_of(kPython, with("2.14.1+cu126", "3.12")) == Verdict::unknown);
    CHECK(ask(kPython, with("1.12.1+cu118", "3.8")).empty());
    CHECK(ask(kPython, torch("2.6.0")).empty());
}
