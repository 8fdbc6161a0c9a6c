// toolkit-available, end-of-life and gpu-matches-compute.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kToolkit = "toolkit-available";
constexpr std::string_view kEnd = "end-of-life";
constexpr std::string_view kMatches = "gpu-matches-compute";

Words archive(std::string os, std::string cuda) {
    return {{Field::family, "debian"}, {Field::os, os}, {Field::cuda, cuda}, {Field::cuda_from, "archive"}};
}

std::string ended(const Words& words, std::string_view today) {
    const auto findings = ask(kEnd, words, Facts::embedded(), today);
    return findings.empty() ? "" : findings.front().message;
}

}  // namespace

TEST_CASE("toolkit-available rejects what the family does not have") {
    CHECK(message_of(kToolkit, archive("debian12", "12.4.1")) ==
          "family debian cannot supply CUDA 12.4.1 on debian12 from archive: it has 11.8.0 (archive) there");
    CHECK(fix_of(kToolkit, archive("debian12", "12.4.1")) == "os debian13, or cuda 11.8.0");
    CHECK(verdict_of(kToolkit, archive("debian13", "11.8.0")) == Verdict::rejected);
    CHECK(message_of(kToolkit, archive("ubuntu24.04", "12.4.1")) ==
          "family debian cannot supply CUDA 12.4.1 on ubuntu24.04 from archive: it has no toolkit there");
    const auto cpu =
        ask(kToolkit, {{Field::family, "cpu"}, {Field::os, "debian12"}, {Field::cuda, "11.8.0"}});
    REQUIRE(cpu.size() == 1);
    CHECK(cpu[0].message == "family cpu cannot supply CUDA 11.8.0 on debian12: it has no toolkit there");
    CHECK(cpu[0].fix_text() == "family debian");
    CHECK(
        message_of(kToolkit, {{Field::family, "debian"}, {Field::os, "debian12"}, {Field::cuda, "12.4.1"}}) ==
        "family debian cannot supply CUDA 12.4.1 on debian12: it has 11.8.0 (archive), 13.0.1 to 13.5.0 "
        "(wheels) there");
    CHECK(fix_of(kToolkit, {{Field::family, "debian"}, {Field::os, "debian12"}, {Field::cuda, "12.4.1"}}) ==
          "os debian13, or cuda 11.8.0, or cuda 13.0.1");
}

TEST_CASE("toolkit-available offers the other place of the same toolkit") {
    const auto facts = with_rows(
        "toolkit_sources",
        {"id: toolkit-test-1, family: debian, os: [debian12, debian13], cuda: \"12.9.1\", cuda_from: wheels",
         "id: toolkit-test-2, family: debian, cuda: \"12.8.1\", cuda_from: wheels"});
    CHECK(fix_of(kToolkit, archive("debian12", "12.9.1"), facts) == "cuda_from wheels, or cuda 11.8.0");
    CHECK(ask(kToolkit, {{Field::family, "debian"}, {Field::os, "debian13"}, {Field::cuda, "12.9.1"}}, facts)
              .empty());
    CHECK(
        ask(kToolkit, {{Field::family, "debian"}, {Field::os, "rockylinux9"}, {Field::cuda, "12.8.1"}}, facts)
            .empty());
}

TEST_CASE("toolkit-available accepts what it has") {
    for (const auto& words :
         {archive("debian11", "11.2.2"), archive("debian12", "11.8"), archive("debian13", "12.4.1")}) {
        CHECK(ask(kToolkit, words).empty());
    }
    CHECK(
        ask(kToolkit, {{Field::family, "debian"}, {Field::os, "debian12"}, {Field::cuda, "11.8.0"}}).empty());
    CHECK(
        ask(kToolkit, {{Field::os, "debian12"}, {Field::cuda, "12.4.1"}}).empty());  // no family, no question
    CHECK(ask(kToolkit, {{Field::family, "debian"},
                         {Field::os, "debian12"},
                         {Field::cuda, "12.4.1"},
                         {Field::image, "a/b:c"}})
              .empty());
    // Its images bring the toolkit.
    CHECK(
        ask(kToolkit, {{Field::family, "ngc"}, {Field::os, "ubuntu22.04"}, {Field::cuda, "12.4.1"}}).empty());
}

