// The rules about Python packages outside Linux with glibc, and pairs of packages that do not run together.
#include <doctest/doctest.h>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kHas = "package-has-wheel";
constexpr std::string_view kPython = "package-supports-python";
constexpr std::string_view kTogether = "packages-run-together";

Words on(std::string_view os, std::string_view packages) {
    return {{Field::os, std::string(os)}, {Field::packages, std::string(packages)}};
}

Words on(std::string_view os, std::string_view python, std::string_view packages) {
    auto words = on(os, packages);
    words.emplace_back(Field::python, std::string(python));
    return words;
}

Words together(std::string_view packages) {
    return {{Field::packages, std::string(packages)}};
}

}  // namespace

TEST_CASE("package-has-wheel reads the system") {
    CHECK(message_of(kHas, on("windows", "triton=3.3.1")) ==
          "triton 3.3.1 has no wheel on the index for Windows, and no source to build");
    CHECK(fix_of(kHas, on("windows", "triton=3.3.1")) == "os ubuntu24.04");
    CHECK(message_of(kHas, on("alpine3.20", "triton=3.3.1")) ==
          "triton 3.3.1 has no wheel on the index for Alpine Linux 3.20, which has musl, and no source to "
          "build");
    CHECK(verdict_of(kHas, on("macos", "cupy-cuda12x=13.3.0")) == Verdict::rejected);
    // Compiled where compilers are there, unless its source is for Linux only.
    CHECK(verdict_of(kHas, on("alpine3.20", "scikit-learn=1.5.0")) == Verdict::degraded);
    CHECK(
        message_of(kHas, on("windows", "vllm=0.9.2")) ==
        "vllm 0.9.2 has no wheel on the index for Windows, and its source is not for it: its setup.py builds "
        "it for no device there: \"vLLM only supports Linux platform\"");
    for (const auto& words : {on("ubuntu24.04", "triton=3.3.1"), on("windows", "cupy-cuda12x=13.3.0"),
                              on("windows", "transformers=4.46.3"), on("alpine3.20", "transformers=4.46.3"),
                              on("alpine3.20", "numpy=2.2.6"), on("macos", "torchvision=0.21.0"),
                              on("windows", "deepspeed=0.16.5"), on("solaris11", "triton=3.3.1"),
                              on("windows", "triton-windows=3.3.1")}) {
        CAPTURE(words.front().second);
        CAPTURE(words.back().second);
        CHECK(verdict_of(kHas, words) == Verdict::accepted);
    }
}

TEST_CASE("package-has-wheel does not guess about systems that nobody looked at") {
    const auto facts =
        with_rows("package_releases", {"id: package-nova-1.0, package: nova, version: \"1.0\", "
                                       "abi: [py3], confidence: read"});
    CHECK(verdict_of(kHas, on("ubuntu24.04", "nova=1.0"), facts) == Verdict::accepted);
    CHECK(message_of(kHas, on("windows", "nova=1.0"), facts) ==
          "no fact lists the wheels of nova 1.0 for other systems than Linux with glibc: whether nova 1.0 "
          "has a "
          "wheel for Windows is unknown");
    CHECK(verdict_of(kHas, on("alpine3.20", "nova=1.0"), facts) == Verdict::unknown);
    CHECK(verdict_of(kPython, on("windows", "3.12", "nova=1.0"), facts) == Verdict::accepted);
}

TEST_CASE("package-supports-python reads the wheels of the system") {
    CHECK(
        message_of(kPython, on("windows", "3.13t", "onnxruntime-gpu=1.26.0")) ==
        "onnxruntime-gpu 1.26.0 has no wheel for python 3.13t on Windows: it has them for 3.11, 3.12, 3.13, "
        "3.14");
    CHECK(verdict_of(kPython, on("ubuntu24.04", "3.13t", "onnxruntime-gpu=1.26.0")) == Verdict::accepted);
    CHECK(verdict_of(kPython, on("windows", "3.13", "onnxruntime-gpu=1.26.0")) == Verdict::accepted);
    // No wheel at all: package-has-wheel says so.
    CHECK(verdict_of(kPython, on("windows", "3.12", "triton=3.3.1")) == Verdict::accepted);
}

