// The rules about Python packages: their demands, wheels, and what their binaries need.
#include <doctest/doctest.h>

#include <chrono>

#include "knowledge/judge/judge.hpp"
#include "matrix/matrix_file.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

bool offers(const Findings& findings, std::string_view text) {
    for (const auto& finding : findings) {
        for (const auto& option : finding.fixes) {
            if (option.text == text) return true;
        }
    }
    return false;
}

Words packages(std::string_view text) {
    return {{Field::packages, std::string(text)}};
}

Words with(Field field, std::string_view value, std::string_view text) {
    return {{field, std::string(value)}, {Field::packages, std::string(text)}};
}

}  // namespace

TEST_CASE("packages-agree: a demand on another package of the cell") {
    const auto words = packages("transformers=4.27.4,tokenizers=0.19.1");
    CHECK(message_of("packages-agree", words) ==
          "transformers 4.27.4 needs tokenizers >=0.11.1,!=0.11.3,<0.14; the cell has tokenizers 0.19.1");
    const auto findings = ask("packages-agree", words);
    CHECK(verdict_of(findings) == Verdict::rejected);
    CHECK(offers(findings, "tokenizers 0.13.3"));
    CHECK(offers(findings, "leave tokenizers out"));
    CHECK(findings.front().facts.size() == 2);

    CHECK(verdict_of("packages-agree", packages("transformers=4.27.4,tokenizers=0.13.3")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", packages("transformers=4.27.4,tokenizers=0.11.3")) ==
          Verdict::rejected);
    CHECK(verdict_of("packages-agree", packages("transformers=4.27.4")) == Verdict::accepted);
    // Names and versions are compared as the index compares them.
    CHECK(verdict_of("packages-agree", packages("Transformers=4.27.4,huggingface_hub=0.36.2")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", packages("transformers=4.27.4,huggingface_hub=1.1.7")) ==
          Verdict::rejected);
}

TEST_CASE("packages-agree: a demand on torch") {
    CHECK(message_of("packages-agree", with(Field::torch, "2.6.0", "xformers=0.0.28")) ==
          "xformers 0.0.28 needs torch ==2.4.1; the cell has torch 2.6.0");
    CHECK(message_of("packages-agree", with(Field::torch, "2.6.0+cu118", "xformers=0.0.28.post1")) ==
          "xformers 0.0.28.post1 needs torch ==2.4.1; the cell has torch 2.6.0+cu118");
    const auto findings = ask("packages-agree", with(Field::torch, "2.6.0", "xformers=0.0.28"));
    CHECK(offers(findings, "torch 2.4.1"));
    CHECK(offers(findings, "xformers 0.0.29.post2"));

    CHECK(verdict_of("packages-agree", with(Field::torch, "2.4.1", "xformers=0.0.28")) == Verdict::accepted);
    CHECK(verdict_of("packages-agree", with(Field::torch, "2.4.1+cu118", "xformers=0.0.28")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", with(Field::torch, "none", "xformers=0.0.28")) == Verdict::accepted);
    // What other rules judge: torch's sisters, and a torch that no fact knows.
    CHECK(verdict_of("packages-agree", with(Field::torch, "2.6.0", "torchvision=0.15.2")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", with(Field::torch, "9.9.9", "xformers=0.0.28")) == Verdict::accepted);
    CHECK(verdict_of("packages-agree", with(Field::torch, "1.12.1+cu118", "xformers=0.0.28")) ==
          Verdict::accepted);
}

TEST_CASE("packages-agree: what the default build of torch demands") {
    CHECK(message_of("packages-agree", with(Field::torch, "2.6.0", "triton=3.1.0")) ==
          "torch 2.6.0 needs triton ==3.2.0; the cell has triton 3.1.0");
    CHECK(message_of("packages-agree", with(Field::torch, "2.6.0", "nvidia-cudnn-cu12=9.5.1.17")) ==
          "torch 2.6.0 needs nvidia-cudnn-cu12 ==9.1.0.70; the cell has nvidia-cudnn-cu12 9.5.1.17");
    CHECK(verdict_of("packages-agree", with(Field::torch, "2.6.0", "triton=3.2.0")) == Verdict::accepted);
    // Of other variants no fact lists the demands, and on other machines there are fewer.
    CHECK(verdict_of("packages-agree", with(Field::torch, "2.6.0+cu118", "nvidia-cudnn-cu12=9.5.1.17")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", {{Field::torch, "2.6.0"},
                                        {Field::arch, "aarch64"},
                                        {Field::packages, "nvidia-cudnn-cu12=9.5.1.17"}}) ==
          Verdict::accepted);
}

TEST_CASE("packages-agree: two demands on a third that exclude each other") {
    const auto words = packages("transformers=4.27.4,vllm=0.6.0");
    const auto findings = ask("packages-agree", words);
    CHECK(verdict_of(findings) == Verdict::rejected);
    bool said = false;
    for (const auto& finding : findings)
        said = said || finding.message ==
                           "transformers 4.27.4 needs tokenizers >=0.11.1,!=0.11.3,<0.14; vllm 0.6.0 needs "
                           "tokenizers >=0.19.1";
    CHECK(said);
    CHECK(message_of("packages-agree", packages("xformers=0.0.20,bitsandbytes=0.46.0")) ==
          "xformers 0.0.20 needs torch ==2.0.1; bitsandbytes 0.46.0 needs torch >=2.2,<3");
    CHECK(verdict_of("packages-agree", packages("xformers=0.0.28,bitsandbytes=0.46.0")) == Verdict::accepted);
    CHECK(verdict_of("packages-agree", packages("diffusers=0.31.0,transformers=4.46.3,accelerate=1.0.1")) ==
          Verdict::accepted);
}

TEST_CASE("packages-agree: demands that depend on the python") {
    const auto ask_with = [](std::string_view python) {
        return verdict_of("packages-agree", {{Field::python, std::string(python)},
                                             {Field::packages, "opencv-python=4.10.0.84,numpy=1.23.5"}});
    };
    CHECK(ask_with("3.12") == Verdict::rejected);
    CHECK(ask_with("3.12.4") == Verdict::rejected);
    CHECK(ask_with("3.10") == Verdict::accepted);
    CHECK(verdict_of("packages-agree", packages("opencv-python=4.10.0.84,numpy=1.23.5")) ==
          Verdict::accepted);
}

TEST_CASE("packages-agree: what no fact knows") {
    CHECK(message_of("packages-agree", packages("transformers=4.99.9")) ==
          "no fact knows transformers 4.99.9 (the nearest that is known is 4.57.6): whether it fits with the "
          "rest of the cell is unknown");
    CHECK(verdict_of("packages-agree", packages("transformers=4.99.9")) == Verdict::unknown);
    CHECK(message_of("packages-agree", packages("our-own-tools=1.2")) ==
          "no fact lists the releases of our-own-tools: its own demands are not checked");
    CHECK(verdict_of("packages-agree", packages("our-own-tools=1.2")) == Verdict::accepted);
    CHECK(verdict_of("packages-agree", with(Field::torch, "1.13.1+cu117", "torchvision=0.14.1+cu117")) ==
          Verdict::accepted);
    CHECK(verdict_of("packages-agree", packages("torchvision=0.99.1+cu117")) == Verdict::unknown);
    // Listed, not opened: alone it has nothing to fit with.
    CHECK(verdict_of("packages-agree", packages("diffusers=0.31.0,transformers=4.46.3")) ==
          Verdict::accepted);
    const auto facts = with_rows(
        "package_releases",
        {"id: package-acme-1.0, package: acme, version: \"1.0\", requires: [\"numpy <2\"], abi: [py3]",
         "id: package-acme-1.1, package: acme, version: \"1.1\", abi: [py3]"});
    CHECK(verdict_of("packages-agree", packages("acme=1.1"), facts) == Verdict::accepted);
    CHECK(message_of("packages-agree", packages("acme=1.1,numpy=2.2.6"), facts) ==
          "no fact lists the demands of acme 1.1 (the nearest that is known is 1.0): whether it fits with "
          "the rest of the cell is unknown");
    CHECK(message_of("packages-agree", packages("acme=1.0.0,numpy=2.2.6"), facts) ==
          "acme 1.0.0 needs numpy <2; the cell has numpy 2.2.6");
    CHECK(message_of("packages-agree", packages("acme=0.5"), facts) ==
          "no fact knows acme 0.5 (the nearest that is known is 1.0): whether it fits with the rest of the "
          "cell is unknown");
}

TEST_CASE("package-supports-python: Requires-Python") {
    CHECK(message_of("package-supports-python", with(Field::python, "3.10", "transformers=5.23.0")) ==
          "transformers 5.23.0 needs python >=3.11.0; the cell has python 3.10");
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.11", "transformers=5.23.0")) ==
          Verdict::accepted);
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.12.4", "transformers=5.23.0")) ==
          Verdict::accepted);
    const auto findings = ask("package-supports-python", with(Field::python, "3.10", "transformers=5.23.0"));
    CHECK(offers(findings, "python 3.11"));
    CHECK(message_of("package-supports-python", with(Field::python, "3", "transformers=5.23.0")) ==
          "python 3 names no minor release: whether the packages have wheels for it is unknown");
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.10", "transformers=4.99.9")) ==
          Verdict::accepted);
}

TEST_CASE("package-supports-python: wheels") {
    CHECK(message_of("package-supports-python", with(Field::python, "3.13", "triton=2.3.1")) ==
          "triton 2.3.1 has no wheel for python 3.13 on x86_64: it has them for 3.7, 3.8, 3.9, 3.10, "
          "3.11, 3.12");
    CHECK(message_of("package-supports-python", with(Field::python, "3.13", "numpy=1.26.4")) ==
          "numpy 1.26.4 has no wheel for python 3.13 on x86_64: it has them for 3.9, 3.10, 3.11, 3.12, and "
          "pip builds it from source");
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.13", "numpy=1.26.4")) ==
          Verdict::degraded);
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.13t", "tokenizers=0.21.0")) ==
          Verdict::degraded);
    // No wheel for any python: package-has-wheel says so.
    CHECK(verdict_of("package-supports-python", with(Field::python, "3.12", "flash-attn=2.7.4.post1")) ==
          Verdict::accepted);
    for (const auto& pair : std::vector<std::pair<std::string, std::string>>{{"3.12", "triton=3.2.0"},
                                                                             {"3.13t", "numpy=2.2.6"},
                                                                             {"3.13", "tokenizers=0.21.0"},
                                                                             {"3.13t", "transformers=4.46.3"},
                                                                             {"3.9", "vllm=0.6.0"},
                                                                             {"3.12", "triton=3.9.0"},
                                                                             {"3.14t", "triton=3.9.0"}}) {
        CAPTURE(pair.second);
        CHECK(verdict_of("package-supports-python", with(Field::python, pair.first, pair.second)) ==
              Verdict::accepted);
    }
}

