// The torch inside NVIDIA's own images, by reference and by family: no rule takes it for the wheel of its
// number.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

const std::string kNgc = "nvcr.io/nvidia/pytorch:";

Words of_image(const std::string& tag, const std::string& torch, Words more) {
    Words words{{F::image, kNgc + tag}, {F::torch, torch}};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Words of_family(const std::string& torch, Words more) {
    Words words{{F::family, "ngc"}, {F::torch, torch}};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

}  // namespace

TEST_CASE("image-content-runs judges one of NVIDIA's own images beside the torch that the cell names") {
    constexpr std::string_view rule = "image-content-runs";
    CHECK(verdict_of(rule, of_image("25.10-py3", "2.9.0", {{F::gpu, "V100"}, {F::driver, "580.65.06"}})) ==
          Verdict::rejected);
    CHECK(verdict_of(rule, of_image("25.10-py3", "2.9.0",
                                    {{F::gpu, "RTX 4090"}, {F::driver, "535.183.01"}})) == Verdict::rejected);
    CHECK(verdict_of(rule, of_image("25.01-py3", "2.6.0", {{F::gpu, "B200"}, {F::driver, "570.86.15"}})) ==
          Verdict::accepted);
    CHECK(verdict_of(rule, of_image("25.01-py3", "2.6.0",
                                    {{F::gpu, "RTX 5090"}, {F::driver, "570.124.06"}})) == Verdict::accepted);
    CHECK(verdict_of(rule, of_image("25.10-py3", "2.9.0", {{F::gpu, "GH200"}, {F::arch, "aarch64"}})) ==
          Verdict::accepted);
    CHECK(verdict_of(rule, of_image("latest", "2.9.0", {{F::gpu, "V100"}})) == Verdict::unknown);
    CHECK(
        message_of(rule, of_image("25.10-py3@sha256:" + std::string(64, 'a'), "2.9.0", {{F::gpu, "V100"}})) ==
        "no fact says what is in the pinned image nvcr.io/nvidia/pytorch:25.10-py3: whether its CUDA and "
        "torch run there is unknown");
    for (const auto* wheels : {"torch-ships-compute", "torch-published-for-arch", "driver-supports-cuda"}) {
        CHECK(ask(wheels, of_image("25.10-py3", "2.9.0",
                                   {{F::gpu, "V100"}, {F::driver, "470"}, {F::arch, "aarch64"}}))
                  .empty());
    }
}

TEST_CASE("image-content-runs offers another CUDA for family ngc") {
    const auto words =
        of_family("2.8.0", {{F::gpu, "GB200"}, {F::arch, "aarch64"}, {F::driver, "575.57.08"}});
    CHECK(fix_of("image-content-runs", words).find("cuda 12.9.1") != std::string::npos);
}

TEST_CASE("family ngc: a row that does not say the python or the system is no proof") {
    constexpr std::string_view rule = "image-tag-exists";
    const auto facts =
        with_rows("ngc_images",
                  {"id: ngc-pytorch-24.10-py3, tag: 24.10-py3, cuda: 12.6.2, torch: 9.5.0, python: '3.10', "
                   "os: ubuntu22.04",
                   "id: ngc-pytorch-24.11-py3, tag: 24.11-py3, cuda: 12.6.3, torch: 9.5.0"});
    CHECK(
        message_of(rule, of_family("9.5.0", {{F::python, "3.13"}}), facts) ==
        "no fact says which python is in image nvcr.io/nvidia/pytorch:24.11-py3, the nearest that is known: "
        "whether there is one with torch 9.5.0, python 3.13 is unknown");
    CHECK(verdict_of(rule, of_family("9.5.0", {{F::os, "debian12"}}), facts) == Verdict::unknown);
    CHECK(verdict_of(rule, of_family("9.5.0", {{F::python, "3.10"}, {F::os, "ubuntu22.04"}}), facts) ==
          Verdict::accepted);
    CHECK(verdict_of(rule, of_family("9.5.0", {}), facts) == Verdict::accepted);
}

TEST_CASE("packages-agree: who asks for the release would replace NVIDIA's pre-release of it") {
    constexpr std::string_view rule = "packages-agree";
    const auto words = of_family("2.7.0", {{F::packages, "torchvision=0.22.0"}});
    CHECK(
        message_of(rule, words) ==
        "torchvision 0.22.0 needs torch ==2.7.0; the cell has torch 2.7.0a0 of image "
        "nvcr.io/nvidia/pytorch:25.04-py3, a pre-release to pip: it would replace NVIDIA's build by a wheel "
        "of another");
    CHECK(fix_of(rule, words).find("family nvidia-cuda") != std::string::npos);
    CHECK(fix_of(rule, of_family("2.7.0", {{F::packages, "torchvision=0.22.0,timm=1.0.15"}}))
              .find("leave torchvision out") != std::string::npos);
    CHECK(verdict_of(rule, of_image("23.10-py3", "2.1.0", {{F::packages, "vllm=0.2.2"}})) ==
          Verdict::rejected);
    CHECK(verdict_of(rule, {{F::image, kNgc + "25.10-py3"}, {F::packages, "torchvision=0.24.0"}}) ==
          Verdict::rejected);
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "vllm=0.11.1"}})) == Verdict::rejected);
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "accelerate=1.0.0"}})) == Verdict::accepted);
    // What torch's own wheel pins is not asked for.
    CHECK(verdict_of(rule, of_family("2.6.0", {{F::packages, "triton=3.1.0"}})) == Verdict::accepted);
    CHECK(verdict_of(rule, {{F::image, kNgc + "latest"}, {F::packages, "torchvision=0.24.0"}}) ==
          Verdict::unknown);
    CHECK(ask("companions-match-torch", words).empty());
}

