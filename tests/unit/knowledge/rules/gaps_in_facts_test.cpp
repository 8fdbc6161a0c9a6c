// Facts that have less than ours: a release without its toolkit, a branch without releases, a policy without
// a number. The rules say what they do not know, and offer no way out that they cannot vouch for.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

// CUDA 14.0.0, of which only the release is known.
Facts with_bare_release() {
    return with_rows("cuda_releases", {"id: cuda-14.0.0, cuda: \"14.0.0\", minor: \"13.5\""});
}

// A branch between 560 and 570 that is of CUDA 12.8 and has no known release.
Facts with_empty_branch() {
    return with_rows("driver_branches", {"id: driver-r565, branch: 565, cuda: \"12.8\", ptx_isa: \"8.7\""});
}

// The oldest branch, with no word of its CUDA.
Facts with_silent_branch() {
    return with_rows(
        "driver_branches",
        {"id: driver-r375, branch: 375, oldest: \"375.26\", newest: \"375.82\", eol: \"2018-02\""});
}

}  // namespace

TEST_CASE("a release without a toolkit is unknown where the toolkit decides, and no way out") {
    const auto facts = with_bare_release();
    CHECK(
        message_of("cuda-supports-compute", {{F::cuda, "14.0.0"}, {F::compute, "9.0"}}, facts) ==
        "no fact lists the targets of CUDA 14.0.0: whether CUDA 14.0.0 compiles for compute 9.0 is unknown");
    CHECK(message_of("arch-list-known", {{F::cuda, "14.0.0"}, {F::arch_list, "9.0"}}, facts) ==
          "no fact lists the targets of CUDA 14.0.0: whether its nvcc compiles for 9.0 is unknown");
    CHECK(message_of("compiler-supported-by-cuda", {{F::cuda, "14.0.0"}, {F::compiler, "gcc-13"}}, facts) ==
          "no fact gives the newest gcc that nvcc of CUDA 14.0.0 takes: whether nvcc of CUDA 14.0.0 takes "
          "gcc-13 is unknown");
    CHECK(ask("end-of-life", {{F::cuda, "14.0.0"}}, facts).empty());
    CHECK(fix_of("cuda-supports-compute", {{F::cuda, "11.2.2"}, {F::compute, "9.0"}}, facts) ==
          "cuda 11.8.0");
    CHECK(fix_of("arch-list-known", {{F::cuda, "12.6.3"}, {F::arch_list, "12.0"}}, facts) == "cuda 12.8.0");
    CHECK(fix_of("compiler-supported-by-cuda", {{F::cuda, "12.4.1"}, {F::compiler, "gcc-14"}}, facts) ==
          "compiler gcc-13, or cuda 12.8.0");
    CHECK(fix_of("glibc-supported-by-cuda", {{F::cuda, "12.8.1"}, {F::glibc, "2.41"}}, facts) ==
          "cuda 13.0.0, or glibc 2.40");
    CHECK(fix_of("driver-supports-cuda", {{F::driver, "470.161.03"}, {F::cuda, "12.4.1"}}, facts) ==
          "driver >= 525.60.13, or cuda 11.8.0 with this driver");
    const auto ended = with_rows("cuda_releases",
                                 {"id: cuda-14.0.0, cuda: \"14.0.0\", minor: \"13.5\", eol: \"2026-01-31\""});
    CHECK(message_of("end-of-life", {{F::cuda, "14.0.0"}}, ended) ==
          "CUDA 14.0.0 reached its end of life on 2026-01-31");
}

