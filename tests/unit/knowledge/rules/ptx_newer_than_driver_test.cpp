#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "ptx-newer-than-driver";

Words ptx(std::string driver, std::string cuda) {
    return {{Field::driver, driver}, {Field::cuda, cuda}, {Field::uses, "ptx-only"}};
}

Words listed(std::string archs, std::string gpu, std::string driver, std::string cuda) {
    return {{Field::arch_list, archs}, {Field::gpu, gpu}, {Field::driver, driver}, {Field::cuda, cuda}};
}

}  // namespace

TEST_CASE("ptx-newer-than-driver rejects PTX that the driver does not know") {
    CHECK(message_of(kRule, ptx("535.183.01", "12.4.1")) ==
          "driver 535.183.01 compiles PTX up to ISA 8.2, and CUDA 12.4.1 writes 8.4: code that is PTX only "
          "fails with "
          "error 222, the provided PTX was compiled with an unsupported toolchain");
    CHECK(fix_of(kRule, ptx("535.183.01", "12.4.1")) == "driver >= 550.40.07, or cuda 12.2.2");
    CHECK(verdict_of(kRule, ptx("580.95.05", "13.1.0")) == Verdict::rejected);
    CHECK(verdict_of(kRule, ptx("450.80.02", "11.8.0")) == Verdict::rejected);
    CHECK(message_of(kRule, {{Field::driver, "537.13"},
                             {Field::cuda, "12.4.1"},
                             {Field::uses, "ptx-only"},
                             {Field::os, "windows"}})
              .starts_with("Windows driver 537.13 compiles PTX up to ISA 8.2"));
}

TEST_CASE("ptx-newer-than-driver offers no toolkit where the driver is older than all of them") {
    const auto facts =
        with_rows("driver_branches", {"id: driver-r361, branch: 361, newest: \"361.119\", ptx_isa: \"4.3\""});
    CHECK(message_of(kRule, ptx("361.119", "12.4.1"), facts) ==
          "driver 361.119 compiles PTX up to ISA 4.3, and CUDA 12.4.1 writes 8.4: code that is PTX only "
          "fails with error 222, the provided PTX was compiled with an unsupported toolchain");
    CHECK(fix_of(kRule, ptx("361.119", "12.4.1"), facts) == "driver >= 550.40.07");
    // The oldest that a toolkit is of.
    CHECK(fix_of(kRule, ptx("375.82", "12.4.1"), facts) == "driver >= 550.40.07, or cuda 8.0.61");
}

TEST_CASE("ptx-newer-than-driver names the compilation at first start") {
    CHECK(message_of(kRule, ptx("550.54.15", "12.4.1")) ==
          "code that is PTX only is compiled by driver 550.54.15 when it is first loaded: the first start "
          "takes longer, "
          "and again after each change of the driver");
    for (const auto& words : {ptx("550.54.15", "12.4.1"), ptx("580.95.05", "12.9.1"), ptx("610.43.02", "8.0"),
                              ptx("555.42.02", "12.6.3")}) {  // 12.5 and 12.6 write the same ISA
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(verdict_of(kRule, words) == Verdict::degraded);
    }
    // Compat libraries bring the compiler of their own CUDA.
    auto words = ptx("535.183.01", "12.4.1");
    words.emplace_back(Field::cuda_compat, "12.4");
    CHECK(message_of(kRule, words)
              .starts_with("code that is PTX only is compiled by the compat libraries of CUDA 12.4 when it "
                           "is first loaded"));
    words.back().second = "13.5";  // unknown ones do not
    CHECK(verdict_of(kRule, words) == Verdict::rejected);
}

TEST_CASE("ptx-newer-than-driver asks it of a list that has only PTX for the GPU") {
    CHECK(message_of(kRule, listed("7.0+PTX", "A100", "535.183.01", "12.6.3")) ==
          "driver 535.183.01 compiles PTX up to ISA 8.2, and CUDA 12.6.3 writes 8.5: code built with "
          "arch_list 7.0+PTX, which is PTX only for A100 (compute 8.0), fails with error 222, the provided "
          "PTX was compiled with an unsupported toolchain");
    CHECK(fix_of(kRule, listed("7.0+PTX", "A100", "535.183.01", "12.6.3")) ==
          "arch_list 7.0+PTX;8.0, or driver >= 555.42.02, or cuda 12.2.2");
    CHECK(verdict_of(kRule, listed("8.0+PTX", "H100", "525.147.05", "12.4.1")) == Verdict::rejected);
    CHECK(verdict_of(kRule, listed("9.0+PTX", "RTX 5090", "570.124.06", "12.9.1")) == Verdict::rejected);
    auto named = listed("Turing", "A100", "535", "12.4.1");
    CHECK(ask(kRule, named).empty());  // what the name means is torch's to say
    named.emplace_back(Field::torch, "2.6.0+cu124");
    CHECK(verdict_of(kRule, named) == Verdict::rejected);
    CHECK(fix_of(kRule, {{Field::env, "TORCH_CUDA_ARCH_LIST=7.0+PTX"},
                         {Field::compute, "8.0"},
                         {Field::driver, "535.183.01"},
                         {Field::cuda, "12.4.1"}}) ==
          "TORCH_CUDA_ARCH_LIST=7.0+PTX;8.0, or driver >= 550.40.07, or cuda 12.2.2");
    auto jetson = listed("8.0+PTX", "Jetson AGX Orin", "540.5.0", "12.6.3");
    CHECK(verdict_of(kRule, jetson) == Verdict::unknown);
}