TEST_CASE("package-has-wheel") {
    const auto findings = ask("package-has-wheel", packages("flash-attn=2.8.3"));
    CHECK(verdict_of(findings) == Verdict::degraded);
    CHECK(message_of("package-has-wheel", packages("flash-attn=2.8.3")) ==
          "flash-attn 2.8.3 has no wheel on the index for Linux on x86_64: pip builds it from its source, "
          "with compilers that must be there (of a CUDA extension nvcc, of torch's CUDA major) and the time "
          "that they take");
    CHECK(offers(ask("package-has-wheel", packages("flash-attn=2.8.3,numpy=2.2.6")), "leave flash-attn out"));
    CHECK(message_of("package-has-wheel", with(Field::arch, "aarch64", "vllm-flash-attn=2.6.1")) ==
          "vllm-flash-attn 2.6.1 has no wheel on the index for Linux on aarch64, and no source to build");
    CHECK(verdict_of("package-has-wheel", with(Field::arch, "aarch64", "xformers=0.0.28")) ==
          Verdict::degraded);
    for (const std::string pins :
         {"xformers=0.0.28", "vllm-flash-attn=2.6.1", "fastai=2.7.11", "our-own-tools=1.0", "flash-attn=9.9"})
        CHECK(verdict_of("package-has-wheel", packages(pins)) == Verdict::accepted);
}

