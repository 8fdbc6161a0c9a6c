#include <doctest/doctest.h>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "driver-supports-gpu";

Words on(std::string driver, std::string gpu) {
    return {{Field::driver, driver}, {Field::gpu, gpu}};
}
Words open_on(std::string driver, std::string gpu) {
    return {{Field::driver, driver}, {Field::gpu, gpu}, {Field::kernel_module, "open"}};
}
Words module(std::string gpu, std::string kind) {
    return {{Field::driver, "580.95.05"}, {Field::gpu, gpu}, {Field::kernel_module, kind}};
}

}  // namespace

TEST_CASE("driver-supports-gpu rejects dropped and not yet known architectures") {
    CHECK(message_of(kRule, on("590.48.01", "V100")) ==
          "driver 590.48.01 no longer runs V100 (compute 7.0): driver branch 580 is the last with Volta");
    CHECK(fix_of(kRule, on("590.48.01", "V100")) == "driver 580");
    CHECK(message_of(kRule, on("535.183.01", "K80")) ==
          "driver 535.183.01 no longer runs K80 (compute 3.7): driver branch 470 is the last with Kepler");
    CHECK(message_of(kRule, on("470.161.03", "H100")) ==
          "driver 470.161.03 does not know H100 (compute 9.0): driver branch 520 is the first with Hopper");
    CHECK(verdict_of(kRule,
                     {{Field::driver, "545"}, {Field::compute, "12.0"}, {Field::kernel_module, "open"}}) ==
          Verdict::rejected);
    CHECK(fix_of(kRule, {{Field::driver, "545"}, {Field::compute, "12.0"}, {Field::kernel_module, "open"}}) ==
          "driver >= 570.86.10");
    CHECK(verdict_of(kRule, on("418.43", "A100")) == Verdict::rejected);
    // A branch that no fact knows is still too old or too new by its number.
    CHECK(verdict_of(kRule, on("999.1", "P100")) == Verdict::rejected);
    CHECK(verdict_of(kRule, on("400.1", "T4")) == Verdict::rejected);
}

TEST_CASE("driver-supports-gpu accepts the branches in between") {
    for (const auto& words : {on("470.161.03", "K80"), on("470.161.03", "T4"), on("580.95.05", "V100"),
                              on("580", "P100"), on("390.157", "P100"), on("450.80.02", "A100"),
                              on("520.61.05", "H100"), on("550.54.15", "RTX 4090"), on("610.43.02", "T4"),
                              on("595", "A100"), module("B200", "open"), module("V100", "proprietary"),
                              module("T4", "open"), module("T4", "proprietary"), module("H100", "open")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kRule, words).empty());
    }
}

TEST_CASE("driver-supports-gpu mentions the kernel module that is not given") {
    const auto note = ask(kRule, on("580.95.05", "RTX 5090"));
    REQUIRE(note.size() == 1);
    CHECK(note[0].severity == Severity::note);
    CHECK(note[0].message ==
          "RTX 5090 (compute 12.0) needs the open kernel modules; kernel_module is not given");
    CHECK(ask(kRule, on("580.95.05", "GH200")).size() == 1);
    CHECK(ask(kRule, on("580.95.05", "H100")).empty());
    CHECK(ask(kRule, module("B200", "proprietary")).empty());  // kernel-module-supports-gpu
}