TEST_CASE("a toolkit without a release") {
    const auto facts =
        with_rows("cuda_toolkits", {"id: cuda-toolkit-14.0, cuda: \"14.0\", ptx_isa: \"10.0\", targets: "
                                    "[\"8.6\", \"8.0\", \"9.0a\"], eol: \"2026-01\"",
                                    "id: cuda-toolkit-14.1, cuda: \"14.1\", ptx_isa: \"10.1\", targets: "
                                    "[\"9.0a\"]"});
    CHECK(message_of("end-of-life", {{F::cuda, "14.0"}}, facts) ==
          "CUDA 14.0 reached its end of life in 2026-01");
    CHECK(message_of("driver-supports-cuda", {{F::driver, "580.95.05"}, {F::cuda, "14.0"}}, facts) ==
          "no fact gives the least driver of CUDA 14.0: whether driver 580.95.05 is new enough is unknown");
    // Targets in any order.
    CHECK(message_of("cuda-supports-compute", {{F::cuda, "14.0"}, {F::compute, "8.9"}}, facts) ==
          "nvcc of CUDA 14.0 has no target for compute 8.9: code for 8.6 runs there, without what is new in "
          "8.9");
    CHECK(message_of("cuda-supports-compute", {{F::cuda, "14.0"}, {F::compute, "7.5"}}, facts) ==
          "nvcc of CUDA 14.0 cannot compile for compute 7.5: its lowest target is 8.0");
    CHECK(message_of("cuda-supports-compute", {{F::cuda, "14.1"}, {F::compute, "8.0"}}, facts) ==
          "nvcc of CUDA 14.1 cannot compile for compute 8.0: it names no targets");
}

TEST_CASE("a CUDA of wheels without a release, and a wheel without a CUDA") {
    const auto no_release = with_rows(
        "cuda_toolkits", {"id: cuda-toolkit-10.2, cuda: \"10.2\", ptx_isa: \"6.5\", targets: [\"7.0\"]"});
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "440.118.02"}, {F::torch, "1.12.1+cu102"}},
                     no_release) == Verdict::unknown);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "470.161.03"}, {F::torch, "2.6.0+cu124"}},
                     no_release) == Verdict::rejected);
    const auto no_cuda =
        with_rows("torch_wheels", {"id: torch-2.6.0+cu118-x86_64, torch: \"2.6.0\", variant: cu118, arch: "
                                   "x86_64, pythons: [\"3.12\"], compute: [\"8.0\"], ptx: [\"9.0\"]"});
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "470.161.03"}, {F::torch, "2.6.0+cu124"}},
                     no_cuda) == Verdict::rejected);
    CHECK(fix_of("toolkit-matches-torch-cuda",
                 {{F::cuda, "11.8.0"}, {F::torch, "2.6.0+cu124"}, {F::flavour, "devel"}}, no_cuda)
              .starts_with("cuda 12.4.1"));
    CHECK(message_of("torch-ships-compute",
                     {{F::torch, "2.6.0+cu118"}, {F::compute, "12.0"}, {F::driver, "580.95.05"}}, no_cuda) ==
          "torch 2.6.0+cu118 runs on compute 12.0 by PTX 9.0 only: the driver compiles it at the first "
          "start, if it is of CUDA "
          "the wheel or newer");
}

TEST_CASE("PTX of a wheel beside drivers that no fact knows") {
    const auto facts =
        with_rows("torch_wheels", {"id: torch-2.6.0+cu124-x86_64, torch: \"2.6.0\", variant: cu124, cuda: "
                                   "\"12.4\", arch: x86_64, pythons: [\"3.12\"], compute: [\"8.0\"], ptx: "
                                   "[\"8.0\"]"});
    for (const std::string driver : {"999.10", "615.10"}) {
        CHECK(verdict_of("torch-ships-compute",
                         {{F::torch, "2.6.0+cu124"}, {F::compute, "9.0"}, {F::driver, driver}},
                         facts) == Verdict::degraded);
    }
    const auto on_arm =
        with_rows("torch_wheels", {"id: torch-2.6.0+cu124-aarch64, torch: \"2.6.0\", variant: cu124, cuda: "
                                   "\"12.4\", arch: aarch64, pythons: [\"3.12\"], compute: [\"8.0\"], ptx: "
                                   "[\"8.0\"]"});
    CHECK(verdict_of("torch-ships-compute",
                     {{F::torch, "2.6.0+cu124"}, {F::gpu, "Jetson AGX Orin"}, {F::driver, "540.5.0"}},
                     on_arm) == Verdict::degraded);
    CHECK(verdict_of("triton-supports-gpu", {{F::torch, "2.6.0+cu124"}, {F::compute, "9.0"}}, facts) ==
          Verdict::accepted);
}