TEST_CASE("packages-agree: fastai and the attention package of vllm demand their torch") {
    CHECK(message_of("packages-agree", with(Field::torch, "2.0.0", "fastai=2.7.11")) ==
          "fastai 2.7.11 needs torch >=1.7,<1.14; the cell has torch 2.0.0");
    CHECK(message_of("packages-agree", packages("vllm=0.6.5,vllm-flash-attn=2.6.1")) ==
          "vllm 0.6.5 needs torch ==2.5.1; vllm-flash-attn 2.6.1 needs torch ==2.4.0");
}

TEST_CASE("numpy-abi") {
    const auto words = with(Field::torch, "2.2.2", "numpy=2.2.6");
    CHECK(message_of("numpy-abi", words) ==
          "torch 2.2.2 was compiled against NumPy 1.x; the cell has numpy 2.2.6: tensors and arrays cannot "
          "be converted: \"RuntimeError: Numpy is not available\"");
    const auto findings = ask("numpy-abi", words);
    CHECK(verdict_of(findings) == Verdict::degraded);
    CHECK(offers(findings, "numpy 1.26.4"));
    CHECK(message_of("numpy-abi", packages("opencv-python=4.9.0.80,numpy=2.0.2")) ==
          "opencv-python 4.9.0.80 was compiled against NumPy 1.x; the cell has numpy 2.0.2: import cv2 "
          "fails: \"numpy.core.multiarray failed to import\"");
    CHECK(verdict_of("numpy-abi", packages("onnxruntime-gpu=1.18.1,numpy=2.0.2")) == Verdict::rejected);
    for (const std::string pins :
         {"opencv-python=4.10.0.84,numpy=2.0.2", "opencv-python=4.9.0.80,numpy=1.26.4",
          "opencv-python=4.9.0.80", "onnxruntime-gpu=1.19.2,numpy=2.0.2"}) {
        CAPTURE(pins);
        CHECK(verdict_of("numpy-abi", packages(pins)) == Verdict::accepted);
    }
    for (const std::string torch : {"2.3.0", "2.6.0+cu124", "none", "9.9.9"})
        CHECK(verdict_of("numpy-abi", with(Field::torch, torch, "numpy=2.2.6")) == Verdict::accepted);
    CHECK(verdict_of("numpy-abi", with(Field::torch, "2.2.2", "numpy=1.26.4")) == Verdict::accepted);
    // Where no numpy would do, another release of the package does.
    const auto facts = with_rows("package_numpy_abi",
                                 {"id: package-numpy-abi-timm, package: timm, versions: \"<0.9\", numpy: "
                                  "\">=0\", severity: error, consequence: \"it fails\""});
    CHECK(fix_of("numpy-abi", packages("timm=0.6.13,numpy=2.0.2"), facts) == "timm 0.9.0");
}

