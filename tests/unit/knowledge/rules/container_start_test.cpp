// image-requirement-met, container-toolkit-vulnerable, driver-capabilities.
#include <doctest/doctest.h>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr auto kRequires = "image-requirement-met";
constexpr auto kFlaws = "container-toolkit-vulnerable";
constexpr auto kVariables = "driver-capabilities";

Words start(const std::string& tag, const std::string& driver, const std::string& gpu,
            const std::string& toolkit, Words more = {}) {
    more.insert(more.begin(), {{Field::image, "nvidia/cuda:" + tag}, {Field::driver, driver}});
    if (!gpu.empty()) more.emplace_back(Field::gpu, gpu);
    if (!toolkit.empty()) more.emplace_back(Field::toolkit, toolkit);
    return more;
}

const std::string k126 = "12.6.3-base-ubuntu22.04";

}  // namespace

TEST_CASE("image-requirement-met: refused, unchecked, or by the toolkit") {
    CHECK(message_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.17.8")) ==
          "image nvidia/cuda:12.6.3-base-ubuntu22.04 requires cuda>=12.6, or driver branch 470, 535, 550 "
          "with a "
          "data-centre or workstation GPU; driver 535.183.01 runs CUDA 12.2 and the GPU is of class geforce: "
          "container toolkit 1.17.8 refuses to start it");
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.17.8")) == Verdict::rejected);
    CHECK(fix_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.17.8")) ==
          "driver >= 560.28.03, or image nvidia/cuda:12.2.2-base-ubuntu22.04");
    CHECK(message_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.18.0")) ==
          "image nvidia/cuda:12.6.3-base-ubuntu22.04 requires cuda>=12.6, or driver branch 470, 535, 550 "
          "with a "
          "data-centre or workstation GPU; driver 535.183.01 runs CUDA 12.2 and the GPU is of class geforce: "
          "the hook behind docker's --gpus refuses to start it, the nvidia runtime of container toolkit "
          "1.18.0 starts it unchecked and a failure moves to runtime");
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.18.0")) == Verdict::degraded);
    CHECK(
        message_of(kRequires, start(k126, "535.183.01", "RTX 4090", "")) ==
        "image nvidia/cuda:12.6.3-base-ubuntu22.04 requires cuda>=12.6, or driver branch 470, 535, 550 with "
        "a "
        "data-centre or workstation GPU; driver 535.183.01 runs CUDA 12.2 and the GPU is of class geforce: "
        "the hook behind docker's --gpus refuses to start it, only the nvidia runtime of container toolkit "
        "1.18 or newer does not check");
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "RTX 4090", "")) == Verdict::rejected);
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "RTX 4090", "1.99")) == Verdict::degraded);
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "", "")) == Verdict::degraded);
    CHECK(verdict_of(kRequires, start(k126, "525.60.13", "", "")) == Verdict::rejected);
    CHECK(message_of(kRequires, start(k126, "535.183.01", "RTX 9990", "")) ==
          "no fact knows gpu RTX 9990, and the image excuses the driver's branch for some GPUs only: whether "
          "driver 535.183.01 starts image nvidia/cuda:12.6.3-base-ubuntu22.04 is unknown");
    CHECK(verdict_of(kRequires, start(k126, "525.60.13", "RTX 9990", "")) == Verdict::rejected);
    CHECK(message_of(kRequires, start(k126, "535.183.01", "", "1.17.8")) ==
          "image nvidia/cuda:12.6.3-base-ubuntu22.04 requires cuda>=12.6, or driver branch 470, 535, 550 "
          "with a "
          "data-centre or workstation GPU; driver 535.183.01 runs CUDA 12.2 and gpu is not given: container "
          "toolkit "
          "1.17.8 refuses to start it");
    CHECK(verdict_of(kRequires, start(k126, "535.183.01", "", "1.17.8")) == Verdict::degraded);
    CHECK(verdict_of(kRequires, start(k126, "525.60.13", "A100 80GB", "1.17.8")) == Verdict::rejected);
    CHECK(verdict_of(kRequires, start("12.2.2-base-ubuntu22.04", "530.30.02", "T4", "1.17.8")) ==
          Verdict::rejected);
    CHECK(verdict_of(kRequires, start("11.2.2-base-ubuntu20.04", "450.80.02", "RTX 2080 Ti", "1.17.8")) ==
          Verdict::rejected);
    CHECK(verdict_of(kRequires, start("12.6.3-base-ubuntu22.04", "535.183.01", "", "1.17.8",
                                      {{Field::host_class, "geforce"}})) == Verdict::rejected);
    CHECK(message_of(kRequires, start("11.3.1-base-ubuntu20.04", "440.33.01", "T4", "1.17.8")) ==
          "image nvidia/cuda:11.3.1-base-ubuntu20.04 requires cuda>=11.3, or driver>=450, or driver branch "
          "418 with a "
          "data-centre GPU; driver 440.33.01 runs CUDA 10.2 and the GPU is of class datacenter: container "
          "toolkit "
          "1.17.8 refuses to start it");
    const Words family{{Field::family, "nvidia-cuda"}, {Field::cuda, "12.6.3"},  {Field::os, "ubuntu22.04"},
                       {Field::driver, "535.183.01"},  {Field::gpu, "RTX 4090"}, {Field::flavour, "base"},
                       {Field::toolkit, "1.17.8"}};
    CHECK(verdict_of(kRequires, family) == Verdict::rejected);
    CHECK(fix_of(kRequires, family) == "driver >= 560.28.03, or cuda 12.2.2");
}