TEST_CASE("a branch without a known release is no driver to install") {
    const auto facts = with_empty_branch();
    CHECK(fix_of("driver-supports-cuda", {{F::driver, "550.54.15"}, {F::cuda, "12.8.1"}}, facts)
              .starts_with("driver >= 570"));
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "565"}, {F::cuda, "12.8.1"}}, facts) ==
          Verdict::accepted);
    CHECK(fix_of("ptx-newer-than-driver",
                 {{F::driver, "550.54.15"}, {F::cuda, "12.8.1"}, {F::uses, "ptx-only"}}, facts)
              .starts_with("driver >= 570"));
    CHECK(fix_of("forward-compatibility-hardware",
                 {{F::driver, "535.183.01"}, {F::gpu, "RTX 4090"}, {F::cuda_compat, "12.8"}}, facts)
              .find("driver >= 570") != std::string::npos);
    CHECK(fix_of("image-requirement-met",
                 {{F::image, "nvidia/cuda:12.8.1-base-ubuntu22.04"},
                  {F::driver, "550.54.15"},
                  {F::gpu, "RTX 4090"}},
                 facts)
              .starts_with("driver >= 570"));
    const auto first = with_rows("driver_branches",
                                 {"id: driver-r570, branch: 570, newest: \"570.211.01\", cuda: \"12.8\""});
    CHECK(fix_of("driver-supports-gpu",
                 {{F::driver, "545.23.06"}, {F::compute, "12.0"}, {F::kernel_module, "open"}},
                 first) == "driver >= 570");
    const auto no_major = with_rows("driver_branches", {"id: driver-r525, branch: 525, cuda: \"12.0\""});
    CHECK(fix_of("triton-runs-on-driver",
                 {{F::driver, "470.57.02"}, {F::gpu, "A100"}, {F::packages, "triton=2.2.0"}}, no_major)
              .starts_with("driver 530"));
}

TEST_CASE("the oldest branch without its CUDA") {
    const auto facts = with_silent_branch();
    CHECK(ask("driver-supports-cuda", {{F::driver, "375.82"}, {F::cuda, "8.0.61"}}, facts).empty());
    CHECK(verdict_of("forward-compatibility-hardware",
                     {{F::driver, "375.82"}, {F::gpu, "GTX 1650"}, {F::cuda_compat, "10.0"}},
                     facts) == Verdict::rejected);
    CHECK(verdict_of("ptx-newer-than-driver",
                     {{F::driver, "375.82"}, {F::cuda, "12.4.1"}, {F::uses, "ptx-only"}},
                     facts) == Verdict::rejected);
}

TEST_CASE("libraries of the newest branch, and the hook without its release") {
    const auto newest =
        with_rows("forward_compatibility", {"id: compat-13.5, cuda: \"13.5\", branches: [580]"});
    CHECK(fix_of("forward-compatibility-hardware",
                 {{F::driver, "580.95.05"}, {F::gpu, "RTX 4090"}, {F::cuda_compat, "13.5"}},
                 newest) == "cuda_compat 13.0, or driver >= 620.70.06");
    const auto hook =
        with_rows("policies", {"id: policy-compat-hook, policy: compat-hook, says: \"as before\""});
    CHECK(message_of(
              "forward-compatibility-hardware",
              {{F::driver, "460.80"}, {F::gpu, "GTX 1650"}, {F::cuda_compat, "11.3"}, {F::toolkit, "1.19.0"}},
              hook) ==
          "GTX 1650 (class geforce) refuses the compat libraries of CUDA 11.3, which "
          "nvidia-container-toolkit uses with driver "
          "460.80: error 804, forward compatibility was attempted on non supported HW");
}

TEST_CASE("a minimum of a release that is not below that of its major does not count") {
    const auto facts =
        with_rows("cuda_releases", {"id: cuda-12.4.1, cuda: \"12.4.1\", minor: \"12.4\", min_driver_linux: "
                                    "\"550.54.15\""});
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "535.183.01"}, {F::cuda, "12.4.1"}}, facts) ==
          Verdict::degraded);
    const auto no_first = with_rows("cuda_releases", {"id: cuda-13.9.1, cuda: \"13.9.1\", minor: \"13.5\""});
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "581.15"}, {F::cuda, "13.9.1"}, {F::os, "windows"}},
                     no_first) == Verdict::degraded);
}