TEST_CASE("package-supports-gpu: machine code without PTX leaves out what lies between") {
    const auto fbgemm = [](std::string gpu, std::string torch = "2.12.1+cu130") {
        return Words{{Field::gpu, gpu}, {Field::torch, torch}, {Field::packages, "fbgemm-gpu=1.7.0"}};
    };
    CHECK(message_of("package-supports-gpu", fbgemm("B300")) ==
          "fbgemm-gpu 1.7.0 has machine code for compute 8.0, 9.0a, 10.0a and no PTX; the cell has B300 "
          "(compute "
          "10.3): its kernels find no image for the device");
    CHECK(verdict_of("package-supports-gpu", fbgemm("RTX 5090")) == Verdict::rejected);
    CHECK(message_of("package-supports-gpu", fbgemm("T4")) ==
          "fbgemm-gpu 1.7.0 needs compute 8.0 or higher; the cell has T4 (compute 7.5): its kernels find no "
          "image "
          "for the device");
    for (const auto* gpu : {"A100", "RTX 3090", "L4", "H100", "B200"}) {
        CAPTURE(gpu);
        CHECK(ask("package-supports-gpu", fbgemm(gpu)).empty());
    }
    CHECK(ask("package-supports-gpu", fbgemm("B300", "2.12.1+cu126")).empty());  // another binary
}