TEST_CASE("triton of its own name is no triton for Windows") {
    const auto words = [](std::string_view package) {
        return Words{
            {Field::os, "windows"}, {Field::torch, "2.7.1+cu128"}, {Field::packages, std::string(package)}};
    };
    CHECK(verdict_of("triton-comes-with-torch", words("triton=3.3.1")) == Verdict::degraded);
    CHECK(verdict_of("triton-comes-with-torch", words("triton-windows=3.3.1")) == Verdict::accepted);
}

TEST_CASE("packages-agree asks what torch's sisters demand where the cell names no torch") {
    CHECK(message_of("packages-agree", together("torchvision=0.20.1,torchaudio=2.6.0")) ==
          "torchvision 0.20.1 needs torch ==2.5.1; torchaudio 2.6.0 needs torch ==2.6.0");
    CHECK(fix_of("packages-agree", together("torchvision=0.20.1,torchaudio=2.6.0")) ==
          "torchvision 0.21.0, or torchaudio 2.5.1, or leave torchvision out, or leave torchaudio out");
    CHECK(verdict_of("packages-agree", together("torchvision=0.20.1,xformers=0.0.29.post3")) ==
          Verdict::rejected);
    CHECK(verdict_of("packages-agree", together("torchvision=0.20.1,torchaudio=2.5.1")) == Verdict::accepted);
    CHECK(verdict_of("packages-agree", together("torchvision=0.21.0,xformers=0.0.29.post3")) ==
          Verdict::accepted);
    // Beside a torch companions-match-torch asks.
    CHECK(verdict_of("packages-agree",
                     {{Field::torch, "2.5.1"}, {Field::packages, "torchvision=0.20.1,torchaudio=2.6.0"}}) ==
          Verdict::accepted);
}

TEST_CASE("package-cuda-matches-torch: every release of bitsandbytes has libraries of its own") {
    const auto verdict = [](std::string_view torch, std::string_view version) {
        return verdict_of(
            "package-cuda-matches-torch",
            {{Field::torch, std::string(torch)}, {Field::packages, "bitsandbytes=" + std::string(version)}});
    };
    CHECK(verdict("2.6.0+cu124", "0.41.0") == Verdict::rejected);
    CHECK(verdict("2.9.0+cu130", "0.44.1") == Verdict::degraded);
    CHECK(verdict("2.9.0+cu130", "0.45.5") == Verdict::degraded);
    CHECK(verdict("2.9.0+cu130", "0.47.0") == Verdict::rejected);
    CHECK(verdict("2.12.0+cu132", "0.49.2") == Verdict::rejected);
    // From 0.50 on it takes the nearest library of the same major.
    CHECK(verdict("2.12.0+cu132", "0.50.0") == Verdict::accepted);
    CHECK(verdict("2.8.0+cu129", "0.50.2") == Verdict::accepted);
    CHECK(verdict("1.12.1+cu102", "0.50.2") == Verdict::rejected);
    CHECK(verdict("2.9.0+cu130", "0.48.1") == Verdict::accepted);
    CHECK(verdict("2.5.1+cu124", "0.44.1") == Verdict::accepted);
    CHECK(verdict("2.6.0+cpu", "0.44.1") == Verdict::accepted);
    // Until 0.40 it searched the system for a CUDA runtime.
    CHECK(message_of("package-cuda-matches-torch",
                     {{Field::torch, "2.0.1+cu118"}, {Field::packages, "bitsandbytes=0.38.1"}}) ==
          "no fact says for which CUDA bitsandbytes 0.38.1 holds a library: whether it has one for torch "
          "2.0.1+cu118, built for CUDA 11.8 is unknown");
    CHECK(verdict("2.6.0+cpu", "0.38.1") == Verdict::accepted);
    CHECK(verdict("2.0.1+cu118", "9.9.9") == Verdict::accepted);  // packages-agree says so
}