TEST_CASE("a torch of which only the release is known") {
    const std::string release =
        "id: torch-3.0.0, torch: \"3.0.0\", variants: [cu130], python_min: \"3.12\", python_max: "
        "\"3.15\", complete: false";
    const auto facts = with_rows("torch_releases", {release});
    for (const std::string torch : {"3.0.0", "3.0.0+cu131"}) {
        CAPTURE(torch);
        CHECK(ask("companions-match-torch", {{F::torch, torch}, {F::packages, "torchaudio=2.11.0+cu130"}},
                  facts)
                  .empty());
    }
    CHECK(verdict_of("torch-takes-compiler", {{F::torch, "3.0.0+cu130"}, {F::compiler, "gcc-13"}}, facts) ==
          Verdict::unknown);
    const auto with_wheel = with_tables(
        {{"torch_releases", "  - {" + release + ", source: \"https://example.org/\", confidence: read}\n"},
         {"torch_wheels",
          "  - {id: torch-3.0.0+cu130-x86_64, torch: \"3.0.0\", variant: cu130, cuda: \"13.0\", arch: "
          "x86_64, "
          "pythons: [\"3.14\"], source: \"https://example.org/\", confidence: read}\n"}});
    CHECK(
        message_of("dynamo-supports-python", {{F::torch, "3.0.0+cu130"}, {F::python, "3.14"}}, with_wheel) ==
        "no fact describes torch.compile of torch 3.0.0+cu130: whether it takes python 3.14 is unknown");
    CHECK(
        ask("dynamo-supports-python", {{F::torch, "3.0.0+cu130"}, {F::python, "3.10"}}, with_wheel).empty());
    CHECK(verdict_of("triton-supports-gpu", {{F::torch, "3.0.0+cu130"}, {F::compute, "9.0"}}, with_wheel) ==
          Verdict::unknown);
    // It is no way out for an older torch.
    CHECK(verdict_of("torch-takes-compiler", {{F::torch, "2.6.0+cu124"}, {F::compiler, "gcc-8"}},
                     with_wheel) == Verdict::rejected);
    CHECK(verdict_of("arch-list-known", {{F::torch, "2.6.0+cu124"}, {F::arch_list, "12.0"}}, with_wheel) ==
          Verdict::rejected);
}

TEST_CASE("images whose rows say less") {
    const auto no_end = with_rows(
        "cuda_images", {"id: cuda-image-19.1.0-x, cuda: \"19.1.0\", status: eol, os: [ubuntu24.04], "
                        "flavours: [base], complete: true",
                        "id: cuda-image-19.1.1-x, cuda: \"19.1.1\", status: deleted, os: "
                        "[ubuntu24.04], flavours: [base], complete: true"});
    CHECK(message_of("image-tag-supported", {{F::image, "nvidia/cuda:19.1.0-base-ubuntu24.04"}}, no_end) ==
          "image nvidia/cuda:19.1.0-base-ubuntu24.04 is past its end of life");
    const auto no_months =
        with_rows("image_policies", {"id: image-policy-cuda-lifetime, policy: cuda-lifetime, says: \"as "
                                     "before\""});
    CHECK(
        message_of("image-tag-supported", {{F::image, "nvidia/cuda:12.6.0-devel-ubuntu22.04"}}, no_months) ==
        "image nvidia/cuda:12.6.0-devel-ubuntu22.04 is past its end of life since 2024-09-05 and can be "
        "deleted any day");
    const auto checked =
        with_rows("container_toolkits", {"id: container-toolkit-1.18, first: \"1.18\", last: \"1.20\", mode: "
                                         "legacy, checks_requirements: true"});
    CHECK(verdict_of("image-requirement-met",
                     {{F::image, "nvidia/cuda:12.6.3-base-ubuntu22.04"},
                      {F::driver, "535.183.01"},
                      {F::gpu, "RTX 4090"}},
                     checked) == Verdict::rejected);
}

