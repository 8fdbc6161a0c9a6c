#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "driver-supports-cuda";

Words image(std::string driver, std::string cuda) {
    return {{Field::driver, driver}, {Field::cuda, cuda}};
}
Words wheel(std::string driver, std::string torch) {
    return {{Field::driver, driver}, {Field::torch, torch}};
}

}  // namespace

TEST_CASE("driver-supports-cuda rejects drivers below the minimum") {
    CHECK(message_of(kRule, image("470.161.03", "12.4.1")) ==
          "driver 470.161.03 is too old for CUDA 12.4.1: CUDA 12 needs >= 525.60.13");
    CHECK(fix_of(kRule, image("470.161.03", "12.4.1")) ==
          "driver >= 525.60.13, or cuda 11.8.0 with this driver");
    CHECK(message_of(kRule, image("440.33", "11.8")) ==
          "driver 440.33 is too old for CUDA 11.8.0: CUDA 11 needs >= 450.80.02");
    CHECK(message_of(kRule, image("570", "13.0.2")) ==
          "driver 570.211.01 (newest of branch 570) is too old for CUDA 13.0.2: CUDA 13 needs >= 580.65.06");
    CHECK(message_of(kRule, image("418.43", "10.2")) ==
          "driver 418.43 is too old for CUDA 10.2.89: that release needs >= 440.33");
    CHECK(message_of(kRule, wheel("470.161.03", "2.6.0+cu124")) ==
          "driver 470.161.03 is too old for torch 2.6.0+cu124 (CUDA 12.4): CUDA 12 needs >= 525.60.13");
    CHECK(fix_of(kRule, wheel("470.161.03", "2.6.0+cu124")) == "driver >= 525.60.13, or torch 2.6.0+cu118");
    CHECK(fix_of(kRule, wheel("550.54.15", "2.15.0")) == "driver >= 580.65.06, or torch 2.14.0+cu126");
}

TEST_CASE("driver-supports-cuda accepts what runs natively") {
    for (const auto& words :
         {image("550.54.15", "12.4.1"), image("580.95.05", "12.9.1"), image("580.95.05", "13.0.2"),
          image("595.45.04", "10.2"), image("470.161.03", "11.4.4"), image("525.60.13", "12.0.0"),
          image("440.33", "10.2.89"), image("610.43.02", "13.3.1"), wheel("550.54.15", "2.6.0+cu124"),
          wheel("580.95.05", "2.11.0"), wheel("470.161.03", "1.12.1+cu113"), wheel("450.80.02", "none"),
          wheel("390.157", "2.6.0+cpu"), image("R580", "13.0"), image("565.77", "12.6.3")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kRule, words).empty());
    }
}

TEST_CASE("driver-supports-cuda: CUDA 11.0 runs on drivers older than the minimum of its major") {
    CHECK(ask(kRule, image("450.36.06", "11.0.3")).empty());
    CHECK(ask(kRule, image("450.51.06", "11.0")).empty());
    CHECK(ask(kRule, wheel("450.51.06", "1.7.1+cu110")).empty());
    CHECK(message_of(kRule, image("440.33", "11.0.3")) ==
          "driver 440.33 is too old for CUDA 11.0.3: that release needs >= 450.36.06");
    CHECK(message_of(kRule, image("450.51.06", "11.1.0")) ==
          "driver 450.51.06 is too old for CUDA 11.1.0: CUDA 11 needs >= 450.80.02");
}

TEST_CASE("driver-supports-cuda names the limits of minor-version compatibility") {
    CHECK(message_of(kRule, image("535.183.01", "12.4.1")) ==
          "driver 535.183.01 runs CUDA 12.4.1 by minor-version compatibility only: the driver itself is of "
          "CUDA 12.2, so PTX "
          "newer than that is not compiled and features that need a newer driver fail");
    CHECK(fix_of(kRule, image("535.183.01", "12.4.1")) ==
          "driver >= 550.40.07, or cuda 12.2.2 with this driver");
    CHECK(verdict_of(kRule, image("450.80.02", "11.8.0")) == Verdict::degraded);
    CHECK(verdict_of(kRule, image("580.95.05", "13.2.1")) == Verdict::degraded);
    CHECK(verdict_of(kRule, wheel("525.147.05", "2.8.0")) == Verdict::degraded);
    CHECK(verdict_of(kRule, image("565.77", "12.9.1")) == Verdict::degraded);
    // R565 is of a CUDA that was never released as a toolkit.
    CHECK(message_of(kRule, image("565.77", "12.8.1"))
              .starts_with("driver 565.77 runs CUDA 12.8.1 by minor-version compatibility only: the driver "
                           "itself is of CUDA 12.7"));
    CHECK(verdict_of(kRule, wheel("565.77", "2.7.1+cu128")) == Verdict::degraded);
}

TEST_CASE("driver-supports-cuda judges a bare branch as its newest release") {
    CHECK(message_of(kRule, image("525", "12.0.0")) ==
          "driver branch 525 is judged as its newest release 525.147.05: its releases before 525.60.13 are "
          "too old for CUDA 12.0.0");
    CHECK(fix_of(kRule, image("525", "12.0.0")) == "driver >= 525.60.13");
    const auto both = ask(kRule, image("525", "12.4.1"));
    CHECK(both.size() == 2);
    CHECK(verdict_of(both) == Verdict::degraded);
}

