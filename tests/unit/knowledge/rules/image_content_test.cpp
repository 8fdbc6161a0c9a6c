// Rules about what an image holds where the cell does not say it: image-content-runs,
// pip-installs-into-image, torch-compile-has-c-compiler, and the compat libraries that nvidia/cuda images
// bring to driver-supports-cuda.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kContent = "image-content-runs";
constexpr std::string_view kPip = "pip-installs-into-image";
constexpr std::string_view kCompiler = "torch-compile-has-c-compiler";
constexpr std::string_view kDriver = "driver-supports-cuda";

const std::string kTorch271 = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime";
const std::string kNgc = "nvcr.io/nvidia/pytorch:";
const std::string kCuda124 = "nvidia/cuda:12.4.1-devel-ubuntu22.04";

}  // namespace

TEST_CASE("image-content-runs rejects what the tag's CUDA and torch cannot run on") {
    CHECK(
        message_of(kContent, {{Field::image, kTorch271}, {Field::driver, "470.161.03"}}) ==
        "image pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime: driver 470.161.03 is too old for CUDA 12.8.2: "
        "CUDA 12 needs >= 525.60.13");
    CHECK(fix_of(kContent, {{Field::image, kTorch271}, {Field::driver, "470.161.03"}}) ==
          "driver >= 525.60.13, or image pytorch/pytorch:2.7.1-cuda11.8-cudnn9-runtime");
    const Words no_code{{Field::image, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"},
                        {Field::gpu, "RTX 5090"}};
    CHECK(message_of(kContent, no_code) ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel: torch 2.6.0+cu124 has no code for RTX 5090 "
          "(compute "
          "12.0): its SASS is for 5.0, 6.0, 7.0, 7.5, 8.0, 8.6, 9.0, and it has no PTX");
    CHECK(fix_of(kContent, no_code) == "image pytorch/pytorch:2.7.0-cuda12.8-cudnn9-devel");
    CHECK(verdict_of(kContent, {{Field::image, "ghcr.io/" + kTorch271}, {Field::driver, "470"}}) ==
          Verdict::rejected);
    CHECK(verdict_of(kContent,
                     {{Field::image, kCuda124}, {Field::driver, "470.161.03"}, {Field::gpu, "RTX 3090"}}) ==
          Verdict::rejected);
    CHECK(verdict_of(kContent, {{Field::image, "nvcr.io/nvidia/pytorch:25.10-py3"},
                                {Field::driver, "550"}}) == Verdict::rejected);
}

TEST_CASE("image-content-runs: a tag that there is, of a torch whose code no fact lists") {
    const std::string known = "pytorch/pytorch:1.8.0-cuda11.1-cudnn8-runtime";
    CHECK(message_of(kContent, {{Field::image, known}, {Field::gpu, "RTX 5090"}}) ==
          "image pytorch/pytorch:1.8.0-cuda11.1-cudnn8-runtime: no fact lists the code of torch 1.8.0+cu111: "
          "whether torch 1.8.0+cu111 has code for RTX 5090 (compute 12.0) is unknown");
    // Of a tag that no fact describes it is image-tag-exists that says so.
    CHECK(verdict_of(kContent, {{Field::image, "pytorch/pytorch:1.8.0-cuda11.1-cudnn9-runtime"},
                                {Field::gpu, "RTX 5090"}}) == Verdict::accepted);
}

TEST_CASE("image-content-runs accepts what runs, and leaves to other rules what the cell says itself") {
    CHECK(verdict_of(kContent,
                     {{Field::image, kTorch271}, {Field::driver, "570.124.06"}, {Field::compute, "12.0"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kTorch271}, {Field::driver, "550.54.15"}}) ==
          Verdict::degraded);
    CHECK(verdict_of(kContent,
                     {{Field::image, kTorch271}, {Field::driver, "470"}, {Field::torch, "2.7.1+cu128"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kCuda124}, {Field::driver, "470"}, {Field::cuda, "12.4.1"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, "pytorch/pytorch:latest"},
                                {Field::driver, "470"},
                                {Field::torch, "1.13.1+cu117"}}) == Verdict::accepted);
    CHECK(verdict_of(kContent,
                     {{Field::image, "pytorch/pytorch:2.6.0-cuda12.4-devel"}, {Field::driver, "470"}}) ==
          Verdict::accepted);  // image-tag-exists refuses it
    CHECK(verdict_of(kContent, {{Field::image, "python:3.12-slim-bookworm"}, {Field::driver, "470"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, "example.org/own/image:1"}, {Field::driver, "470"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kTorch271 + "@sha256:" + std::string(64, 'a')},
                                {Field::driver, "470"}}) == Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kCuda124}, {Field::driver, "550.54.15"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, "nvcr.io/nvidia/pytorch:25.10-py3"},
                                {Field::driver, "580.95.05"}}) == Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kTorch271}, {Field::compute, "7.5"}}) == Verdict::accepted);
}