TEST_CASE("package-supports-gpu") {
    CHECK(message_of("package-supports-gpu", with(Field::gpu, "T4", "flash-attn=2.7.4")) ==
          "flash-attn 2.7.4 needs compute 8.0 or higher; the cell has T4 (compute 7.5): \"RuntimeError: "
          "FlashAttention only supports Ampere GPUs or newer\"");
    CHECK(
        offers(ask("package-supports-gpu", with(Field::gpu, "T4", "flash-attn=2.7.4")), "flash-attn 1.0.9"));
    CHECK(message_of("package-supports-gpu", with(Field::compute, "7.0", "bitsandbytes=0.49.0")) ==
          "bitsandbytes 0.49.0 needs compute 7.5 or higher; the cell has compute 7.0: LLM.int8() is "
          "made for Turing and later, the rest works");
    CHECK(verdict_of("package-supports-gpu", with(Field::compute, "7.0", "bitsandbytes=0.49.0")) ==
          Verdict::degraded);
    CHECK(message_of("package-supports-gpu", with(Field::compute, "5.2", "bitsandbytes=0.50.0")) ==
          "bitsandbytes 0.50.0 needs compute 6.0 or higher; the cell has compute 5.2: its wheels hold no "
          "code for Maxwell and older");
    CHECK(message_of("package-supports-gpu", {{Field::compute, "6.1"},
                                              {Field::torch, "2.7.1+cu128"},
                                              {Field::packages, "bitsandbytes=0.50.0"}}) ==
          "bitsandbytes 0.50.0 needs compute 7.0 or higher; the cell has compute 6.1: its binary for CUDA "
          "12.8 and 12.9 holds no code for older GPUs");
    CHECK(message_of("package-supports-gpu", with(Field::compute, "6.1", "autoawq=0.1.3")) ==
          "no fact says for which GPUs autoawq 0.1.3 has code: whether it runs on compute 6.1 is unknown");
    CHECK(offers(ask("package-supports-gpu", with(Field::compute, "7.5", "autoawq=0.1.0")), "autoawq 0.1.4"));
    CHECK(verdict_of("package-supports-gpu", with(Field::compute, "9.9", "autoawq=0.1.0")) ==
          Verdict::accepted);
    CHECK(verdict_of("package-supports-gpu", with(Field::compute, "6.1", "autoawq=0.1.3.1")) ==
          Verdict::accepted);
    CHECK(verdict_of("package-supports-gpu", with(Field::compute, "6.1", "vllm=0.6.0")) == Verdict::rejected);
    for (const auto& pair : std::vector<std::pair<std::string, std::string>>{{"8.0", "flash-attn=2.7.4"},
                                                                             {"7.5", "flash-attn=1.0.9"},
                                                                             {"12.0", "flash-attn=2.7.4"},
                                                                             {"7.5", "bitsandbytes=0.50.0"},
                                                                             {"7.0", "vllm=0.6.0"},
                                                                             {"5.2", "transformers=4.46.3"},
                                                                             {"6.1", "our-own-tools=1"},
                                                                             {"7.5", "vllm=0.25.0"},
                                                                             {"9.9", "flash-attn=2.7.4"}}) {
        CAPTURE(pair.second);
        CHECK(verdict_of("package-supports-gpu", with(Field::compute, pair.first, pair.second)) ==
              Verdict::accepted);
    }
}

TEST_CASE("package-cuda-matches-torch: a library for each of several releases of CUDA") {
    const auto words = [](const std::string& torch, const std::string& packages) {
        return Words{{Field::torch, torch}, {Field::packages, packages}};
    };
    const auto old = words("2.5.1+cu124", "bitsandbytes=0.42.0");
    CHECK(message_of("package-cuda-matches-torch", old) ==
          "bitsandbytes 0.42.0 is built for CUDA 11.0, 11.1, 11.4, 11.5, 11.7, 11.8, 12.0, 12.1, 12.2, 12.3; "
          "the cell has torch 2.5.1+cu124, built for CUDA 12.4: where there is a GPU its import fails: "
          "\"CUDA Setup failed despite GPU being available\"");
    CHECK(verdict_of("package-cuda-matches-torch", words("2.6.0+cu126", "bitsandbytes=0.43.1")) ==
          Verdict::degraded);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.9.1+cu130", "xformers=0.0.33.post2")) ==
          Verdict::degraded);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.1.0+cu118", "vllm=0.2.2")) == Verdict::rejected);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.5.1+cu121", "bitsandbytes=0.42.0")) ==
          Verdict::accepted);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.5.1+cu124", "bitsandbytes=0.43.1")) ==
          Verdict::accepted);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.1.0+cu121", "vllm=0.2.2")) == Verdict::accepted);
    CHECK(verdict_of("package-cuda-matches-torch", words("2.9.1+cu126", "xformers=0.0.33.post2")) ==
          Verdict::accepted);
}