TEST_CASE("packages-run-together") {
    const auto words = together("diffusers=0.21.4,huggingface-hub=0.26.0");
    CHECK(message_of(kTogether, words) ==
          "diffusers 0.21.4 does not run with huggingface-hub 0.26.0: import diffusers fails: \"cannot "
          "import name "
          "'cached_download' from 'huggingface_hub'\"");
    CHECK(fix_of(kTogether, words) == "huggingface-hub 0.25.2, or diffusers 0.29.0, or leave diffusers out");
    for (const auto* pins : {"sentence-transformers=2.2.2,huggingface_hub=0.30.2",
                             "peft=0.17.1,transformers=5.0.0", "peft=0.14.0,transformers=4.42.4",
                             "peft=0.17.1,transformers=4.43.4", "peft=0.18.0,transformers=4.51.1",
                             "trl=0.7.11,transformers=4.39.0", "autoawq=0.2.9,transformers=4.57.0"}) {
        CAPTURE(pins);
        CHECK(verdict_of(kTogether, together(pins)) == Verdict::rejected);
    }
    for (const auto* pins :
         {"diffusers=0.21.4,huggingface-hub=0.25.2", "diffusers=0.29.0,huggingface-hub=0.26.0",
          "sentence-transformers=2.3.0,huggingface-hub=0.30.2", "peft=0.18.0,transformers=5.0.0",
          "peft=0.17.1,transformers=4.57.0", "peft=0.13.2,transformers=4.42.4",
          "peft=0.18.1,transformers=4.51.1", "trl=0.8.0,transformers=4.39.0",
          "trl=0.7.11,transformers=4.38.2", "autoawq=0.2.9,transformers=4.51.3", "diffusers=0.21.4",
          "huggingface-hub=0.26.0", "numpy=1.26.4,timm=1.0.9", "diffusers=auto,huggingface-hub=0.26.0"}) {
        CAPTURE(pins);
        CHECK(verdict_of(kTogether, together(pins)) == Verdict::accepted);
    }
    CHECK(verdict_of(kTogether, words, with_doubts({"package-pair-diffusers-huggingface-hub"})) ==
          Verdict::unknown);
}

TEST_CASE("A CUDA that came out after the torch, and an index that a fact denies") {
    const auto torch = [](std::string_view text) { return Words{{Field::torch, std::string(text)}}; };
    CHECK(
        message_of("torch-built-for-cuda", torch("2.9.0+cu135")) ==
        "torch 2.9.0+cu135 was never published: torch 2.9.0 came out on 2025-10-15, CUDA 13.5 on 2026-11-04");
    CHECK(fix_of("torch-built-for-cuda", torch("2.9.0+cu135")) == "torch 2.9.0+cu130");
    CHECK(verdict_of("torch-built-for-cuda", torch("2.15.0+cu136")) == Verdict::unknown);
    CHECK(message_of("wheel-index-exists", torch("2.9.0+cu134")) ==
          "torch 2.9.0+cu134 cannot be installed: there is no wheel index cu134, the nearest are cu132 "
          "(torch 2.12.0 "
          "to 2.15.0)");
    CHECK(fix_of("wheel-index-exists", torch("2.9.0+cu134")) == "torch 2.9.0+cu130");
    CHECK(verdict_of("wheel-index-exists", torch("2.15.0+cu134")) == Verdict::rejected);
    CHECK(verdict_of("wheel-index-exists", torch("2.15.0+cu132")) == Verdict::accepted);
    CHECK(ask("torch-built-for-cuda", torch("2.15.0+cu134")).empty());
}
