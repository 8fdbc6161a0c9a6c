// Drivers that count differently: Windows (with WSL2) and Tegra. Judged through driver-supports-cuda.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "driver-supports-cuda";

Words windows(std::string driver, std::string cuda) {
    return {{Field::driver, driver}, {Field::cuda, cuda}, {Field::os, "windows11"}};
}

}  // namespace

TEST_CASE("a Windows driver is judged by the minimums of Windows") {
    CHECK(message_of(kRule, windows("526.86", "12.4.1")) ==
          "Windows driver 526.86 is too old for CUDA 12.4.1: CUDA 12 needs >= 528.33 on Windows");
    CHECK(fix_of(kRule, windows("526.86", "12.4.1")) == "driver >= 528.33, or cuda 11.8.0 with this driver");
    CHECK(message_of(kRule, windows("451.82", "11.2.2")) ==
          "Windows driver 451.82 is too old for CUDA 11.2.2: CUDA 11 needs >= 452.39 on Windows");
    CHECK(message_of(kRule, windows("566.36", "13.0.2")) ==
          "Windows driver 566.36 is too old for CUDA 13.0.2: CUDA 13 needs >= 580 on Windows");
    CHECK(message_of(kRule, windows("440.97", "10.2")) ==
          "Windows driver 440.97 is too old for CUDA 10.2.89: that release needs >= 441.22 on Windows");
    CHECK(message_of(kRule,
                     {{Field::driver, "526.86"}, {Field::torch, "2.6.0+cu124"}, {Field::platform, "wsl2"}}) ==
          "Windows driver 526.86 is too old for torch 2.6.0+cu124 (CUDA 12.4): CUDA 12 needs >= 528.33 on "
          "Windows");
    for (const auto* platform : {"wsl", "WSL2"}) {
        const Words words{{Field::driver, "526.86"}, {Field::cuda, "12.4.1"}, {Field::platform, platform}};
        CHECK(verdict_of(kRule, words) == Verdict::rejected);
    }
    // The same number on Linux is another driver.
    CHECK(verdict_of(kRule, {{Field::driver, "526.86"}, {Field::cuda, "12.0.0"}}) == Verdict::unknown);
}

TEST_CASE("a Windows driver runs what it came with") {
    std::size_t compared = 0;
    for (const auto& row : Facts::embedded().table("cuda_releases")->rows) {
        if (!row.has("bundled_driver_windows")) continue;
        CAPTURE(std::string(row.id()));
        CHECK(ask(kRule,
                  windows(std::string(row.text("bundled_driver_windows")), std::string(row.text("cuda"))))
                  .empty());
        ++compared;
    }
    CHECK(compared >= 35);
    CHECK(ask(kRule, windows("580.88", "13.0.2")).empty());
    CHECK(ask(kRule, windows("581.15", "13.0.2")).empty());
    CHECK(ask(kRule, windows("581.15", "12.4.1")).empty());
    CHECK(ask(kRule, windows("580", "13.0.2")).empty());
    CHECK(ask(kRule, windows("R551", "12.4.1")).empty());
}

TEST_CASE("minor-version compatibility on Windows names a Windows driver as the way out") {
    CHECK(message_of(kRule, windows("537.13", "12.4.1")) ==
          "Windows driver 537.13 runs CUDA 12.4.1 by minor-version compatibility only: the driver itself is "
          "of CUDA "
          "12.2, so PTX newer than that is not compiled and features that need a newer driver fail");
    CHECK(fix_of(kRule, windows("537.13", "12.4.1")) == "driver >= 551.61, or cuda 12.2.2 with this driver");
    CHECK(fix_of(kRule, windows("537.13", "12.8.1")) == "driver >= 571.96, or cuda 12.2.2 with this driver");
}

TEST_CASE("Windows: what no fact tells stays unknown") {
    CHECK(message_of(kRule, windows("528", "12.4.1")) ==
          "no fact lists the releases of Windows driver 528: whether it is 528.33 or newer, as CUDA 12.4.1 "
          "asks is "
          "unknown");
    CHECK(message_of(kRule, windows("700.10", "12.4.1")) ==
          "no fact knows a branch of Windows driver 700.10: whether it runs CUDA 12.4.1 is unknown");
    CHECK(verdict_of(kRule, windows("360.10", "12.4.1")) == Verdict::unknown);
    CHECK(verdict_of(kRule, windows("new", "12.4.1")) == Verdict::unknown);
}