TEST_CASE("ptx-newer-than-driver leaves lists alone whose code the driver takes") {
    auto compat = listed("7.0+PTX", "A100", "535.183.01", "12.4.1");
    compat.emplace_back(Field::cuda_compat, "12.4");
    for (const auto& words :
         {listed("7.0+PTX", "A100", "550.54.15", "12.4.1"), listed("7.0+PTX", "A100", "535.183.01", "12.2.2"),
          listed("8.0+PTX", "A100", "535.183.01", "12.6.3"),
          listed("8.0", "RTX 4090", "535.183.01", "12.6.3"), listed("7.0", "A100", "535.183.01", "12.6.3"),
          listed("7.0+PTX", "RTX 9090", "535", "12.6.3"), compat}) {
        CAPTURE(words[0].second + " " + words[1].second + " " + words[2].second);
        CHECK(ask(kRule, words).empty());
    }
    CHECK(ask(kRule, {{Field::env, "HF_HOME=/cache"},
                      {Field::gpu, "A100"},
                      {Field::driver, "535.183.01"},
                      {Field::cuda, "12.6.3"}})
              .empty());
    CHECK(ask(kRule, {{Field::arch_list, "7.0+PTX"}, {Field::driver, "535.183.01"}, {Field::cuda, "12.6.3"}})
              .empty());
}

TEST_CASE("ptx-newer-than-driver is silent where code is not PTX only") {
    CHECK(ask(kRule, {{Field::driver, "535.183.01"}, {Field::cuda, "12.4.1"}, {Field::uses, "THC"}}).empty());
    CHECK(ask(kRule, {{Field::driver, "535.183.01"}, {Field::cuda, "12.4.1"}}).empty());
    CHECK(ask(kRule, {{Field::driver, "535.183.01"}, {Field::uses, "ptx-only"}}).empty());
}

TEST_CASE("ptx-newer-than-driver does not guess") {
    const auto gap = with_rows("driver_branches", {"id: driver-r605, branch: 605, newest: \"605.10\""});
    CHECK(message_of(kRule, ptx("605.10", "13.3.0"), gap) ==
          "no fact says which PTX driver branch 605 compiles: whether driver 605.10 compiles the PTX of CUDA "
          "13.3.0 is unknown");
    CHECK(verdict_of(kRule, ptx("605.10", "13.2.0"), gap) == Verdict::degraded);
    CHECK(verdict_of(kRule, ptx("605.10", "13.5.0"), gap) == Verdict::rejected);
    CHECK(verdict_of(kRule, ptx("565.77", "12.6.3")) == Verdict::degraded);
    CHECK(verdict_of(kRule, ptx("565.77", "12.8.1")) == Verdict::rejected);
    CHECK(verdict_of(kRule, ptx("999.10", "12.4.1")) == Verdict::unknown);
    CHECK(verdict_of(kRule, ptx("550.54.15", "12.99")) == Verdict::unknown);
    auto jetson = ptx("540.5.0", "12.6.3");
    jetson.emplace_back(Field::gpu, "Jetson AGX Orin");
    CHECK(verdict_of(kRule, jetson) == Verdict::unknown);
    const auto facts = with_rows("cuda_releases", {"id: cuda-14.0.0, cuda: \"14.0.0\", minor: \"13.5\""});
    CHECK(message_of(kRule, ptx("550.54.15", "14.0.0"), facts) ==
          "no fact gives the PTX ISA of CUDA 14.0.0: whether driver 550.54.15 compiles the PTX of CUDA "
          "14.0.0 is "
          "unknown");
}

// Independent: the CUDA that each branch came with; only 12.5 and 12.6 share an ISA.
TEST_CASE("ptx-newer-than-driver agrees with a truth table over branches and toolkits") {
    const std::pair<int, int> branches[] = {{450, 110}, {470, 114}, {510, 116}, {520, 118}, {525, 120},
                                            {530, 121}, {535, 122}, {545, 123}, {550, 124}, {555, 125},
                                            {560, 126}, {570, 128}, {575, 129}, {580, 130}, {590, 131},
                                            {595, 132}, {610, 133}};
    std::size_t compared = 0;
    for (const auto& pair : branches) {
        const auto branch = pair.first, native = pair.second;
        for (const auto& row : Facts::embedded().table("cuda_toolkits")->rows) {
            const auto cuda = *Version::parse(row.text("cuda"));
            const auto minor = static_cast<int>(10 * cuda.major() + cuda.minor());
            const bool known = minor <= native || (minor == 126 && native == 125);
            CAPTURE(cuda.text() + " on " + std::to_string(branch));
            CHECK(verdict_of(kRule, ptx(std::to_string(branch), cuda.text())) ==
                  (known ? Verdict::degraded : Verdict::rejected));
            ++compared;
        }
    }
    CHECK(compared >= 500);
}