TEST_CASE("image-requirement-met: met") {
    struct Case {
        std::string tag, driver, gpu;
    };
    for (const auto& host : std::initializer_list<Case>{{k126, "560.28.03", "RTX 4090"},
                                                        {k126, "580.95.05", "RTX 4090"},
                                                        {k126, "535.183.01", "A100 80GB"},
                                                        {k126, "535.183.01", "RTX A6000"},
                                                        {k126, "550.54.15", "T4"},
                                                        {"12.4.1-base-ubuntu22.04", "535.183.01", "RTX 4090"},
                                                        {"12.4.1-base-ubuntu22.04", "525.60.13", "RTX 4090"},
                                                        {"12.4.1-base-ubuntu22.04", "470.161.03", "T4"},
                                                        {"12.4.1-base-ubuntu22.04", "550.54.15", ""},
                                                        {"12.4.1-base-ubuntu22.04", "535.183.01", ""},
                                                        {"11.2.2-base-ubuntu20.04", "450.80.02", "T4"},
                                                        {"11.8.0-base-ubuntu18.04", "515.65.01", "RTX 3090"},
                                                        {"11.3.1-base-ubuntu20.04", "450.80.02", "RTX 3090"},
                                                        {"13.1.0-base-ubuntu24.04", "580.95.05", "H200"},
                                                        {"13.3.0-base-ubuntu24.04", "610.57.04", "H200"}}) {
        CAPTURE(host.tag);
        CAPTURE(host.driver);
        CHECK(verdict_of(kRequires, start(host.tag, host.driver, host.gpu, "1.17.8")) == Verdict::accepted);
    }
    CHECK(verdict_of(kRequires, start("12.3.2-base-ubuntu22.04", "470.161.03", "H100", "1.17.8",
                                      {{Field::arch, "aarch64"}})) == Verdict::accepted);  // CUDA in capitals
}

TEST_CASE("image-requirement-met: a Jetson is asked too, and no fact says which CUDA its driver offers") {
    CHECK(message_of(kRequires, start(k126, "540.4.0", "Jetson AGX Orin", "1.17.8")) ==
          "no branch of the desktop and server driver applies to Jetson AGX Orin (compute 8.7): whether its "
          "driver 540.4.0 starts image nvidia/cuda:12.6.3-base-ubuntu22.04 is unknown");
    CHECK(ask(kRequires, start(k126, "540.4.0", "Jetson AGX Orin", "1.17.8",
                               {{Field::env, "NVIDIA_DISABLE_REQUIRE=true"}}))
              .empty());
}

TEST_CASE("image-requirement-met: under WSL2 the driver of Windows is asked") {
    const auto wsl = [](std::string driver) {
        return start("12.8.1-base-ubuntu22.04", driver, "RTX 3090", "", {{Field::platform, "wsl2"}});
    };
    CHECK(
        message_of(kRequires, wsl("551.78")) ==
        "image nvidia/cuda:12.8.1-base-ubuntu22.04 requires cuda>=12.8, or driver branch 470, 535, 550, 560, "
        "565 with a data-centre or workstation GPU; Windows driver 551.78 runs CUDA 12.4 and the GPU is of "
        "class geforce: the hook behind docker's --gpus refuses to start it, only the nvidia runtime of "
        "container toolkit 1.18 or newer does not check");
    CHECK(verdict_of(kRequires, wsl("572.16")) == Verdict::accepted);
    CHECK(verdict_of(kRequires, wsl("581.57")) == Verdict::accepted);
}