TEST_CASE("package-cuda-matches-torch goes by the CUDA of the image") {
    constexpr std::string_view rule = "package-cuda-matches-torch";
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "cupy-cuda12x=13.4.0"}})) != Verdict::accepted);
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "cupy-cuda13x=13.6.0"}})) == Verdict::accepted);
    CHECK(verdict_of(rule, of_image("24.10-py3", "2.5.0", {{F::packages, "cupy-cuda12x=13.4.0"}})) ==
          Verdict::accepted);
}

TEST_CASE("numpy-abi: the torch of the images was built on numpy 1 for longer than the wheels") {
    constexpr std::string_view rule = "numpy-abi";
    CHECK(message_of(rule, of_image("25.08-py3", "2.8.0", {{F::packages, "numpy=2.2.6"}})) ==
          "torch 2.8.0a0 of image nvcr.io/nvidia/pytorch:25.08-py3 was compiled against NumPy 1.x; the cell "
          "has numpy 2.2.6: conversions between tensors and arrays fail (\"Numpy is not available\")");
    CHECK(verdict_of(rule, of_family("2.3.0", {{F::packages, "numpy=2.2.6"}})) == Verdict::degraded);
    CHECK(verdict_of(rule, of_family("2.3.0", {{F::packages, "numpy=1.26.4"}})) == Verdict::accepted);
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "numpy=1.26.4"}})) == Verdict::accepted);
    CHECK(verdict_of(rule, of_family("2.9.0", {{F::packages, "numpy=2.2.6"}})) == Verdict::unknown);
    CHECK(verdict_of(rule, {{F::image, kNgc + "latest"}, {F::packages, "numpy=2.2.6"}}) == Verdict::unknown);
}