TEST_CASE("package-cuda-matches-torch") {
    const Words words{
        {Field::torch, "2.6.0+cu124"}, {Field::cuda, "12.4.1"}, {Field::packages, "cupy-cuda11x=13.3.0"}};
    CHECK(
        message_of("package-cuda-matches-torch", words) ==
        "cupy-cuda11x 13.3.0 is built for CUDA 11; the cell has torch 2.6.0+cu124, built for CUDA 12.4, and "
        "CUDA 12.4.1 in the image: import cupy fails: \"libcudart.so.11.0: cannot open shared object "
        "file\"");
    CHECK(verdict_of("package-cuda-matches-torch", words) == Verdict::rejected);
    CHECK(offers(ask("package-cuda-matches-torch", words), "cupy-cuda12x 14.2.0 in its place"));
    CHECK(message_of("package-cuda-matches-torch",
                     with(Field::torch, "2.6.0+cu118", "onnxruntime-gpu=1.20.1")) ==
          "onnxruntime-gpu 1.20.1 is built for CUDA 12; the cell has torch 2.6.0+cu118, built for CUDA 11.8: "
          "the CUDA provider is not created (\"libcublasLt.so.12: cannot open shared object file\") and "
          "everything runs on the CPU, unless the image has the libraries of CUDA 12");
    CHECK(message_of("package-cuda-matches-torch", with(Field::cuda, "13.0", "cupy-cuda12x=13.6.0")) ==
          "cupy-cuda12x 13.6.0 is built for CUDA 12; the cell has CUDA 13.0.3: import cupy fails: "
          "\"libcudart.so.12: cannot open shared object file\"");
    CHECK(verdict_of("package-cuda-matches-torch", {{Field::torch, "2.4.0+cu118"},
                                                    {Field::cuda, "12.4.1"},
                                                    {Field::packages, "vllm=0.6.0"}}) == Verdict::rejected);
    CHECK(
        message_of("package-cuda-matches-torch", with(Field::torch, "2.11.0+cu128", "vllm=0.22.0")) ==
        "vllm 0.22.0 is built for CUDA 13; the cell has torch 2.11.0+cu128, built for CUDA 12.8: import vllm "
        "fails: its binaries need libcudart.so.13 and a torch built for the same CUDA");
    for (const Words& good :
         {Words{{Field::torch, "2.6.0+cu124"}, {Field::packages, "cupy-cuda12x=13.3.0"}},
          Words{{Field::torch, "2.6.0+cu118"},
                {Field::cuda, "12.4.1"},
                {Field::packages, "cupy-cuda12x=13.3.0"}},
          Words{{Field::torch, "2.6.0+cpu"}, {Field::packages, "cupy-cuda12x=13.3.0"}},
          Words{{Field::torch, "9.9.9"}, {Field::packages, "cupy-cuda12x=13.3.0"}},
          Words{{Field::torch, "none"}, {Field::cuda, "99.1"}, {Field::packages, "cupy-cuda12x=13.3.0"}},
          Words{{Field::torch, "2.4.0"}, {Field::packages, "vllm=0.6.0"}},
          Words{{Field::cuda, "11.8.0"}, {Field::packages, "vllm=0.6.0"}},
          Words{{Field::torch, "2.6.0"}, {Field::packages, "transformers=4.46.3"}}}) {
        CHECK(verdict_of("package-cuda-matches-torch", good) == Verdict::accepted);
    }
}

