// Words that are no versions, names that nothing knows, and cells that say little: the rules hold without the
// reader's fence, and what they cannot tell they leave to the rule that asks for it.
#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "knowledge/judge/judge.hpp"
#include "knowledge/resolve/images.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

bool silent(std::string_view rule, const Words& words) {
    return ask(rule, words).empty();
}

// The same with `packages` as they are, which the reader would not let in.
Findings ask_raw(std::string_view rule_id, const Words& words,
                 std::vector<std::pair<std::string, std::string>> packages,
                 const Facts& facts = Facts::embedded()) {
    std::deque<Value> values;
    Cell cell;
    for (const auto& [field, text] : words)
        cell.set(field, &values.emplace_back(Value{text, {}, {}}));
    Value list{"packages", {}, std::move(packages)};
    cell.set(F::packages, &list);
    const auto* rule = rule_named(rule_id);
    REQUIRE(rule != nullptr);
    REQUIRE(applies(*rule, cell));
    return evaluate(*rule, cell, facts, kToday);
}

}  // namespace

TEST_CASE("words that are no versions are unknown, and said by one rule") {
    CHECK(message_of("torch-built-for-cuda", {{F::torch, "nightly"}}) ==
          "no fact knows torch nightly: whether it was published is unknown");
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "newest"}, {F::cuda, "12.4.1"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "r999"}, {F::cuda, "12.4.1"}}) == Verdict::unknown);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "R999"}, {F::cuda, "12.4.1"}}) == Verdict::unknown);
    CHECK(silent("driver-supports-gpu", {{F::driver, "newest"}, {F::gpu, "T4"}}));
    CHECK(verdict_of("cuda-supports-compute", {{F::cuda, "12.4.1"}, {F::compute, "ampere"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("cuda-compat-matches-driver", {{F::driver, "535.183.01"}, {F::cuda_compat, "new"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("glibc-supported-by-cuda", {{F::cuda, "12.8.1"}, {F::glibc, "new"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("torch-supports-python", {{F::torch, "2.6.0"}, {F::python, "three"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("package-supports-python", {{F::python, "three"}, {F::packages, "numpy=2.2.6"}}) ==
          Verdict::unknown);
    CHECK(silent("container-toolkit-vulnerable", {{F::toolkit, "newest"}}));
    CHECK(silent("dynamo-supports-python", {{F::torch, "2.6.0"}, {F::python, "three"}}));
    for (const std::string compiler : {"gcc", "gcc-new", "icc-1"}) {
        CHECK(silent("compiler-known-broken", {{F::cuda, "11.5.2"}, {F::compiler, compiler}}));
        CHECK(verdict_of("compiler-supported-by-cuda", {{F::cuda, "11.5.2"}, {F::compiler, compiler}}) ==
              Verdict::unknown);
    }
    CHECK(silent("mig-one-device", {{F::mig, "1x"}}));
    CHECK(silent("mig-one-device", {{F::mig, ""}}));
    CHECK_FALSE(stage_named("lunch"));
}

TEST_CASE("releases of packages that are no versions are unknown to packages-agree and to no other rule") {
    const Words words{{F::torch, "2.6.0"}, {F::cuda, "12.4.1"}, {F::driver, "550.54.15"}, {F::gpu, "T4"}};
    const auto of = [&](std::string_view rule) {
        return ask_raw(rule, words,
                       {{"numpy", "newest"},
                        {"flash-attn", "newest"},
                        {"triton", "newest"},
                        {"torchvision", "newest"},
                        {"cupy-cuda12x", "newest"},
                        {"transformers", "newest"},
                        {"timm", "1.0.9"},
                        {"nvidia-nvvm", "newest"},
                        {"nvidia-cuda-nvcc", "13.0.88"}});
    };
    CHECK(verdict_of(of("packages-agree")) == Verdict::unknown);
    CHECK(of("numpy-abi").empty());
    CHECK(of("package-supports-gpu").empty());
    CHECK(of("package-supports-torch").empty());
    CHECK(of("package-cuda-matches-torch").empty());
    CHECK(of("triton-matches-torch").empty());
    CHECK(verdict_of(of("triton-runs-on-driver")) == Verdict::unknown);
    CHECK(verdict_of(of("companions-match-torch")) == Verdict::unknown);
    CHECK(verdict_of(of("toolkit-wheels-one-release")) == Verdict::degraded);
    CHECK(verdict_of(ask_raw("numpy-abi", {{F::torch, "2.2.2"}},
                             {{"numpy", "2.2.6"}, {"opencv-python", "newest"}})) != Verdict::accepted);
    CHECK(ask_raw("numpy-abi", {}, {{"numpy", "2.2.6"}, {"opencv-python", "newest"}}).empty());
    CHECK(silent("packages-agree", {{F::packages, "transformers=4.27.4"}, {F::python, "three"}}));
}

TEST_CASE("a pin that is no version stands in no way out's way") {
    const auto facts = with_rows(
        "package_releases",
        {"id: package-acme-1.0, package: acme, version: \"1.0\", requires: [\"torch ==2.6.0\"], abi: [py3]",
         "id: package-acme-2.0, package: acme, version: \"2.0\", requires: [\"torch ==2.5.1\", \"numpy "
         "<2\"], abi: [py3]"});
    const auto ways_out = [&](const std::string& numpy) {
        std::string out;
        for (const auto& finding :
             ask("packages-agree", {{F::torch, "2.5.1"}, {F::packages, "acme=1.0,numpy=" + numpy}}, facts)) {
            if (finding.severity == Severity::error) out += finding.message + " | " + finding.fix_text();
        }
        return out;
    };
    const std::string needs = "acme 1.0 needs torch ==2.6.0; the cell has torch 2.5.1 | torch 2.6.0, or ";
    CHECK(ways_out("1.26.4") == needs + "acme 2.0, or leave acme out");
    CHECK(ways_out("2.2.6") == needs + "leave acme out");
    CHECK(ways_out("2.1000000000000000000") == needs + "acme 2.0, or leave acme out");  // 19 digits
}

TEST_CASE("Windows drivers: other branches, other spellings") {
    const auto on = [](std::string driver, std::string cuda) {
        return Words{{F::driver, std::move(driver)}, {F::cuda, std::move(cuda)}, {F::os, "windows"}};
    };
    CHECK(verdict_of("driver-supports-cuda", on("470", "12.4.1")) == Verdict::rejected);
    CHECK(verdict_of("driver-supports-cuda", on("r551", "12.4.1")) == Verdict::accepted);
    CHECK(verdict_of("driver-supports-cuda", on("551.61-beta", "12.4.1")) == Verdict::unknown);
    const Words compat{{F::driver, "580.88"},
                       {F::cuda, "13.0.2"},
                       {F::uses, "ptx-only"},
                       {F::os, "windows"},
                       {F::cuda_compat, "13.1"}};
    CHECK(message_of("ptx-newer-than-driver", compat) ==
          "code that is PTX only is compiled by Windows driver 580.88 when it is first loaded: the first "
          "start takes longer, and "
          "again after each change of the driver");
    const Words triton{
        {F::driver, "472.50"}, {F::gpu, "A100"}, {F::packages, "triton-windows=3.2.0"}, {F::os, "windows"}};
    CHECK(verdict_of("triton-runs-on-driver", triton) == Verdict::degraded);
    CHECK(fix_of("triton-runs-on-driver", triton).starts_with("driver 525"));
    CHECK(
        verdict_of("triton-comes-with-torch",
                   {{F::os, "windows"}, {F::torch, "2.4.1+cu124"}, {F::packages, "triton-windows=3.0.0"}}) ==
        Verdict::degraded);
}

TEST_CASE("drivers beside compat libraries") {
    const Words wheel{{F::driver, "470.161.03"}, {F::torch, "2.6.0+cu124"}, {F::cuda_compat, "12.4"}};
    CHECK(message_of("driver-supports-cuda", wheel) ==
          "driver 470.161.03 runs torch 2.6.0+cu124 (CUDA 12.4) by the compat libraries of CUDA 12.4 only: "
          "the container has to "
          "put them on its library path, and the GPU has to be of the data centre");
    // Libraries that no fact knows take nothing from a driver that is new enough.
    CHECK(verdict_of("driver-supports-cuda",
                     {{F::driver, "535.183.01"}, {F::cuda, "12.4.1"}, {F::cuda_compat, "12.7"}}) ==
          Verdict::degraded);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "565.77"}, {F::cuda, "12.8.0"}}) ==
          Verdict::degraded);
    CHECK(verdict_of("cuda-compat-matches-driver", {{F::driver, "615.10"}, {F::cuda_compat, "13.5"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("cuda-compat-matches-driver",
                     {{F::driver, "460.80"}, {F::cuda_compat, "11.3"}, {F::host_class, "console"}}) ==
          Verdict::degraded);
    CHECK(verdict_of("driver-supports-cuda", {{F::driver, "540.5.0"},
                                              {F::cuda, "12.6.3"},
                                              {F::gpu, "Orin Nonesuch"},
                                              {F::host_class, "jetson"},
                                              {F::cuda_compat, "12.8"}}) == Verdict::unknown);
}

TEST_CASE("lists of architectures with names that torch does not know") {
    CHECK(silent("arch-list-covers-gpu",
                 {{F::arch_list, "Ampere;Einstein"}, {F::torch, "2.6.0"}, {F::gpu, "RTX 4090"}}));
}

TEST_CASE("companions: builds without a partner") {
    const auto with = [](std::string torch, std::string packages) {
        return Words{{F::torch, std::move(torch)}, {F::packages, std::move(packages)}};
    };
    CHECK(fix_of("companions-match-torch", with("2.6.0+cu124", "torchvision=0.21.0+cu121")) ==
          "torchvision 0.21.0+cu124");
    CHECK(message_of("companions-match-torch", with("1.0.0", "torchdata=0.99.0")) ==
          "no fact knows torchdata 0.99.0: whether it goes with torch 1.0.0 is unknown");
    CHECK(silent("packages-agree", with("2.6.0", "torchtext=0.18.0,torchdata=0.11.0")));
}

TEST_CASE("images: what is no tag of a release, and cells that say little of the image") {
    CHECK_FALSE(family_repository(Facts::embedded(), ""));
    for (const auto& tag : nearest_cuda_tags(Facts::embedded(), {"12.4.1", "devel", "ubuntu22.04"}))
        CHECK(tag.text() != "12.4.1-devel-ubuntu22.04");
    for (const std::string tag :
         {"2.6.0-gpu-cudnn9-devel", "nightly-cuda12.4-cudnn9-devel", "2.6.0-cuda12.4-8-devel",
          "2.6.0rc1-cuda12.4-cudnn9-devel", "2.6.0-cuda12.4-cudnn 9-devel"}) {
        CAPTURE(tag);
        CHECK_FALSE(pytorch_tag(tag));
    }
    CHECK(verdict_of("image-tag-exists", {{F::image, "pytorch/pytorch:2.6.0-gpu"}}) == Verdict::accepted);
    CHECK(verdict_of("image-tag-exists", {{F::image, "pytorch/pytorch:nightly-cuda12.4"}}) ==
          Verdict::accepted);
    CHECK(fix_of("image-tag-exists", {{F::image, "pytorch/pytorch:2.1.9-cuda12.1"}})
              .starts_with("image pytorch/pytorch:2.1."));
    for (const std::string tag :
         {"12.4.1-cudnn-devel-20.04-x", "12.4.1-runtime-latest", "runtime-12.4.1", "cudnn-12.4.1", "base"})
        CHECK(verdict_of("image-tag-exists", {{F::image, "nvidia/cuda:" + tag}}) == Verdict::rejected);
    // The family pytorch/pytorch: without torch, CUDA or a known wheel it names no image.
    for (const std::string torch : {"none", "2.6.0+cpu", "1.12.1+cu118", "2.14.1+cu126", "9.9.9"}) {
        CAPTURE(torch);
        CHECK(silent("image-tag-exists", {{F::family, "pytorch"}, {F::torch, torch}, {F::flavour, "devel"}}));
    }
    CHECK(verdict_of("image-tag-exists",
                     {{F::family, "pytorch"}, {F::torch, "1.0.0+cu90"}, {F::flavour, "devel"}}) ==
          Verdict::unknown);
    CHECK(verdict_of("image-tag-exists",
                     {{F::family, "pytorch"}, {F::torch, "1.13.1+cu117"}, {F::flavour, "devel"}}) ==
          Verdict::rejected);
    const Words bare{{F::family, "nvidia-cuda"}, {F::cudnn, "9"}};
    CHECK(silent("image-matches-cell", bare));
    CHECK(silent("image-matches-cell",
                 {{F::family, "nvidia-cuda"}, {F::cuda, "12.4.1"}, {F::os, "ubuntu22.04"}, {F::cudnn, "9"}}));
    CHECK(silent("toolkit-available", {{F::family, "pytorch"}, {F::os, "beos5"}, {F::cuda, "12.4.1"}}));
    CHECK(message_of("toolkit-available", {{F::family, "gentoo"}, {F::os, "beos5"}, {F::cuda, "12.4.1"}}) ==
          "no fact lists the toolkits of family gentoo: whether it supplies CUDA 12.4.1 on beos5 is unknown");
    CHECK(verdict_of("toolkit-available", {{F::family, "cpu"}, {F::os, "beos5"}, {F::cuda, "11.8.0"}}) ==
          Verdict::rejected);
}

TEST_CASE("image-requirement-met: drivers and images at the edge of the facts") {
    const auto start = [](std::string image, std::string driver) {
        return Words{{F::image, "nvidia/cuda:" + image}, {F::driver, std::move(driver)}};
    };
    CHECK(silent("image-requirement-met", start("12.4.1-base-ubuntu22.04", "newest")));
    CHECK(silent("image-requirement-met", start("12.4.1-base-ubuntu22.04", "100")));
    CHECK(silent("image-requirement-met",
                 start("12.6.3-base-ubuntu22.04@sha256:" + std::string(64, 'a'), "570.124.06")));
    CHECK(silent("image-requirement-met", {{F::family, "nvidia-cuda"}, {F::driver, "470.161.03"}}));
    CHECK(silent("driver-supports-cuda",
                 {{F::family, "pytorch"}, {F::cuda, "12.4.1"}, {F::driver, "550.54.15"}}));
    CHECK(verdict_of("driver-supports-cuda",
                     {{F::family, "nvidia-cuda"}, {F::cuda, "14.9.9"}, {F::driver, "550.54.15"}}) ==
          Verdict::unknown);
    CHECK(silent("image-requirement-met",
                 {{F::family, "pytorch"}, {F::cuda, "12.4.1"}, {F::driver, "470.161.03"}}));
    CHECK(silent("image-requirement-met", start("12.2.1-base-ubuntu22.04", "470.161.03")));
    auto refused = start("12.6.3-base-ubuntu22.04", "535.183.01");
    refused.emplace_back(F::gpu, "RTX 4090");
    refused.emplace_back(F::env, "NVIDIA_DISABLE_REQUIRE=maybe");
    CHECK(verdict_of("image-requirement-met", refused) == Verdict::rejected);
}

TEST_CASE("torch for other systems and machines") {
    CHECK(verdict_of("torch-published-for-arch",
                     {{F::torch, "1.0.0"}, {F::os, "windows"}, {F::arch, "aarch64"}}) == Verdict::rejected);
    CHECK(verdict_of("torch-supports-python",
                     {{F::torch, "1.8.1+cu102"}, {F::python, "3.14"}, {F::os, "windows"}}) ==
          Verdict::rejected);
    CHECK(verdict_of("torch-supports-python",
                     {{F::torch, "1.13.1"}, {F::python, "3.13t"}, {F::os, "windows"}}) == Verdict::rejected);
    CHECK(verdict_of("packages-agree",
                     {{F::torch, "2.6.0+cu118"}, {F::packages, "xformers=0.0.28"}, {F::arch, "riscv64"}}) ==
          Verdict::rejected);
}

TEST_CASE("torch that no fact knows has nothing to compare, and no way out") {
    CHECK(verdict_of("wheel-index-exists", {{F::torch, "2.99.0+cu127"}}) == Verdict::rejected);
    CHECK(fix_of("wheel-index-exists", {{F::torch, "2.99.0+cu127"}}).empty());
    CHECK(silent("triton-runs-on-driver", {{F::driver, "470.57.02"}, {F::gpu, "A100"}, {F::torch, "9.9.9"}}));
    CHECK(silent("triton-runs-on-driver",
                 {{F::driver, "615.10"}, {F::gpu, "A100"}, {F::packages, "triton=3.2.0"}}));
    CHECK(verdict_of("torch-published-for-arch",
                     {{F::torch, "2.6.0"}, {F::os, "macos"}, {F::arch, "ppc64le"}}) == Verdict::rejected);
    CHECK(verdict_of("torch-takes-compiler",
                     {{F::torch, "1.12.1+cu113"}, {F::compiler, "clang-10"}, {F::cuda, "11.1.1"}}) !=
          Verdict::rejected);
    CHECK(verdict_of("wheel-runs-on-libc", {{F::torch, "2.7.1"}, {F::os, "amzn2"}}) != Verdict::accepted);
}