TEST_CASE("packages: rows with less") {
    const auto facts =
        with_rows("package_releases", {"id: package-acme-1.0, package: acme, version: \"1.0\", requires: "
                                       "[\"torch ==2.6.0\", \"numpy <2; python >=3.12\"]",
                                       "id: package-acme-2.0, package: acme, version: \"2.0\", requires: "
                                       "[\"torch ==2.6.0\"], abi: [py3], one_release: "
                                       "[\"nothing-known ==1.0\"]"});
    CHECK(verdict_of("packages-agree", {{F::torch, "2.5.1+cu121"}, {F::packages, "acme=1.0"}}, facts) ==
          Verdict::rejected);
    CHECK(
        ask("packages-agree", {{F::packages, "acme=1.0,numpy=2.2.6"}, {F::python, "three"}}, facts).empty());
    CHECK(ask("package-supports-python", {{F::packages, "acme=1.0"}, {F::python, "3.12"}}, facts).empty());
    CHECK(message_of("toolkit-wheels-one-release", {{F::packages, "acme=2.0"}}, facts) ==
          "acme 2.0 leaves nothing-known open: pip takes their newest releases, and nvcc does not compile "
          "with parts of another "
          "release");
    CHECK(verdict_of("toolkit-wheels-one-release", {{F::packages, "acme=2.0,nothing-known=2.0"}}, facts) ==
          Verdict::rejected);
}

TEST_CASE("rows in any order, and rows that leave something open") {
    const auto pythons = with_rows(
        "torch_wheels", {"id: torch-2.6.0+cu124-x86_64, torch: \"2.6.0\", variant: cu124, cuda: \"12.4\", "
                         "arch: x86_64, pythons: [\"3.12\", \"3.11\"], compute: [\"8.0\"], ptx: []"});
    CHECK(fix_of("torch-supports-python", {{F::torch, "2.6.0+cu124"}, {F::python, "3.13"}}, pythons)
              .starts_with("python 3.12"));
    CHECK(fix_of("torch-supports-python", {{F::torch, "2.6.0+cu124"}, {F::python, "3.10"}}, pythons)
              .starts_with("python 3.11"));
    const auto sources =
        with_rows("toolkit_sources",
                  {"id: toolkit-test-1, family: debian, os: [debian12], cuda: \"12.9.1\", cuda_from: wheels",
                   "id: toolkit-test-2, family: debian, os: [debian12], cuda: \"12.8.1\", cuda_from: wheels",
                   "id: toolkit-test-3, family: debian, cuda: \"12.6.3\", cuda_from: wheels"});
    const auto debian = [](std::string cuda) {
        return Words{
            {F::family, "debian"}, {F::os, "debian12"}, {F::cuda, std::move(cuda)}, {F::cuda_from, "wheels"}};
    };
    CHECK(fix_of("toolkit-available", debian("12.8.0"), sources) == "cuda 12.6.3, or cuda 12.8.1");
    CHECK(fix_of("toolkit-available", debian("13.0.0"), sources) == "cuda 12.9.1, or cuda 13.0.1");
    CHECK(fix_of("toolkit-available", {{F::family, "cpu"}, {F::os, "debian12"}, {F::cuda, "12.6.3"}},
                 sources) == "family debian");
    const auto acme = with_rows(
        "package_releases", {"id: package-acme-1.0, package: acme, version: \"1.0\", abi: [py3]",
                             "id: package-acme-2.0, package: acme, version: \"2.0\", abi: [py3], nvcc: "
                             "[\"acme-nvcc ==2.0\"], one_release: "
                             "[\"acme-nvcc ==2.0\", \"acme-nvvm ==2.0\"]",
                             "id: package-acme-nvvm-3.0, package: acme-nvvm, version: \"3.0\", abi: [py3]"});
    CHECK(verdict_of("toolkit-wheels-one-release", {{F::packages, "acme=2.0"}}, acme) == Verdict::degraded);
}