TEST_CASE("driver-supports-gpu: a GPU that came out later than its architecture") {
    CHECK(message_of(kRule, on("535.54.03", "L40S")) ==
          "L40S (compute 8.9) is first listed in driver 535.104.05: whether driver 535.54.03 runs L40S "
          "(compute 8.9) is unknown");
    CHECK(fix_of(kRule, on("535.54.03", "L40S")) == "driver >= 535.104.05 (then accepted)");
    CHECK(message_of(kRule, on("525.147.05", "H200")) ==
          "H200 (compute 9.0) is first listed in driver 550.90.07: whether driver 525.147.05 runs H200 "
          "(compute "
          "9.0) is unknown");
    CHECK(
        message_of(kRule, open_on("575.51.03", "RTX 5060")) ==
        "branch 575 first lists RTX 5060 (compute 12.0) in 575.57.08: whether driver 575.51.03 runs RTX 5060 "
        "(compute 12.0) is unknown");
    CHECK(message_of(kRule, on("545.29.06", "H20")) ==
          "no release of branch 545 lists H20 (compute 9.0): whether driver 545.29.06 runs H20 (compute 9.0) "
          "is "
          "unknown");
    CHECK(fix_of(kRule, on("545.29.06", "H20")) == "driver >= 550.54.14 (then accepted)");
    // Before the lists of the open modules NVIDIA's log of changes says it.
    CHECK(message_of(kRule, on("410.48", "T4")) ==
          "T4 (compute 7.5) is first listed in driver 410.78: whether driver 410.48 runs T4 (compute 7.5) is "
          "unknown");
    CHECK(message_of(kRule, on("455.45.01", "RTX 3060")) ==
          "RTX 3060 (compute 8.6) is first listed in driver 460.56: whether driver 455.45.01 runs RTX 3060 "
          "(compute 8.6) is unknown");
    CHECK(message_of(kRule, on("465.19.01", "A30")) ==
          "branch 465 first lists A30 (compute 8.0) in 465.24.02: whether driver 465.19.01 runs A30 (compute "
          "8.0) is unknown");
    CHECK(fix_of(kRule, on("418.39", "GTX 1660 Ti")) == "driver >= 418.43 (then accepted)");
    CHECK(fix_of(kRule, on("384.81", "GTX 1660")) == "driver >= 418.56");

    // An architecture that the branch does not know is still a rejection, mended by what lists the GPU.
    CHECK(fix_of(kRule, open_on("545.29.06", "RTX 5060 Ti")) == "driver >= 570.148.08");
    CHECK(fix_of(kRule, open_on("545.29.06", "B200")) == "driver >= 570.133.20");

    // A bare branch is its newest release; branches after the last that is named list the GPU from the start.
    for (const auto& words :
         {on("535", "L40S"), on("535.104.05", "L40S"), on("545.23.06", "L40S"), on("550", "H200"),
          on("550.90.07", "H200"), on("560.28.03", "H200"), on("525.85.05", "H100 SXM"),
          on("520.61.05", "H100"), on("520.61.05", "H100 PCIe"), on("520.61.05", "RTX 4090"),
          on("535.161.07", "H20"), on("550.54.15", "H20"), on("620.70.06", "H200 NVL"), on("410.78", "T4"),
          on("415.18", "T4"), on("410.48", "RTX 2080"), on("465.24.02", "A30"),
          on("470.57.02", "RTX 3060")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kRule, words).empty());
    }
    // compute decides: the name counts where it agrees.
    CHECK(verdict_of(kRule, {{Field::driver, "535.54.03"}, {Field::gpu, "L40S"}, {Field::compute, "8.9"}}) ==
          Verdict::unknown);
    CHECK(verdict_of(kRule, {{Field::driver, "535.54.03"}, {Field::gpu, "L40S"}, {Field::compute, "8.6"}}) ==
          Verdict::accepted);
    // The lists are of Linux releases.
    CHECK(ask(kRule, {{Field::driver, "536.25"}, {Field::gpu, "L40S"}, {Field::os, "windows11"}}).empty());
}

TEST_CASE("driver-supports-gpu: a release that NVIDIA asks for") {
    CHECK(message_of(kRule, open_on("570.124.06", "B200")) ==
          "driver 570.124.06 is too old for B200 (compute 10.0): NVIDIA asks for >= 570.133.20");
    CHECK(fix_of(kRule, open_on("570.124.06", "B200")) == "driver >= 570.133.20");
    for (const auto* driver : {"570.133.20", "570", "575.51.03", "580.65.06"}) {
        CAPTURE(driver);
        CHECK(verdict_of(kRule, open_on(driver, "B200")) == Verdict::accepted);
    }
}

TEST_CASE("driver-supports-gpu: the last branch with Fermi and Kepler") {
    CHECK(message_of(kRule, on("396.26", "Tesla M2070")) ==
          "driver 396.26 no longer runs Tesla M2070 (compute 2.0): driver branch 390 is the last with Fermi");
    CHECK(message_of(kRule, on("535.129.03", "GT 710")) ==
          "driver 535.129.03 no longer runs GT 710 (compute 3.5): driver branch 470 is the last with Kepler");
    CHECK(ask(kRule, on("390.157", "NVS 4200M")).empty());
}

TEST_CASE("driver-supports-gpu does not guess") {
    CHECK(message_of(kRule, on("550.54.15", "RTX 4091")) ==
          "no fact knows gpu RTX 4091 (did you mean RTX 4090?): whether driver 550.54.15 runs it is unknown");
    CHECK(fix_of(kRule, on("550.54.15", "RTX 4091")) == "gpu RTX 4090 (then accepted)");
    CHECK(verdict_of(kRule, on("999.1", "T4")) == Verdict::unknown);
    CHECK(verdict_of(kRule, on("550.54.15", "Jetson AGX Orin")) == Verdict::unknown);
    CHECK(verdict_of(kRule, {{Field::driver, "550.54.15"}, {Field::compute, "99.0"}}) == Verdict::unknown);
    CHECK(verdict_of(kRule, on("620", "T4")) == Verdict::accepted);
    CHECK(ask(kRule, {{Field::driver, "550.54.15"}}).empty());
    CHECK(ask(kRule, {{Field::gpu, "T4"}}).empty());
}