TEST_CASE("the triton of the images is NVIDIA's own") {
    CHECK(message_of("triton-supports-gpu", of_family("2.9.0", {{F::gpu, "H100"}})) ==
          "no fact says which ptxas the triton of image nvcr.io/nvidia/pytorch:25.10-py3 assembles with: "
          "whether torch.compile works on H100 (compute 9.0) is not checked");
    CHECK(verdict_of("triton-supports-gpu", of_family("2.9.0", {{F::gpu, "H100"}})) == Verdict::accepted);
    CHECK(verdict_of("triton-supports-gpu", of_family("2.5.0", {{F::gpu, "P100"}})) == Verdict::degraded);
    CHECK(ask("triton-supports-gpu", of_family("2.9.0", {{F::gpu, "RTX 9090"}})).empty());
    CHECK(ask("triton-runs-on-driver", of_family("2.9.0", {{F::gpu, "H100"}, {F::driver, "535.183.01"}}))
              .empty());
    constexpr std::string_view rule = "triton-matches-torch";
    CHECK(message_of(rule, of_family("2.10.0", {{F::packages, "triton=3.6.0"}})).find("which triton is in") !=
          std::string::npos);
    const auto facts = with_rows("ngc_images", {"id: ngc-pytorch-25.11-py3, tag: 25.11-py3, cuda: 13.0, "
                                                "torch: 2.10.0, triton: 3.7.0"});
    const auto beside = [&](const std::string& triton) {
        return ask(rule, of_image("25.11-py3", "2.10.0", {{F::packages, "triton=" + triton}}), facts);
    };
    CHECK(verdict_of(beside("3.6.0")) == Verdict::degraded);
    CHECK(verdict_of(beside("3.7.1")) == Verdict::accepted);
}

TEST_CASE("what came or went with the very release that an image's torch is on the way to is unknown") {
    const auto uses = [](const std::string& torch) { return of_family(torch, {{F::uses, "THC"}}); };
    CHECK(verdict_of("apis-available", uses("1.10.0")) == Verdict::accepted);
    CHECK(verdict_of("apis-available", uses("1.11.0")) == Verdict::unknown);
    CHECK(verdict_of("apis-available", uses("1.12.0")) == Verdict::rejected);
    CHECK(message_of("apis-available", uses("1.12.0")).starts_with("torch 1.12.0a0 of image nvcr.io/"));
    const std::string expandable = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
    constexpr std::string_view allocator = "allocator-setting-known-to-torch";
    CHECK(verdict_of(allocator, of_family("2.0.0", {{F::env, expandable}})) == Verdict::rejected);
    CHECK(verdict_of(allocator, of_family("2.1.0", {{F::env, expandable}})) == Verdict::unknown);
    CHECK(verdict_of(allocator, of_family("2.2.0", {{F::env, expandable}})) == Verdict::accepted);
    CHECK(ask(allocator, of_family("2.1.0", {{F::env, "A=b"}})).empty());
    CHECK(verdict_of("package-supports-torch", of_family("2.9.0", {{F::packages, "transformers=4.53.0"}})) ==
          Verdict::accepted);
    CHECK(verdict_of("package-supports-torch", of_family("2.10.0", {{F::packages, "torchtext=0.18.0"}})) !=
          Verdict::accepted);
    CHECK(verdict_of("dynamo-supports-python", of_family("2.9.0", {{F::python, "3.12"}})) ==
          Verdict::accepted);
    CHECK(verdict_of("torch-takes-compiler", of_family("2.9.0", {{F::compiler, "gcc-13"}})) ==
          Verdict::accepted);
    CHECK(verdict_of("torch-takes-compiler", of_family("2.9.0", {{F::compiler, "gcc-4"}})) ==
          Verdict::rejected);
    CHECK(verdict_of("arch-list-known", of_family("2.9.0", {{F::arch_list, "9.0;12.0"}})) ==
          Verdict::accepted);
    // NVIDIA teaches its own torch new GPUs first.
    CHECK(verdict_of("arch-list-known", of_family("2.6.0", {{F::arch_list, "12.0"}})) == Verdict::unknown);
    CHECK(verdict_of("apis-available", {{F::image, kNgc + "latest"}, {F::torch, "2.9"}, {F::uses, "THC"}}) ==
          Verdict::unknown);
}