TEST_CASE("toolkit-available does not guess") {
    CHECK(verdict_of(kToolkit, archive("mageia10", "12.4.1")) == Verdict::unknown);
    CHECK(verdict_of(kToolkit, archive("debian12", "12.99")) == Verdict::unknown);
}

TEST_CASE("end-of-life warns with the date, from the day after on") {
    CHECK(ended({{Field::driver, "470.161.03"}}, "2026-11-21") ==
          "driver branch 470 reached its end of life on 2024-07-20");
    CHECK(ended({{Field::driver, "470.161.03"}}, "2024-07-20") == "");
    CHECK(ended({{Field::driver, "470.161.03"}}, "2024-07-21") != "");
    CHECK(ended({{Field::driver, "535.183.01"}}, "2026-06-30") == "");
    CHECK(ended({{Field::driver, "535.183.01"}}, "2026-07-01") ==
          "driver branch 535 reached its end of life in 2026-06");
    CHECK(ended({{Field::python, "3.10"}}, "2026-11-21") ==
          "python 3.10 reached its end of life on 2026-10-31");
    CHECK(ended({{Field::os, "debian11"}}, "2026-11-21") ==
          "Debian 11 reached its end of life on 2026-08-31");
    CHECK(ended({{Field::os, "centos7"}}, "2026-11-21") == "CentOS 7 reached its end of life on 2024-06-30");
    CHECK(fix_of(kEnd, {{Field::driver, "470.161.03"}}) == "driver 580.178.04");
    CHECK(fix_of(kEnd, {{Field::python, "3.9.1"}}) == "python 3.11");
    CHECK(fix_of(kEnd, {{Field::os, "debian11"}}) == "os debian13");
    CHECK(verdict_of(kEnd, {{Field::driver, "470.161.03"}}) == Verdict::degraded);
}

TEST_CASE("end-of-life of a driver branch without a date follows from the younger ones") {
    CHECK(
        ended({{Field::driver, "455.45.01"}}, "2026-11-21") ==
        "driver branch 455 has reached its end of life, on a day that no fact names: branch 460, which came "
        "after it, did so in 2022-01");
    CHECK(fix_of(kEnd, {{Field::driver, "455.45.01"}}) == "driver 580.178.04");
    for (const std::string driver :
         {"375.26", "378.13", "381.22", "384.81", "387.26", "396.37", "410.48", "415.27", "430.50", "435.21"})
        CHECK(verdict_of(kEnd, {{Field::driver, driver}}) == Verdict::degraded);
    // A long-lived branch outlives younger ones: it takes one of its kind to say so.
    CHECK(ended({{Field::driver, "430.50"}}, "2021-01-01") ==
          "no fact says when driver branch 430 ends: whether it is supported is not checked");
    CHECK(
        ended({{Field::driver, "435.21"}}, "2021-01-01") ==
        "driver branch 435 has reached its end of life, on a day that no fact names: branch 440, which came "
        "after it, did so in 2020-11");
    CHECK(verdict_of(kEnd, {{Field::driver, "615"}}) == Verdict::accepted);
    CHECK(message_of(kEnd, {{Field::driver, "615"}}) ==
          "no fact says when driver branch 615 ends: whether it is supported is not checked");
    CHECK(ended({{Field::driver, "620"}}, "2029-09-30") == "");
    CHECK(ended({{Field::driver, "620"}}, "2029-10-01") ==
          "driver branch 620 reached its end of life in 2029-09");
}

TEST_CASE("end-of-life is silent about what is supported") {
    for (const auto& words :
         {Words{{Field::driver, "580.95.05"}}, Words{{Field::python, "3.12"}},
          Words{{Field::os, "ubuntu24.04"}}, Words{{Field::os, "debian13"}}, Words{{Field::python, "3.15"}},
          Words{{Field::driver, "595"}}, Words{{Field::os, "rockylinux9"}}}) {
        CAPTURE(words[0].second);
        CHECK(ask(kEnd, words).empty());
    }
    const auto extended = ask(kEnd, {{Field::os, "debian12"}});
    REQUIRE(extended.size() == 1);
    CHECK(extended[0].severity == Severity::note);
    CHECK(extended[0].message ==
          "Debian 12 left its standard support on 2026-07-11; long-term support ends on 2028-06-30");
}