TEST_CASE("toolkit-wheels-one-release") {
    const auto mixed = packages("nvidia-cuda-nvcc=13.0.88,nvidia-nvvm=13.2.78,nvidia-cuda-crt=13.0.88");
    CHECK(message_of("toolkit-wheels-one-release", mixed) ==
          "nvidia-cuda-nvcc 13.0.88 belongs with nvidia-nvvm ==13.0.88.*; the cell has nvidia-nvvm 13.2.78: "
          "nvcc does not compile with parts of another release");
    CHECK(
        offers(ask("toolkit-wheels-one-release", mixed), "nvidia-cuda-crt 13.0.88 and nvidia-nvvm 13.0.88"));
    CHECK(message_of("toolkit-wheels-one-release", packages("cuda-toolkit=13.0.2")) ==
          "cuda-toolkit 13.0.2 leaves nvidia-cuda-crt, nvidia-cuda-runtime, nvidia-nvvm open in its extra "
          "[nvcc]: pip takes their newest releases, and nvcc does not compile with parts of another release");
    CHECK(
        offers(ask("toolkit-wheels-one-release", packages("cuda-toolkit=13.0.2")), "cuda-toolkit 13.0.3.0"));
    CHECK(verdict_of("toolkit-wheels-one-release", packages("nvidia-cuda-nvcc=13.0.88")) ==
          Verdict::degraded);
    for (const std::string release : {"13.0.0", "13.0.1", "13.1.0", "13.1.1", "13.2.0"})
        CHECK(verdict_of("toolkit-wheels-one-release", packages("cuda-toolkit=" + release)) ==
              Verdict::degraded);
    for (const std::string release : {"12.4.1", "13.0.3.0", "13.1.2.0", "13.2.1", "13.4.3", "13.5.0", "99.0"})
        CHECK(verdict_of("toolkit-wheels-one-release", packages("cuda-toolkit=" + release)) ==
              Verdict::accepted);
    for (const std::string pins : {"nvidia-cuda-nvcc=13.0.88,nvidia-nvvm=13.0.88,nvidia-cuda-crt=13.0.88",
                                   "nvidia-cuda-nvcc=13.5.37", "nvidia-nvvm=13.0.88",
                                   "cuda-toolkit=13.0.2,nvidia-nvvm=13.0.88,nvidia-cuda-crt=13.0.88,"
                                   "nvidia-cuda-runtime=13.0.96"})
        CHECK(verdict_of("toolkit-wheels-one-release", packages(pins)) == Verdict::accepted);
}

TEST_CASE("packages: thousands of cells with packages are judged") {
    std::string torches, pythons, gpus;
    const auto facts = Facts::embedded();
    const auto list = [&](std::string_view table, std::string_view column, std::string& out) {
        for (const auto& row : facts.table(table)->rows)
            out += fmt::format("{}\"{}\"", out.empty() ? "" : ", ", row.text(column));
    };
    torches = "2.2.2, 2.3.1, 2.4.0, 2.4.1+cu118, 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0";
    list("pythons", "python", pythons);
    list("architectures", "compute", gpus);
    const auto matrix = read_matrix_text(
        fmt::format(
            "version: 1\nname: many\naxes:\n  torch: [{}]\n  python: [{}]\n  compute: [{}]\nset:\n"
            "  cuda: 12.4.1\n  packages: {{xformers: 0.0.28, transformers: 4.46.3, vllm: 0.6.0, numpy: "
            "2.2.6,\n"
            "    our-own-tools: 1.0, cupy-cuda12x: 13.3.0, cuda-toolkit: 13.0.2, bitsandbytes: 0.46.0}}\n",
            torches, pythons, gpus),
        "many.yaml");
    REQUIRE(matrix);
    const auto start = std::chrono::steady_clock::now();
    const auto judgement = judge(*matrix, facts, {std::string(kToday), 100'000});
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    REQUIRE(judgement);
    MESSAGE(fmt::format("{} cells, {} findings, {:.2f} s", judgement->cells.size(),
                        judgement->findings.size(), took));
    CHECK(judgement->cells.size() > 1'000);
}