TEST_CASE("driver-supports-cuda judges image and wheel each on its own") {
    const auto findings =
        ask(kRule, {{Field::driver, "535.183.01"}, {Field::cuda, "12.2.2"}, {Field::torch, "2.11.0+cu130"}});
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].aspect == "wheel");
    CHECK(findings[0].severity == Severity::error);
    const auto both =
        ask(kRule, {{Field::driver, "470.161.03"}, {Field::cuda, "12.4.1"}, {Field::torch, "2.6.0+cu124"}});
    CHECK(both.size() == 2);
}

TEST_CASE("driver-supports-cuda does not guess") {
    CHECK(verdict_of(kRule, image("999.10", "12.4.1")) == Verdict::unknown);
    CHECK(message_of(kRule, image("999.10", "12.4.1")) ==
          "no fact knows driver 999.10 (the nearest that is known is 620.70.06): whether it runs CUDA 12.4.1 "
          "is unknown");
    CHECK(fix_of(kRule, image("999.10", "12.4.1")) == "driver 620.70.06 (then accepted)");
    CHECK(verdict_of(kRule, wheel("999.10", "2.6.0")) == Verdict::unknown);
    CHECK(ask(kRule, wheel("999.10", "none")).empty());
    CHECK(verdict_of(kRule, image("550.54.15", "12.99")) == Verdict::unknown);
    CHECK(verdict_of(kRule, image("550.54.15", "99.1")) == Verdict::unknown);
    CHECK(verdict_of(kRule, wheel("550.54.15", "9.9.9")) == Verdict::unknown);
    CHECK(verdict_of(kRule, wheel("550.54.15", "2.14.1+cu126")) == Verdict::unknown);
    CHECK(ask(kRule, wheel("470.161.03", "1.12.1+cu118")).empty());  // never published: another rule's matter
    CHECK(ask(kRule, {{Field::driver, "550.54.15"}}).empty());
    CHECK(ask(kRule, {{Field::cuda, "12.4.1"}}).empty());
    CHECK(verdict_of(kRule, {{Field::driver, "470.161.03"},
                             {Field::cuda, "12.4.1"},
                             {Field::cuda_compat, "550.54.15"}}) == Verdict::unknown);
}

TEST_CASE("driver-supports-cuda: a major without a minimum is unknown") {
    const auto facts = with_rows("cuda_releases", {"id: cuda-10.2.100, cuda: \"10.2.100\", minor: \"10.2\""});
    CHECK(message_of(kRule, image("440.118.02", "10.2.100"), facts) ==
          "no fact gives the least driver of CUDA 10.2.100: whether driver 440.118.02 is new enough is "
          "unknown");
}

// An independent table: NVIDIA's minimum for each major and the CUDA that each branch came with, written down
// by hand.
TEST_CASE("driver-supports-cuda agrees with a truth table over all branches and releases") {
    struct Branch {
        int number;
        int native;  // 10 * major + minor
    };
    constexpr Branch branches[] = {{375, 80},  {384, 90},  {387, 91},  {396, 92},  {410, 100}, {418, 101},
                                   {440, 102}, {450, 110}, {455, 111}, {460, 112}, {465, 113}, {470, 114},
                                   {495, 115}, {510, 116}, {515, 117}, {520, 118}, {525, 120}, {530, 121},
                                   {535, 122}, {545, 123}, {550, 124}, {555, 125}, {560, 126}, {570, 128},
                                   {575, 129}, {580, 130}, {590, 131}, {595, 132}, {610, 133}};
    const std::map<std::string, std::string> own_minimum{
        {"8.0", "375.26"},    {"9.0", "384.81"},    {"9.1", "387.26"},  {"9.2", "396.26"},
        {"10.0", "410.48"},   {"10.1", "418.39"},   {"10.2", "440.33"}, {"11.0", "450.36.06"},
        {"8.0.44", "367.48"}, {"9.2.148", "396.37"}};
    const auto facts = Facts::embedded();
    std::size_t compared = 0, disagreements = 0;
    for (const auto& branch : branches) {
        const auto row = facts.row(fmt::format("driver-r{}", branch.number));
        REQUIRE(row);
        for (const auto* end : {"oldest", "newest"}) {
            const auto driver = *Version::parse(row->text(end));
            for (const auto& release : facts.table("cuda_releases")->rows) {
                const auto cuda = *Version::parse(release.text("cuda"));
                std::string_view least = cuda.major() == 11   ? "450.80.02"
                                         : cuda.major() == 12 ? "525.60.13"
                                                              : "580.65.06";
                for (const auto& name : {cuda.major_minor(), cuda.text()}) {
                    if (const auto own = own_minimum.find(name); own != own_minimum.end())
                        least = own->second;
                }
                const int minor = static_cast<int>(10 * cuda.major() + cuda.minor());
                auto expected = Verdict::accepted;
                if (driver < *Version::parse(least)) {
                    expected = Verdict::rejected;
                } else if (cuda.major() >= 11 && minor > branch.native) {
                    expected = Verdict::degraded;
                }
                const auto actual = verdict_of(kRule, image(driver.text(), cuda.text()));
                ++compared;
                if (actual == expected) continue;
                ++disagreements;
                MESSAGE(fmt::format("driver {} CUDA {}: {} instead of {}", driver.text(), cuda.text(),
                                    to_string(actual), to_string(expected)));
            }
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared > 3500);
    CHECK(disagreements == 0);
}