TEST_CASE("memory in names that merely look like sizes") {
    const auto facts = with_rows("gpus", {"id: gpu-x1, name: \"X116GB\", aliases: [], compute: \"9.0\", "
                                          "class: datacenter, memory_gb: [16, 32]",
                                          "id: gpu-x2, name: \"16GB X\", aliases: [], compute: \"9.0\", "
                                          "class: datacenter, memory_gb: [16, 32]",
                                          "id: gpu-x3, name: \"SXM16GB\", aliases: [], compute: \"9.0\", "
                                          "class: datacenter, memory_gb: [16, 32]"});
    const auto needs = [&](std::string gpu) {
        return verdict_of("vram-floor", {{F::gpu, std::move(gpu)}, {F::vram_gb, "24"}}, facts);
    };
    CHECK(needs("X116GB") == Verdict::degraded);
    CHECK(needs("16GB X") == Verdict::rejected);
    CHECK(needs("SXM16GB") == Verdict::rejected);
}

TEST_CASE("torch: defaults that a release does not name") {
    const auto build = [](const std::string& columns, const std::string& os_wheels = {}) {
        std::map<std::string, std::string> tables{
            {"torch_releases",
             "  - {id: torch-3.0.0, torch: \"3.0.0\", variants: [cpu, cu130], python_min: \"3.12\", "
             "python_max: "
             "\"3.15\", complete: false" +
                 columns + ", source: \"https://example.org/\", confidence: read}\n"},
            {"torch_wheels",
             "  - {id: torch-3.0.0+cpu-aarch64, torch: \"3.0.0\", variant: cpu, arch: aarch64, pythons: "
             "[\"3.14\"], default_index: true, source: \"https://example.org/\", confidence: read}\n"}};
        if (!os_wheels.empty()) tables["torch_os_wheels"] = os_wheels;
        return with_tables(tables);
    };
    const Words arm{{F::torch, "3.0.0"}, {F::arch, "aarch64"}};
    CHECK(ask("torch-published-for-arch", arm, build("")).empty());
    CHECK(ask("torch-published-for-arch", arm, build(", default_variant: cpu")).empty());
    CHECK(verdict_of("torch-published-for-arch", arm, build(", default_variant: cu130")) ==
          Verdict::degraded);
    const auto windows = build("",
                               "  - {id: torch-3.0.0-windows-x86_64, torch: \"3.0.0\", os: windows, arch: "
                               "x86_64, pythons: [\"3.14\"], "
                               "source: \"https://example.org/\", confidence: read}\n");
    CHECK(ask("torch-published-for-arch", {{F::torch, "3.0.0"}, {F::os, "windows"}}, windows).empty());
}

TEST_CASE("triton: an assembler newer than every driver") {
    const auto facts = with_rows(
        "triton_releases", {"id: triton-9.0.0, triton: \"9.0.0\", ptxas: \"19.0\", targets: [\"8.0\"]"});
    const Words newest{{F::driver, "580.95.05"}, {F::gpu, "A100"}, {F::packages, "triton=9.0.0"}};
    CHECK(verdict_of("triton-runs-on-driver", newest, facts) == Verdict::degraded);
    CHECK(fix_of("triton-runs-on-driver", newest, facts).starts_with("triton 3."));
    const auto second =
        with_rows("triton_releases", {"id: triton-9.0.0, triton: \"9.0.0\", ptxas: \"12.8\", blackwell_from: "
                                      "\"10.0\", targets: [\"8.0\", \"10.0\"]"});
    CHECK(ask("triton-runs-on-driver",
              {{F::driver, "580.95.05"}, {F::gpu, "B200"}, {F::packages, "triton=9.0.0"}}, second)
              .empty());
}

TEST_CASE("an image of which no fact gives the CUDA") {
    const auto facts = with_rows("ngc_images", {"id: ngc-pytorch-24.10-py3, tag: 24.10-py3, cuda: 12.6.2",
                                                "id: ngc-pytorch-24.11-py3, tag: 24.11-py3"});
    CHECK(message_of("image-content-runs",
                     {{F::image, "nvcr.io/nvidia/pytorch:24.11-py3"}, {F::driver, "470.161.03"}}, facts) ==
          "no fact gives the CUDA of image nvcr.io/nvidia/pytorch:24.11-py3 (the nearest that is known is "
          "24.10-py3, of CUDA 12.6.2): whether its CUDA and torch run on driver 470.161.03 is unknown");
}