TEST_CASE("image-requirement-met: what is not its question") {
    CHECK(ask(kRequires, start("12.4.1-cudnn8-base-ubuntu22.04", "470.161.03", "T4", "1.17.8")).empty());
    CHECK(ask(kRequires, start(k126, "99999.1", "T4", "1.17.8")).empty());
    CHECK(ask(kRequires, {{Field::image, "debian:12"}, {Field::driver, "535.183.01"}}).empty());
    CHECK(ask(kRequires,
              start(k126, "535.183.01", "RTX 4090", "1.17.8", {{Field::env, "NVIDIA_DISABLE_REQUIRE=true"}}))
              .empty());
    const auto misspelt = ask(kRequires, start(k126, "535.183.01", "RTX 4090", "1.17.8",
                                               {{Field::env, "NVIDIA_DISABLE_REQUIRES=true"}}));
    REQUIRE(misspelt.size() == 2);
    CHECK(misspelt.front().severity == Severity::note);
    CHECK(
        misspelt.front().message ==
        "NVIDIA_DISABLE_REQUIRES is not read by the container toolkit: the switch is NVIDIA_DISABLE_REQUIRE");
    CHECK(verdict_of(misspelt) == Verdict::rejected);
    const auto own = ask(kRequires, start(k126, "535.183.01", "RTX 4090", "1.17.8",
                                          {{Field::env, "NVIDIA_REQUIRE_CUDA=cuda=12.2"}}));
    REQUIRE(own.size() == 1);
    CHECK(own.front().message ==
          "env sets NVIDIA_REQUIRE_CUDA in place of the image's own: it is not judged");
    CHECK(own.front().severity == Severity::note);
}

TEST_CASE("image-requirement-met: images that the cell leaves open, and old ones") {
    const auto family = [](const std::string& cuda, const std::string& driver, Words more = {}) {
        more.insert(more.begin(),
                    {{Field::family, "nvidia-cuda"}, {Field::cuda, cuda}, {Field::driver, driver}});
        return more;
    };
    CHECK(message_of(kRequires, family("9.2", "390.48")) ==
          "an image docker.io/nvidia/cuda of CUDA 9.2 requires cuda>=9.2; driver 390.48 runs CUDA 9.1: the "
          "hook behind docker's --gpus refuses to start it, only the nvidia runtime of container toolkit "
          "1.18 or newer does not check");
    CHECK(message_of(kRequires, family("8.0", "352.39")) ==
          "an image docker.io/nvidia/cuda of CUDA 8.0 requires cuda>=8.0; driver 352.39 is older: the hook "
          "behind docker's --gpus refuses to start it, only the nvidia runtime of container toolkit 1.18 or "
          "newer does not check");
    CHECK(message_of(kRequires, family("11.5.2", "460.73.01")) ==
          "an image docker.io/nvidia/cuda of CUDA 11.5.2 requires cuda>=11.5, or driver branch 418, 450, 470 "
          "with a data-centre GPU (on another distribution cuda>=11.5, or driver branch 470); driver "
          "460.73.01 runs CUDA 11.2: the hook behind docker's --gpus refuses to start it, only the nvidia "
          "runtime of container toolkit 1.18 or newer does not check");
    for (const auto& words :
         {family("9.0", "375.26"), family("10.0", "390.77", {{Field::gpu, "P100"}}),
          family("12.9", "570.169", {{Field::gpu, "RTX 3090 Ti"}}), family("12.5", "525.147.05"),
          family("10.0", "390.87", {{Field::os, "ubuntu18.04"}})})
        CHECK(verdict_of(kRequires, words) == Verdict::rejected);
    for (const auto& words :
         {family("8.0", "367.57"), family("9.0", "384.81"), family("9.2", "396.26"),
          family("12.9", "575.51.03"), family("10.0", "384.111", {{Field::gpu, "P100"}}),
          family("11.5.2", "470.161.03", {{Field::gpu, "RTX 3090"}}),  // ubuntu18.04 refuses, others do not
          family("11.4.3", "470.161.03"), family("99.1", "470.161.03")})
        CHECK(verdict_of(kRequires, words) == Verdict::accepted);
    CHECK(verdict_of(kRequires, family("10.0", "384.111")) == Verdict::degraded);
    CHECK(verdict_of(kRequires, start("10.2-base-ubuntu18.04", "390.48", "T4", "")) == Verdict::rejected);
}

TEST_CASE("image-requirement-met: images without a row of their own") {
    CHECK(message_of(kRequires, start("13.4.1-base-ubuntu24.04", "580.95.05", "H200", "1.17.8")) ==
          "no fact lists all driver branches on which image nvidia/cuda:13.4.1-base-ubuntu24.04 starts: "
          "whether "
          "driver 580.95.05 starts image nvidia/cuda:13.4.1-base-ubuntu24.04 is unknown");
}

