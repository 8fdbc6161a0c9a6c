// arch-list-known and arch-list-covers-gpu.
#include <doctest/doctest.h>

#include <string>

#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kKnown = "arch-list-known";
constexpr std::string_view kCovers = "arch-list-covers-gpu";

Words list(std::string archs, Field field, std::string value) {
    return {{Field::arch_list, archs}, {field, value}};
}

}  // namespace

TEST_CASE("arch-list-known rejects entries that nvcc or torch does not know") {
    CHECK(message_of(kKnown, list("8.9;12.0+PTX", Field::cuda, "12.6.3")) ==
          "nvcc of CUDA 12.6.3 has no target for 12.0+PTX of arch_list 8.9;12.0+PTX");
    CHECK(fix_of(kKnown, list("8.9;12.0+PTX", Field::cuda, "12.6.3")) == "arch_list 8.9, or cuda 12.8.0");
    CHECK(message_of(kKnown, list("12.0", Field::torch, "2.6.0+cu124")) ==
          "cpp_extension of torch 2.6.0+cu124 does not know 12.0 of arch_list 12.0");
    CHECK(fix_of(kKnown, list("12.0", Field::torch, "2.6.0+cu124")) == "torch 2.7.0+cu126");
    CHECK(verdict_of(kKnown, list("Hopper", Field::torch, "1.13.1")) == Verdict::rejected);
    CHECK(verdict_of(kKnown, list("12.0f", Field::torch, "2.15.0")) == Verdict::rejected);
    CHECK(verdict_of(kKnown, list("Ampere+PTX", Field::torch, "2.6.0")) ==
          Verdict::rejected);  // becomes 8.6+PTX+PTX
    CHECK(verdict_of(kKnown, list("7.0", Field::cuda, "13.0.2")) == Verdict::rejected);
}

TEST_CASE("arch-list-known accepts the others") {
    for (const auto& words :
         {list("8.9;12.0", Field::cuda, "12.8.1"), list("8.0 8.6+PTX", Field::torch, "2.6.0"),
          list("Kepler+Tesla;Ampere", Field::torch, "2.6.0"), list("9.0a", Field::torch, "2.2.0"),
          list("12.0f", Field::cuda, "12.9.1"), list("Ampere", Field::cuda, "12.4.1"),
          list("3.7", Field::cuda, "11.8.0"), list("99.0", Field::torch, "none"),
          list("7.0", Field::torch, "1.1.0")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kKnown, words).empty());
    }
}

TEST_CASE("arch-list-known does not guess") {
    CHECK(message_of(kKnown, list("8.0", Field::torch, "9.9.9")) ==
          "no fact lists the architectures that cpp_extension of torch 9.9.9 knows: whether it reads 8.0 is "
          "unknown");
    CHECK(verdict_of(kKnown, list("8.0", Field::cuda, "77.1")) == Verdict::unknown);
}

TEST_CASE("the variable of torch's build helper is judged as the field is") {
    const auto env = [](std::string text, Field field, std::string value) {
        return Words{{Field::env, text}, {field, value}};
    };
    CHECK(message_of(kCovers, env("TORCH_CUDA_ARCH_LIST=8.9;9.0", Field::gpu, "RTX 5070 Ti")) ==
          "code built with TORCH_CUDA_ARCH_LIST 8.9;9.0 has nothing for RTX 5070 Ti (compute 12.0)");
    CHECK(fix_of(kCovers, env("A=b,TORCH_CUDA_ARCH_LIST=8.9;9.0", Field::gpu, "RTX 5070 Ti")) ==
          "TORCH_CUDA_ARCH_LIST=8.9;9.0;12.0");
    const auto found = ask(kCovers, env("A=b,TORCH_CUDA_ARCH_LIST=8.9;9.0", Field::gpu, "RTX 5070 Ti"));
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].fixes.size() == 1);
    CHECK(found[0].fixes[0].set[0].second == "A=b,TORCH_CUDA_ARCH_LIST=8.9;9.0;12.0");
    CHECK(verdict_of(kCovers, env("TORCH_CUDA_ARCH_LIST=8.9+PTX", Field::gpu, "RTX 5070 Ti")) ==
          Verdict::degraded);
    CHECK(verdict_of(kCovers, env("TORCH_CUDA_ARCH_LIST=Turing", Field::gpu, "RTX 5070 Ti")) ==
          Verdict::unknown);
    CHECK(message_of(kKnown, env("TORCH_CUDA_ARCH_LIST=8.9;12.0", Field::cuda, "12.6.3")) ==
          "nvcc of CUDA 12.6.3 has no target for 12.0 of TORCH_CUDA_ARCH_LIST 8.9;12.0");
    CHECK(message_of(kKnown, env("TORCH_CUDA_ARCH_LIST=8.9,12.0", Field::torch, "2.7.1+cu128")) ==
          "cpp_extension of torch 2.7.1+cu128 does not know 8.9,12.0 of TORCH_CUDA_ARCH_LIST 8.9,12.0");
    for (const auto& words :
         {env("TORCH_CUDA_ARCH_LIST=8.9;12.0", Field::gpu, "RTX 5070 Ti"),
          env("HF_HOME=/cache", Field::gpu, "H100"), env("TORCH_CUDA_ARCH_LIST=", Field::gpu, "H100"),
          env("XTORCH_CUDA_ARCH_LIST=3.5", Field::gpu, "H100")}) {
        CAPTURE(words[0].second);
        CHECK(ask(kCovers, words).empty());
    }
    CHECK(ask(kKnown, env("HF_HOME=/cache", Field::cuda, "12.6.3")).empty());
    CHECK(ask(kKnown, env("TORCH_CUDA_ARCH_LIST=8.9;9.0", Field::cuda, "12.6.3")).empty());
}

