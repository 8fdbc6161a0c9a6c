// package-wheel-fits-image, beside the cells of tests/verdicts: its words, its fixes and its edges.
#include <doctest/doctest.h>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "package-wheel-fits-image";

Words in_image(const std::string& tag, const std::string& packages, Words others = {}) {
    others.emplace_back(Field::image, "nvcr.io/nvidia/pytorch:" + tag);
    others.emplace_back(Field::packages, packages);
    return others;
}

}  // namespace

TEST_CASE("package-wheel-fits-image: a wheel that is known not to fit") {
    const auto words = in_image("23.11-py3", "flash-attn=2.3.6");
    CHECK(message_of(kRule, words) ==
          "the wheel of flash-attn 2.3.6 that its setup.py takes was compiled with torch 2.2.0.dev20231127, "
          "and "
          "does not fit torch 2.2.0a0 of image nvcr.io/nvidia/pytorch:23.11-py3: import flash_attn ends with "
          "\"undefined symbol: _ZNK3c1017SymbolicShapeMeta18init_is_contiguousEv\"; "
          "FLASH_ATTENTION_FORCE_BUILD=TRUE compiles it for the torch that is there");
    // Of 2.4.0 to 2.8.0 no fact says whether they fit, and the wheels of newer ones are for newer torch.
    CHECK(fix_of(kRule, words) == "flash-attn 2.8.0.post2");
    CHECK(fix_of(kRule, in_image("23.12-py3", "flash-attn=2.5.0")) == "flash-attn 2.5.1.post1");
    CHECK(verdict_of(kRule, words, with_doubts({"package-image-flash-attn-2.3.6-23.11"})) ==
          Verdict::unknown);
}

TEST_CASE("package-wheel-fits-image: a wheel of which no fact says whether it fits") {
    CHECK(message_of(kRule, in_image("24.01-py3", "flash-attn=2.4.2")) ==
          "no fact says whether the wheel of flash-attn 2.4.2 that its setup.py takes, compiled with torch "
          "2.2.0.dev20231106, fits that of image nvcr.io/nvidia/pytorch:24.01-py3: whether flash-attn 2.4.2 "
          "can "
          "be imported is unknown");
    CHECK(
        message_of(kRule, in_image("latest", "flash-attn=2.4.2")) ==
        "no fact says which torch is in image nvcr.io/nvidia/pytorch:latest: whether flash-attn 2.4.2 can be "
        "imported is unknown");
    CHECK(message_of(kRule, in_image("latest", "flash-attn=2.4.2", {{Field::torch, "2.2.0"}})) ==
          "no fact says whether the wheel of flash-attn 2.4.2 that its setup.py takes, compiled with torch "
          "2.2.0.dev20231106, fits that of image nvcr.io/nvidia/pytorch:latest: whether flash-attn 2.4.2 can "
          "be "
          "imported is unknown");
    // A digest may be any image.
    CHECK(verdict_of(kRule, in_image("23.12-py3@sha256:" + std::string(64, 'a'), "flash-attn=2.5.1")) ==
          Verdict::unknown);
}

TEST_CASE("package-wheel-fits-image says nothing where the package is compiled in the image") {
    CHECK(ask(kRule, in_image("23.11-py3", "flash-attn=2.3.5")).empty());  // no wheel for torch 2.2 yet
    CHECK(ask(kRule, in_image("25.10-py3", "flash-attn=2.8.3")).empty());  // nor for torch 2.9
    CHECK(ask(kRule, in_image("24.01-py3", "mamba-ssm=2.2.0", {{Field::arch, "aarch64"}})).empty());
    CHECK(ask(kRule, in_image("23.12-py3", "flash-attn=2.0.4")).empty());     // looks for none
    CHECK(ask(kRule, in_image("25.10-py3", "causal-conv1d=1.6.1")).empty());  // one for the image itself
    CHECK(ask(kRule, in_image("23.11-py3", "flash-attn=auto")).empty());
    CHECK(ask(kRule, in_image("latest", "flash-attn=2.4.2", {{Field::torch, "none"}})).empty());
    CHECK(ask(kRule, {{Field::torch, "2.2.0"}, {Field::packages, "flash-attn=2.3.6"}}).empty());
    CHECK(ask(kRule, {{Field::image, "pytorch/pytorch:2.2.0-cuda12.1-cudnn8-devel"},
                      {Field::packages, "flash-attn=2.3.6"}})
              .empty());
    // A python that the makers have no wheels for.
    const auto facts = with_rows("ngc_images", {"id: ngc-pytorch-23.12-py3, tag: 23.12-py3, torch: 2.2.0, "
                                                "cuda: 12.3, python: \"3.12\""});
    CHECK(ask(kRule, in_image("23.12-py3", "flash-attn=2.5.0"), facts).empty());
}