TEST_CASE("image-content-runs leaves open what a driver or GPU that no fact knows does") {
    CHECK(verdict_of(kContent, {{Field::image, kTorch271}, {Field::driver, "700.10"}}) == Verdict::unknown);
    CHECK(verdict_of(kContent, {{Field::image, kTorch271}, {Field::gpu, "RTX 9090"}}) == Verdict::unknown);
}

TEST_CASE("image-content-runs: GPUs that the CUDA of one of NVIDIA's own images makes no code for") {
    const Words volta{{Field::image, kNgc + "25.08-py3"}, {Field::gpu, "V100"}};
    CHECK(
        message_of(kContent, volta) ==
        "image nvcr.io/nvidia/pytorch:25.08-py3 has no code for V100 (compute 7.0): CUDA 13.0.3, with which "
        "its torch is built, makes none for GPUs below 7.5");
    CHECK(fix_of(kContent, volta) == "image nvcr.io/nvidia/pytorch:24.10-py3");
    for (const std::string gpu : {"P100", "GTX 1080 Ti", "V100"}) {
        CHECK(verdict_of(kContent, {{Field::image, kNgc + "26.09-py3"}, {Field::gpu, gpu}}) ==
              Verdict::rejected);
    }
    CHECK(verdict_of(kContent, {{Field::image, kNgc + "25.08-py3"}, {Field::compute, "3.5"}}) ==
          Verdict::rejected);
    for (const std::string compute : {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1"}) {
        CHECK(verdict_of(kContent, {{Field::image, kNgc + "25.08-py3"}, {Field::compute, compute}}) ==
              Verdict::accepted);
    }
    CHECK(verdict_of(kContent, {{Field::image, kNgc + "24.10-py3"}, {Field::gpu, "V100"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kContent, {{Field::image, kNgc + "25.08-py3"},
                                {Field::gpu, "V100"},
                                {Field::torch, "2.8.0+cu126"}}) == Verdict::rejected);  // it is no wheel
}

TEST_CASE("image-content-runs: GPUs newer than the CUDA of one of NVIDIA's own images, or not named for it") {
    CHECK(message_of(kContent, {{Field::image, kNgc + "24.10-py3"}, {Field::gpu, "RTX 5090"}}) ==
          "CUDA 12.6.2, with which the torch of image nvcr.io/nvidia/pytorch:24.10-py3 is built, makes no "
          "machine code for RTX 5090 (compute 12.0), and no fact says which PTX it holds for the driver to "
          "compile: whether the torch of image nvcr.io/nvidia/pytorch:24.10-py3 has code for RTX 5090 "
          "(compute 12.0) is unknown");
    const std::pair<std::string, std::string> newer[] = {{"24.12-py3", "RTX 5090"},
                                                         {"23.04-py3", "RTX 5090"},
                                                         {"24.01-py3", "B200"},
                                                         {"19.10-py3", "A100 80GB"},
                                                         {"22.05-py3", "H100"}};
    for (const auto& [tag, gpu] : newer)
        CHECK(verdict_of(kContent, {{Field::image, kNgc + tag}, {Field::gpu, gpu}}) == Verdict::unknown);
    CHECK(message_of(kContent, {{Field::image, kNgc + "24.12-py3"}, {Field::gpu, "V100"}}) ==
          "NVIDIA names compute capability 7.5 and newer for image nvcr.io/nvidia/pytorch:25.02-py3, the "
          "nearest of which a fact says it: whether the torch of image nvcr.io/nvidia/pytorch:24.12-py3 has "
          "code for V100 (compute 7.0) is unknown");
    CHECK(message_of(kContent, {{Field::image, kNgc + "25.04-py3"}, {Field::compute, "7.0"}}) ==
          "NVIDIA names compute capability 7.5 and newer for image nvcr.io/nvidia/pytorch:25.04-py3: whether "
          "the torch of image nvcr.io/nvidia/pytorch:25.04-py3 has code for compute 7.0 is unknown");
    CHECK(verdict_of(kContent, {{Field::image, kNgc + "25.04-py3"}, {Field::gpu, "RTX 9090"}}) ==
          Verdict::unknown);
    const auto future = with_rows(
        "ngc_images", {"id: ngc-pytorch-27.01-py3, tag: 27.01-py3, cuda: \"14.9\", confidence: read"});
    CHECK(message_of(kContent, {{Field::image, kNgc + "27.01-py3"}, {Field::gpu, "T4"}}, future) ==
          "no fact knows CUDA 14.9: whether the torch of image nvcr.io/nvidia/pytorch:27.01-py3 has code for "
          "it is unknown");
}

TEST_CASE("image-content-runs: what is inside is not known, and the host is named") {
    const auto says = [](const std::string& image, const Words& host) {
        Words words{{Field::image, image}};
        words.insert(words.end(), host.begin(), host.end());
        return message_of(kContent, words);
    };
    CHECK(
        says(kNgc + "24.11-py3", {{Field::driver, "470.161.03"}}) ==
        "image nvcr.io/nvidia/pytorch:24.11-py3: driver 470.161.03 is too old for CUDA 12.6.3: CUDA 12 needs "
        ">= 525.60.13");
    CHECK(says(kNgc + "27.01-py3", {{Field::driver, "580"}, {Field::gpu, "V100"}}) ==
          "no fact describes image nvcr.io/nvidia/pytorch:27.01-py3 (the nearest that is known is 26.09-py3, "
          "of CUDA 13.4): whether its CUDA and torch run on driver 580, gpu V100 is unknown");
    CHECK(fix_of(kContent, {{Field::image, kNgc + "27.01-py3"}, {Field::gpu, "T4"}}) ==
          "image nvcr.io/nvidia/pytorch:26.09-py3 (then accepted)");
    for (const std::string moving : {"pytorch/pytorch:latest", "pytorch/pytorch",
                                     "ghcr.io/pytorch/pytorch:latest", "nvcr.io/nvidia/pytorch:latest"}) {
        CHECK(verdict_of(kContent, {{Field::image, moving}, {Field::gpu, "T4"}}) == Verdict::unknown);
        CHECK(verdict_of(kContent, {{Field::image, moving}, {Field::gpu, "T4"}, {Field::cuda, "12.4.1"}}) ==
              Verdict::accepted);
    }
    CHECK(
        says("pytorch/pytorch", {{Field::compute, "8.0"}}) ==
        "no fact says what image pytorch/pytorch:latest holds, whose tag is of no release: whether its CUDA "
        "and torch run on compute 8.0 is unknown");
}

TEST_CASE("the compat libraries of NVIDIA's own images lift a data centre driver, and no other") {
    const auto on = [](const std::string& driver, const std::string& gpu) {
        return Words{{Field::image, kNgc + "25.09-py3"}, {Field::driver, driver}, {Field::gpu, gpu}};
    };
    CHECK(
        message_of(kContent, on("535.183.01", "A100 80GB")) ==
        "image nvcr.io/nvidia/pytorch:25.09-py3: driver 535.183.01 runs CUDA 13.0.1 by the compat libraries "
        "of CUDA 13.0 only: the container has to put them on its library path, and the GPU has to be of "
        "the data centre");
    CHECK(verdict_of(kContent, on("535.183.01", "RTX 3090")) == Verdict::rejected);
    CHECK(verdict_of(kContent, on("525.147.05", "A100 80GB")) == Verdict::rejected);  // not made for it
    auto arm = on("535.183.01", "A100 80GB");
    arm.emplace_back(Field::arch, "aarch64");
    CHECK(verdict_of(kContent, arm) == Verdict::rejected);
    CHECK(verdict_of(kContent, {{Field::image, kNgc + "25.09-py3"}, {Field::driver, "535.183.01"}}) ==
          Verdict::rejected);
}

TEST_CASE("image-content-builds: a rejection gets another tag, a warning beside it gets none") {
    const auto found = ask("image-content-builds", {{Field::image, "nvidia/cuda:11.2.2-devel-ubuntu20.04"},
                                                    {Field::compute, "8.9"},
                                                    {Field::compiler, "gcc-12"}});
    REQUIRE(found.size() == 2);
    CHECK(found[0].severity == Severity::warning);
    CHECK(found[0].message ==
          "image nvidia/cuda:11.2.2-devel-ubuntu20.04: nvcc of CUDA 11.2.2 has no target for compute 8.9: "
          "code for 8.6 runs there, without what is new in 8.9");
    CHECK(found[0].fix_text().empty());
    CHECK(found[1].severity == Severity::error);
    CHECK(found[1].fix_text() == "compiler gcc-10, or image nvidia/cuda:12.0.0-devel-ubuntu20.04");
}

TEST_CASE("image-content-builds: what the cell's own torch is asked is not asked of the image") {
    const Value image{"nvidia/cuda:11.8.0-devel-ubuntu22.04", {}, {}}, torch{"1.10.2+cu113", {}, {}};
    const Value uses{"THC", {}, {{"THC", ""}}};
    Cell cell;
    cell.set(Field::image, &image);
    cell.set(Field::torch, &torch);
    cell.set(Field::uses, &uses);
    const auto questions = [&](std::string_view rule) {
        std::string out;
        for (const auto& accepted : passes(*rule_named(rule), cell, Facts::embedded(), kToday))
            out += accepted.question + "\n";
        return out;
    };
    CHECK(questions("image-content-builds") ==
          "image nvidia/cuda:11.8.0-devel-ubuntu22.04: whether CUDA 11.8.0 has THC\n"
          "image nvidia/cuda:11.8.0-devel-ubuntu22.04: whether torch 1.10.2+cu113, built with CUDA 11.3, "
          "and nvcc of CUDA 11.8.0 have one major\n");
    CHECK(questions("apis-available") == "whether torch 1.10.2+cu113 has THC\n");
}

TEST_CASE("the compat libraries of an nvidia/cuda image lift a data centre driver, and no other") {
    const auto with = [](const std::string& driver, const std::string& gpu) {
        return Words{
            {Field::image, kCuda124}, {Field::cuda, "12.4.1"}, {Field::driver, driver}, {Field::gpu, gpu}};
    };
    CHECK(message_of(kDriver, with("470.161.03", "T4")) ==
          "driver 470.161.03 runs CUDA 12.4.1 by the compat libraries of CUDA 12.4 only: the container has "
          "to put "
          "them on its library path, and the GPU has to be of the data centre");
    CHECK(verdict_of(kDriver, with("470.161.03", "RTX 3090")) == Verdict::rejected);
    CHECK(verdict_of(kDriver, with("460.32.03", "T4")) == Verdict::rejected);  // not made for that branch
    CHECK(verdict_of(kDriver, {{Field::family, "nvidia-cuda"},
                               {Field::cuda, "12.4.1"},
                               {Field::driver, "470.161.03"},
                               {Field::gpu, "T4"}}) == Verdict::degraded);
    CHECK(verdict_of(kDriver, {{Field::family, "debian"},
                               {Field::cuda, "12.4.1"},
                               {Field::driver, "470.161.03"},
                               {Field::gpu, "T4"}}) == Verdict::rejected);
    CHECK(verdict_of(kDriver, {{Field::family, "nvidia-cuda"},
                               {Field::cuda, "12.4.1"},
                               {Field::driver, "470.161.03"},
                               {Field::gpu, "T4"},
                               {Field::arch, "aarch64"}}) == Verdict::rejected);
}

TEST_CASE("pip-installs-into-image warns of a python that the distribution manages") {
    const Words words{{Field::image, "nvidia/cuda:12.6.3-devel-ubuntu24.04"}, {Field::torch, "2.6.0+cu126"}};
    CHECK(message_of(kPip, words) ==
          "image nvidia/cuda:12.6.3-devel-ubuntu24.04: its python is managed by the distribution (PEP 668), "
          "so that "
          "a plain pip install of the cell's torch ends with \"error: externally-managed-environment\"; a "
          "virtual "
          "environment takes them");
    CHECK(fix_of(kPip, words) == "env PIP_BREAK_SYSTEM_PACKAGES=1");
    CHECK(verdict_of(kPip, {{Field::image, "pytorch/pytorch:2.12.0-cuda12.6-cudnn9-devel"},
                            {Field::packages, "timm=1.0.9"}}) == Verdict::degraded);
}

TEST_CASE("pip-installs-into-image accepts other images, and those where the switch is set") {
    CHECK(verdict_of(kPip, {{Field::image, "nvidia/cuda:12.6.3-devel-ubuntu22.04"},
                            {Field::torch, "2.6.0+cu126"}}) == Verdict::accepted);
    CHECK(verdict_of(kPip, {{Field::image, "nvidia/cuda:12.6.3-devel-ubuntu24.04"},
                            {Field::torch, "2.6.0+cu126"},
                            {Field::env, "PIP_BREAK_SYSTEM_PACKAGES=1"}}) == Verdict::accepted);
    CHECK(verdict_of(kPip, {{Field::image, "pytorch/pytorch:2.12.0-cuda12.6-cudnn9-devel"},
                            {Field::torch, "2.12.0"}}) == Verdict::accepted);
    CHECK(verdict_of(kPip, {{Field::image, "pytorch/pytorch:2.9.1-cuda12.6-cudnn9-devel"},
                            {Field::packages, "timm=1.0.9"}}) == Verdict::accepted);
    CHECK(verdict_of(kPip, {{Field::image, "nvidia/cuda:12.6.3-devel-ubuntu24.04"},
                            {Field::torch, "none"}}) == Verdict::accepted);
}

TEST_CASE("torch-compile-has-c-compiler warns of images without one") {
    const Words words{{Field::image, "nvidia/cuda:12.4.1-runtime-ubuntu22.04"},
                      {Field::torch, "2.6.0+cu124"}};
    CHECK(message_of(kCompiler, words) ==
          "torch.compile of torch 2.6.0+cu124 needs a C compiler where it runs, and image "
          "nvidia/cuda:12.4.1-runtime-ubuntu22.04 holds none: \"Failed to find C compiler\"; eager mode "
          "works, and so "
          "does an image with the package gcc added");
    CHECK(fix_of(kCompiler, words) == "image nvidia/cuda:12.4.1-devel-ubuntu22.04");
    CHECK(verdict_of(kCompiler, {{Field::image, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime"}}) ==
          Verdict::degraded);
    CHECK(fix_of(kCompiler, {{Field::family, "nvidia-cuda"},
                             {Field::cuda, "12.4.1"},
                             {Field::os, "ubuntu22.04"},
                             {Field::flavour, "base"},
                             {Field::torch, "2.6.0+cu124"}}) == "flavour devel");
}

TEST_CASE("torch-compile-has-c-compiler accepts the others") {
    CHECK(verdict_of(kCompiler, {{Field::image, kCuda124}, {Field::torch, "2.6.0+cu124"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kCompiler, {{Field::image, "nvidia/cuda:12.4.1-runtime-ubuntu22.04"},
                                 {Field::torch, "none"}}) == Verdict::accepted);
    CHECK(verdict_of(kCompiler, {{Field::image, "nvidia/cuda:11.7.1-runtime-ubuntu22.04"},
                                 {Field::torch, "1.13.1+cu117"}}) == Verdict::accepted);
    CHECK(verdict_of(kCompiler, {{Field::image, "nvidia/cuda:12.4.1-runtime-ubuntu22.04"},
                                 {Field::torch, "2.6.0+cpu"}}) == Verdict::accepted);
    CHECK(verdict_of(kCompiler, {{Field::image, "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel"}}) ==
          Verdict::accepted);
    CHECK(verdict_of(kCompiler, {{Field::image, "pytorch/pytorch:2.11.0-cuda12.8-cudnn9-runtime"}}) ==
          Verdict::accepted);
}

TEST_CASE("rules about images leave open what rests on an unverified fact") {
    const auto pip =
        with_rows("operating_systems", {"id: os-ubuntu24.04, os: ubuntu24.04, name: Ubuntu 24.04, "
                                        "externally_managed: true, render: false, confidence: unverified"});
    CHECK(verdict_of(kPip,
                     {{Field::image, "nvidia/cuda:12.6.3-devel-ubuntu24.04"}, {Field::torch, "2.6.0+cu126"}},
                     pip) == Verdict::unknown);
    const auto compiler =
        with_rows("image_policies", {"id: image-policy-c-compiler, policy: c-compiler, says: none, "
                                     "values: [runtime], confidence: unverified"});
    CHECK(
        verdict_of(kCompiler,
                   {{Field::image, "nvidia/cuda:12.4.1-runtime-ubuntu22.04"}, {Field::torch, "2.6.0+cu124"}},
                   compiler) == Verdict::unknown);
}