TEST_CASE("the driver of an integrated GPU is not judged by the branches of others") {
    CHECK(
        message_of(kRule,
                   {{Field::driver, "540.5.0"}, {Field::cuda, "12.6.3"}, {Field::gpu, "Jetson AGX Orin"}}) ==
        "no branch of the desktop and server driver applies to Jetson AGX Orin (compute 8.7): whether driver "
        "540.5.0 "
        "runs CUDA 12.6.3 is unknown");
    CHECK(message_of(
              kRule,
              {{Field::driver, "540.5.0"}, {Field::torch, "2.6.0+cu124"}, {Field::host_class, "jetson"}}) ==
          "no branch of the desktop and server driver applies to host class jetson: whether driver 540.5.0 "
          "runs "
          "torch 2.6.0+cu124 is unknown");
    CHECK(verdict_of(kRule,
                     {{Field::driver, "470.161.03"}, {Field::cuda, "12.4.1"}, {Field::compute, "11.0"}}) ==
          Verdict::unknown);
    CHECK(ask(kRule, {{Field::driver, "540.5.0"}, {Field::torch, "none"}, {Field::gpu, "Jetson Thor"}})
              .empty());
    // Others, and what no fact knows, are judged as ever.
    CHECK(verdict_of(kRule, {{Field::driver, "470.161.03"}, {Field::cuda, "12.4.1"}, {Field::gpu, "GB10"}}) ==
          Verdict::rejected);
    CHECK(verdict_of(kRule,
                     {{Field::driver, "470.161.03"}, {Field::cuda, "12.4.1"}, {Field::gpu, "RTX 9090"}}) ==
          Verdict::rejected);
}

TEST_CASE("a branch of no known CUDA names the nearest that is known, and none on Windows") {
    const Words linux_driver{{Field::driver, "565.77"}, {Field::cuda, "12.8.1"}};
    const auto facts = with_rows("driver_branches", {"id: driver-r565, branch: 565"});
    const std::string nearest =
        "no fact says which CUDA driver branch 565 runs natively (the nearest that is known is 560.35.05, of "
        "CUDA 12.6): whether CUDA 12.8.1 runs on it natively or by minor-version compatibility is unknown";
    CHECK(message_of(kRule, linux_driver, facts) == nearest);
    CHECK(fix_of(kRule, linux_driver, facts) == "driver 560.35.05 (then degraded)");
    // A branch without a known release is no driver to name, whatever its CUDA.
    const auto no_release = with_rows(
        "driver_branches", {"id: driver-r562, branch: 562, cuda: \"12.6\"", "id: driver-r565, branch: 565"});
    CHECK(message_of(kRule, linux_driver, no_release) == nearest);
    CHECK(message_of(kRule, windows("566.36", "12.8.1"), facts) ==
          "no fact says which CUDA driver branch 566 runs natively: whether CUDA 12.8.1 runs on it natively "
          "or by minor-version compatibility is unknown");
    CHECK(fix_of(kRule, windows("566.36", "12.8.1"), facts).empty());
    // Outside of what the neighbours leave open it is settled.
    CHECK(verdict_of(kRule, windows("566.36", "12.6.3")) == Verdict::accepted);
    CHECK(verdict_of(kRule, windows("566.36", "12.9.1")) == Verdict::degraded);
}

TEST_CASE("a release of a minor without a toolkit has the minimum of its major, or none") {
    const auto facts = with_rows("cuda_releases", {"id: cuda-12.10, cuda: \"12.10\", minor: \"12.9\"",
                                                   "id: cuda-14.0, cuda: \"14.0\", minor: \"13.5\""});
    CHECK(message_of(kRule, {{Field::driver, "470.161.03"}, {Field::cuda, "12.10"}}, facts) ==
          "driver 470.161.03 is too old for CUDA 12.10: CUDA 12 needs >= 525.60.13");
    CHECK(message_of(kRule, {{Field::driver, "580.95.05"}, {Field::cuda, "14.0"}}, facts) ==
          "no fact gives the least driver of CUDA 14.0: whether driver 580.95.05 is new enough is unknown");
    CHECK(ask(kRule, {{Field::driver, "580.95.05"}, {Field::cuda, "12.10"}}, facts).empty());
}

TEST_CASE("a driver that is older than every CUDA has no CUDA as a way out") {
    const auto facts = with_rows("driver_branches", {"id: driver-r361, branch: 361, newest: \"361.119\""});
    CHECK(fix_of(kRule, {{Field::driver, "361.119"}, {Field::cuda, "12.4.1"}}, facts) ==
          "driver >= 525.60.13");
    CHECK(fix_of(kRule, {{Field::driver, "375.82"}, {Field::cuda, "12.4.1"}}, facts) ==
          "driver >= 525.60.13, or cuda 8.0.61 with this driver");
}