TEST_CASE("end-of-life claims nothing of what no fact dates") {
    const auto claims = [](Field field, const std::string& text) {
        const auto value = std::get<Value>(value_from_text(field, text));
        Cell cell;
        cell.set(field, &value);
        return passes(*rule_named(kEnd), cell, Facts::embedded(), kToday).size();
    };
    CHECK(claims(Field::cuda, "8.0.61") == 0);
    CHECK(claims(Field::cuda, "13.0.2") == 0);
    CHECK(claims(Field::os, "windows") == 0);
    CHECK(claims(Field::os, "macos") == 0);
    CHECK(claims(Field::os, "ubuntu24.04") == 1);
    CHECK(claims(Field::python, "3.12") == 1);
    CHECK(claims(Field::driver, "580.95.05") == 1);
    CHECK(ask(kEnd, {{Field::cuda, "8.0.61"}}).empty());
}

TEST_CASE("end-of-life of CUDA, by release or by minor") {
    const auto minor =
        with_rows("cuda_toolkits", {"id: cuda-toolkit-11.8, cuda: \"11.8\", newest: \"11.8.0\", ptx_isa: "
                                    "\"7.8\", targets: [\"9.0\"], eol: \"2025-01\"",
                                    "id: cuda-toolkit-13.4, cuda: \"13.4\", newest: \"13.4.3\", ptx_isa: "
                                    "\"9.4\", targets: [\"9.0\"], eol: \"2027-01\""});
    CHECK(message_of(kEnd, {{Field::cuda, "11.8.0"}}, minor) ==
          "CUDA 11.8 reached its end of life in 2025-01");
    CHECK(fix_of(kEnd, {{Field::cuda, "11.8.0"}}, minor) == "cuda 13.4.3");
    const auto release = with_rows(
        "cuda_releases", {"id: cuda-12.4.0, cuda: \"12.4.0\", minor: \"12.4\", eol: \"2024-04-01\"",
                          "id: cuda-12.4.1, cuda: \"12.4.1\", minor: \"12.4\", eol: \"2027-04-01\""});
    CHECK(message_of(kEnd, {{Field::cuda, "12.4.0"}}, release) ==
          "CUDA 12.4.0 reached its end of life on 2024-04-01");
    CHECK(fix_of(kEnd, {{Field::cuda, "12.4.0"}}, release) == "cuda 12.4.1");
    CHECK(ask(kEnd, {{Field::cuda, "12.4.1"}}, release).empty());
}