TEST_CASE("driver-supports-gpu: an architecture without a known branch is unknown") {
    CHECK(message_of(kRule, {{Field::driver, "610.43.02"}, {Field::compute, "10.7"}}) ==
          "no fact names the driver branches of compute 10.7: whether driver 610.43.02 runs compute 10.7 is "
          "unknown");
}

TEST_CASE("driver-supports-gpu: the driver of a Jetson follows no branch") {
    CHECK(
        message_of(kRule, on("540.5.0", "Jetson AGX Orin")) ==
        "no branch of the desktop and server driver applies to Jetson AGX Orin (compute 8.7): whether driver "
        "540.5.0 runs it is unknown");
    for (const auto* compute : {"3.2", "5.3", "6.2", "7.2", "8.7", "10.1", "11.0"}) {
        const auto findings = ask(kRule, {{Field::driver, "580.95.05"}, {Field::compute, compute}});
        CAPTURE(compute);
        CHECK(verdict_of(findings) == Verdict::unknown);
    }
}

TEST_CASE("driver-supports-gpu: a Windows driver counts in the branches, its kernel module is no choice") {
    const auto windows = [](std::string driver, std::string gpu) {
        return Words{{Field::driver, driver},
                     {Field::gpu, gpu},
                     {Field::os, "windows11"},
                     {Field::kernel_module, "proprietary"}};
    };
    CHECK(ask(kRule, windows("582.41", "V100")).empty());  // 581 and 582 are of branch 580
    CHECK(ask(kRule, windows("572.16", "RTX 5090")).empty());
    CHECK(ask(kRule, windows("551.61", "RTX 4090")).empty());
    CHECK(ask(kRule, {{Field::driver, "551.61"}, {Field::gpu, "T4"}, {Field::platform, "wsl2"}}).empty());
    CHECK(
        message_of(kRule, windows("591.44", "V100")) ==
        "Windows driver 591.44 no longer runs V100 (compute 7.0): driver branch 580 is the last with Volta");
    CHECK(message_of(kRule, windows("566.36", "RTX 5090")) ==
          "Windows driver 566.36 does not know RTX 5090 (compute 12.0): driver branch 570 is the first with "
          "Blackwell (GeForce, RTX PRO)");
    CHECK(fix_of(kRule, windows("566.36", "RTX 5090")) == "driver >= 570");
    CHECK(verdict_of(kRule, windows("700.10", "T4")) == Verdict::unknown);
}

TEST_CASE("driver-supports-gpu: a fact that is not verified makes it unknown") {
    const auto facts = with_doubts({"gpu-b100"});
    const auto findings = ask(
        kRule, {{Field::driver, "580.95.05"}, {Field::gpu, "B100"}, {Field::kernel_module, "open"}}, facts);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].severity == Severity::unknown);
    CHECK(findings[0].message ==
          "whether driver 580.95.05 runs B100 (compute 10.0) rests on the unverified fact gpu-b100: would be "
          "accepted");
    const auto old = ask(
        kRule, {{Field::driver, "550.54.15"}, {Field::gpu, "B100"}, {Field::kernel_module, "open"}}, facts);
    REQUIRE(old.size() == 1);
    CHECK(old[0].severity == Severity::unknown);
    CHECK(old[0].message.ends_with("this rests on the unverified fact gpu-b100: would be rejected"));
}

// An independent table, by hand: first and last driver branch of each capability.
TEST_CASE("driver-supports-gpu agrees with a truth table over all branches and capabilities") {
    struct Range {
        const char* compute;
        int first, last;
    };
    constexpr Range ranges[] = {
        {"3.5", 346, 470},  {"3.7", 346, 470},  {"5.0", 346, 580},  {"5.2", 346, 580},
        {"6.0", 367, 580},  {"6.1", 367, 580},  {"7.0", 384, 580},  {"7.5", 410, 999},
        {"8.0", 450, 999},  {"8.6", 455, 999},  {"8.9", 520, 999},  {"9.0", 520, 999},
        {"10.0", 570, 999}, {"10.3", 580, 999}, {"12.0", 570, 999}, {"12.1", 580, 999}};
    std::size_t compared = 0, disagreements = 0;
    for (const auto& branch : Facts::embedded().table("driver_branches")->rows) {
        const int number = std::stoi(std::string(branch.text("branch")));
        for (const auto& range : ranges) {
            const auto expected =
                number < range.first || number > range.last ? Verdict::rejected : Verdict::accepted;
            const auto actual =
                verdict_of(kRule, {{Field::driver, std::to_string(number)}, {Field::compute, range.compute}});
            ++compared;
            if (actual == expected) continue;
            ++disagreements;
            MESSAGE(fmt::format("branch {} compute {}: {}", number, range.compute, to_string(actual)));
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared >= 500);
    CHECK(disagreements == 0);
}