TEST_CASE("two lists of architectures: a build goes by the variable") {
    const Words two{
        {Field::env, "TORCH_CUDA_ARCH_LIST=8.9"}, {Field::arch_list, "8.6"}, {Field::cuda, "12.8.1"}};
    CHECK(message_of(kKnown, two) ==
          "TORCH_CUDA_ARCH_LIST 8.9 in env is not arch_list 8.6: a build in the image goes by the variable, "
          "and "
          "by it everything else is judged");
    CHECK(fix_of(kKnown, two) == "arch_list 8.9, or TORCH_CUDA_ARCH_LIST=8.6");
    CHECK(verdict_of(kCovers, {{Field::env, "TORCH_CUDA_ARCH_LIST=8.9"},
                               {Field::arch_list, "12.0"},
                               {Field::gpu, "RTX 5090"}}) == Verdict::rejected);
    CHECK(ask(kKnown,
              {{Field::env, "TORCH_CUDA_ARCH_LIST=8.9"}, {Field::arch_list, "8.9"}, {Field::cuda, "12.8.1"}})
              .empty());
}

TEST_CASE("arch-list-covers-gpu rejects lists that leave the GPU out") {
    CHECK(message_of(kCovers, list("8.0;8.6", Field::gpu, "H100")) ==
          "code built with arch_list 8.0;8.6 has nothing for H100 (compute 9.0)");
    CHECK(fix_of(kCovers, list("8.0;8.6", Field::gpu, "H100")) == "arch_list 8.0;8.6;9.0");
    CHECK(verdict_of(kCovers, list("8.6", Field::gpu, "A100 80GB")) == Verdict::rejected);
    CHECK(verdict_of(kCovers, list("9.0a+PTX", Field::gpu, "B200")) == Verdict::rejected);
    CHECK(verdict_of(kCovers, list("12.0", Field::gpu, "B200")) == Verdict::rejected);
}

TEST_CASE("arch-list-covers-gpu: PTX is a named limit") {
    CHECK(message_of(kCovers, list("7.5;8.0+PTX", Field::compute, "12.0")) ==
          "code built with arch_list 7.5;8.0+PTX runs on compute 12.0 by the PTX of 8.0+PTX only: the driver "
          "compiles it at the first start");
    CHECK(fix_of(kCovers, list("7.5 8.0+PTX", Field::compute, "12.0")) == "arch_list 7.5;8.0+PTX;12.0");
    Words named{{Field::arch_list, "Turing"}, {Field::torch, "2.6.0"}, {Field::gpu, "A100 80GB"}};
    CHECK(verdict_of(kCovers, named) == Verdict::degraded);
}

TEST_CASE("arch-list-covers-gpu accepts the others and does not guess") {
    for (const auto& words : {list("8.0;9.0", Field::gpu, "H100"), list("8.0", Field::gpu, "RTX 4090"),
                              list("7.5+PTX", Field::gpu, "T4"), list("9.0a", Field::gpu, "H100"),
                              list("12.0", Field::gpu, "RTX 5090"), list("12.0f", Field::compute, "12.1")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kCovers, words).empty());
    }
    Words named{{Field::arch_list, "Ampere"}, {Field::torch, "2.6.0"}, {Field::gpu, "RTX 4090"}};
    CHECK(ask(kCovers, named).empty());
    CHECK(message_of(kCovers, list("Ampere", Field::gpu, "T4")) ==
          "names in arch_list Ampere mean what a known release of torch says: whether code built with "
          "arch_list Ampere runs on the GPU is unknown");
    CHECK(verdict_of(kCovers, list("8.0", Field::gpu, "Voodoo 2")) == Verdict::unknown);
}