TEST_CASE("a CUDA that was never released is wrong, not unknown") {
    const std::string never = "CUDA 12.7 was never released: there are 12.6.3 and 12.8.0";
    CHECK(message_of(kEnd, {{Field::cuda, "12.7"}}) == never);
    CHECK(fix_of(kEnd, {{Field::cuda, "12.7"}}) == "cuda 12.6.3, or cuda 12.8.0");
    CHECK(message_of("cuda-supports-compute", {{Field::cuda, "12.7.1"}, {Field::compute, "8.0"}}) == never);
    CHECK(message_of("driver-supports-cuda", {{Field::cuda, "12.7"}, {Field::driver, "570.124.06"}}) ==
          never);
    CHECK(verdict_of(kToolkit, archive("debian12", "12.7")) == Verdict::rejected);
    // A driver may well say 12.7, and other numbers are not known.
    CHECK(verdict_of("driver-supports-cuda", {{Field::cuda, "12.6.3"}, {Field::driver, "565.77"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kEnd, {{Field::cuda, "12.6.9"}}) == Verdict::unknown);
    CHECK(verdict_of(kEnd, {{Field::cuda, "14.7"}}) == Verdict::unknown);
}

TEST_CASE("end-of-life does not guess") {
    CHECK(verdict_of(kEnd, {{Field::driver, "999.1"}}) == Verdict::unknown);
    CHECK(verdict_of(kEnd, {{Field::cuda, "12.99"}}) == Verdict::unknown);
    CHECK(verdict_of(kEnd, {{Field::python, "3.99"}}) == Verdict::unknown);
    CHECK(message_of(kEnd, {{Field::os, "debain12"}}) ==
          "no fact knows os debain12 (did you mean debian12?): its end of life is unknown");
    CHECK(fix_of(kEnd, {{Field::os, "debain12"}}) == "os debian12 (then accepted)");
}

TEST_CASE("gpu-matches-compute") {
    CHECK(message_of(kMatches, {{Field::gpu, "RTX 4090"}, {Field::compute, "8.6"}}) ==
          "compute 8.6 is not that of RTX 4090, which is 8.9: everything else is judged by compute 8.6");
    CHECK(fix_of(kMatches, {{Field::gpu, "RTX 4090"}, {Field::compute, "8.6"}}) == "compute 8.9");
    CHECK(verdict_of(kMatches, {{Field::gpu, "T4"}, {Field::compute, "8.0"}}) == Verdict::degraded);
    CHECK(ask(kMatches, {{Field::gpu, "H100"}, {Field::compute, "9.0a"}}).empty());
    CHECK(ask(kMatches, {{Field::gpu, "T4"}, {Field::compute, "7.5"}}).empty());
    CHECK(ask(kMatches, {{Field::gpu, "T4"}}).empty());
    CHECK(ask(kMatches, {{Field::compute, "7.5"}}).empty());
    CHECK(ask(kMatches, {{Field::gpu, "Voodoo 2"}, {Field::compute, "7.5"}})
              .empty());  // left to the rules that need the GPU
}

TEST_CASE("gpu-matches-compute rejects a processor that no host of the GPU has") {
    CHECK(message_of(kMatches, {{Field::gpu, "GH200"}, {Field::arch, "x86_64"}}) ==
          "GH200 is in hosts of aarch64 only: nothing that is built for x86_64 runs there");
    CHECK(fix_of(kMatches, {{Field::gpu, "GH200"}, {Field::arch, "x86_64"}}) == "arch aarch64");
    CHECK(verdict_of(kMatches, {{Field::gpu, "Jetson Orin Nano"}, {Field::arch, "x86_64"}}) ==
          Verdict::rejected);
    for (const auto* gpu : {"GH200", "GB200", "GB300", "DGX Spark", "Jetson AGX Thor", "H100", "B200"}) {
        CAPTURE(gpu);
        CHECK(ask(kMatches, {{Field::gpu, gpu}, {Field::arch, "aarch64"}}).empty());
        CHECK(ask(kMatches, {{Field::gpu, gpu}}).empty());
    }
    CHECK(ask(kMatches, {{Field::gpu, "H100"}, {Field::arch, "x86_64"}}).empty());
}

TEST_CASE("a GPU that is one with its processor says the arch where the cell does not") {
    const Words words{{Field::gpu, "GH200"}, {Field::torch, "2.6.0"}};
    const auto found = ask("torch-published-for-arch", words);
    REQUIRE(found.size() == 1);
    CHECK(found[0].message ==
          "torch 2.6.0 for aarch64 is a CPU build on the default index, where x86_64 gets cu124: it installs "
          "without a word and sees no GPU (GH200 is in hosts of aarch64 only)");
    CHECK(found[0].primary == Field::gpu);
    CHECK(found[0].about == std::vector{Field::gpu, Field::torch});
    CHECK(found[0].facts.back().id == "gpu-gh200");
    CHECK(ask("torch-ships-compute", words).empty());
    CHECK(verdict_of("torch-published-for-arch", {{Field::gpu, "GB200"}, {Field::torch, "2.8.0+cu128"}}) ==
          Verdict::accepted);
    CHECK(ask("torch-published-for-arch", {{Field::gpu, "H100"}, {Field::torch, "2.6.0"}}).empty());
    CHECK(ask("torch-published-for-arch",
              {{Field::gpu, "GH200"}, {Field::torch, "2.6.0"}, {Field::arch, "x86_64"}})
              .empty());
    CHECK(verdict_of("torch-published-for-arch", {{Field::gpu, "GH200"}, {Field::torch, "1.7.1"}}) ==
          Verdict::rejected);
    CHECK(
        fix_of("torch-published-for-arch", {{Field::gpu, "GH200"}, {Field::torch, "1.7.1"}}).find("x86_64") ==
        std::string::npos);
}