TEST_CASE("container-toolkit-vulnerable") {
    CHECK(message_of(kFlaws, {{Field::toolkit, "1.17.8"}}) ==
          "container toolkit 1.17.8 has 1 published flaw: CVE-2026-24260 (a race at start lets a container "
          "run code "
          "with the rights of the host); fixed in 1.19.1");
    CHECK(fix_of(kFlaws, {{Field::toolkit, "1.17.8"}}) == "toolkit >= 1.19.1");
    CHECK(message_of(kFlaws, {{Field::toolkit, "1.17.7"}}) ==
          "container toolkit 1.17.7 has 2 published flaws: CVE-2025-23266 (a container can run code with the "
          "rights "
          "of the host through a start hook), CVE-2026-24260 (a race at start lets a container run code with "
          "the "
          "rights of the host); fixed in 1.19.1");
    for (const std::string toolkit : {"1.0.5", "1.16.1", "1.16.2", "1.17", "1.18.1", "1.19.0"})
        CHECK_MESSAGE(verdict_of(kFlaws, {{Field::toolkit, toolkit}}) == Verdict::degraded, toolkit);
    CHECK(ask(kFlaws, {{Field::toolkit, "1.16.1"}}).front().facts.size() == 6);
    CHECK(ask(kFlaws, {{Field::toolkit, "1.16.2"}}).front().facts.size() == 5);
    for (const std::string toolkit : {"1.19.1", "1.19", "1.20.0", "1.20"})
        CHECK_MESSAGE(verdict_of(kFlaws, {{Field::toolkit, toolkit}}) == Verdict::accepted, toolkit);
    CHECK(message_of(kFlaws, {{Field::toolkit, "1.21.0"}}) ==
          "no fact knows toolkit 1.21.0 (the newest that is known is 1.20): whether it has published flaws "
          "is unknown");
    CHECK(fix_of(kFlaws, {{Field::toolkit, "1.21.0"}}) == "toolkit 1.20 (then accepted)");
}

TEST_CASE("driver-capabilities") {
    const auto env = [](const std::string& text, const std::string& toolkit = "") {
        Words words{{Field::env, text}};
        if (!toolkit.empty()) words.emplace_back(Field::toolkit, toolkit);
        return words;
    };
    const std::string video = "NVIDIA_DRIVER_CAPABILITIES=utility,video";
    CHECK(message_of(kVariables, env(video)) ==
          "NVIDIA_DRIVER_CAPABILITIES=utility,video leaves out compute, which CUDA needs");
    CHECK(verdict_of(kVariables, env(video)) == Verdict::rejected);
    CHECK(verdict_of(kVariables, env(video, "1.17.8")) == Verdict::rejected);
    CHECK(fix_of(kVariables, env(video)) == "NVIDIA_DRIVER_CAPABILITIES=all");
    CHECK(message_of(kVariables, env(video, "1.19.1")) ==
          "NVIDIA_DRIVER_CAPABILITIES=utility,video leaves out compute, which CUDA needs: the hook behind "
          "docker's --gpus heeds it, the nvidia runtime of container toolkit 1.19.1 does not");
    CHECK(verdict_of(kVariables, env(video, "1.19.1")) == Verdict::degraded);
    CHECK(message_of(kVariables, env("NVIDIA_VISIBLE_DEVICES=none")) ==
          "NVIDIA_VISIBLE_DEVICES=none gives the container no GPU, unless the engine adds devices by itself "
          "(--gpus, "
          "CDI)");
    CHECK(verdict_of(kVariables, env("NVIDIA_VISIBLE_DEVICES=void")) == Verdict::degraded);
    CHECK(verdict_of(kVariables, env("NVIDIA_VISIBLE_DEVICES=")) == Verdict::degraded);
    for (const std::string text :
         {"NVIDIA_DRIVER_CAPABILITIES=compute,utility", "NVIDIA_DRIVER_CAPABILITIES=all",
          "NVIDIA_DRIVER_CAPABILITIES=", "NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=0",
          "HF_HOME=/cache"})
        CHECK_MESSAGE(verdict_of(kVariables, env(text)) == Verdict::accepted, text);
    const auto facts =
        with_rows("image_policies",
                  {"id: image-policy-visible-devices, policy: \"visible-devices\", says: \"as before\", "
                   "values: [\"void\"], confidence: unverified"});
    CHECK(verdict_of(kVariables, env("NVIDIA_VISIBLE_DEVICES=all"), facts) == Verdict::unknown);
}
