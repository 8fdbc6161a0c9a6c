// Which attempt a rejection comes down to, from the matrix file on, and why others have none.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "knowledge/rules/rule.hpp"
#include "matrix/matrix_file.hpp"
#include "run/prove/rejection_attempt.hpp"

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

struct Planned {
    Matrix matrix;
    Facts facts = Facts::embedded();
    Judgement judgement;
    std::vector<PlannedRejection> all;

    explicit Planned(const std::string& cell, const std::string& more = {}) {
        auto read = read_matrix_text("version: 1\nset: {" + cell + "}\n" + more, "matrix.yaml");
        REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.failure().diagnostics.front().message));
        matrix = std::move(*read);
        auto judged = judge(matrix, facts, {"2026-11-21"});
        REQUIRE(judged.ok());
        judgement = std::move(*judged);
        const RunSettings settings;
        const std::optional<Lock> no_lock;
        all = plan_rejections({matrix, facts, judgement, no_lock}, {});
    }

    const PlannedRejection& of(std::string_view rule) const {
        for (const auto& one : all) {
            if (one.result.rule == rule) return one;
        }
        FAIL("the cell is not rejected by " << rule);
        return all.front();
    }
    std::string step(std::string_view rule, std::string_view name) const {
        REQUIRE(of(rule).attempt.has_value());
        for (const auto& step : of(rule).attempt->request.steps) {
            if (step.name == name)
                return text::join(step.environment, " ") + (step.environment.empty() ? "" : " ") +
                       text::join(step.argv, " ");
        }
        return "no such step";
    }
};

std::string why_not(const std::string& cell, std::string_view rule) {
    const Planned planned(cell);
    CHECK_FALSE(planned.of(rule).attempt.has_value());
    CHECK(planned.of(rule).result.outcome == RejectionOutcome::not_attempted);
    return planned.of(rule).result.reason;
}

}  // namespace

TEST_CASE("rejections: every rule with an attempt has signatures, and only those") {
    std::size_t provable = 0;
    for (const auto& rule : rules::all_rules()) {
        INFO(rule.id);
        const bool attempted = rule.proof.attempt != rules::Attempt::none;
        CHECK(attempted == !rule.proof.signatures.empty());
        provable += attempted ? 1 : 0;
        for (const auto signature : rule.proof.signatures)
            CHECK(signature.find_first_not_of("*?") != std::string_view::npos);
    }
    CHECK(provable == 8);
}

TEST_CASE("rejections: a target that nvcc does not know is compiled for, and one that it knows beside it") {
    const Planned planned("os: debian12, cuda: 11.8.0, compute: \"9.0a\", compiler: gcc-11, driver: \"580\"");
    const auto& one = planned.of("cuda-supports-compute");
    CHECK(one.result.stage == "build");
    CHECK(one.result.fields ==
          std::vector<std::pair<std::string, std::string>>{{"compute", "9.0a"}, {"cuda", "11.8.0"}});
    CHECK(one.result.attempt == "nvcc of CUDA 11.8.0 compiles for sm_90a");
    CHECK(one.result.control == "the same file for sm_90");
    CHECK(one.attempt->image.id == "debian12-cu11.8.0");
    CHECK(one.attempt->signatures ==
          std::vector<std::string>{"nvcc fatal*Unsupported gpu architecture 'compute_90a'*"});
    CHECK(planned.step("cuda-supports-compute", "attempt") ==
          "/usr/bin/nvcc -std=c++17 -ccbin g++-11 -I/usr/include -gencode arch=compute_90a,code=sm_90a -c "
          "kernel.cu -o /tmp/kernel.o");
    CHECK(planned.step("cuda-supports-compute", "control").find("arch=compute_90,code=sm_90 ") !=
          std::string::npos);
}

TEST_CASE("rejections: a host compiler beyond the limit is added beside the one that nvcc takes") {
    const Planned planned("os: debian12, cuda: 11.8.0, compiler: gcc-12");
    const auto& one = planned.of("compiler-supported-by-cuda");
    CHECK(one.attempt->request.beside == std::vector<std::string>{"g++-12"});
    CHECK(one.attempt->image.id == "debian12-cu11.8.0");
    CHECK(one.result.attempt == "nvcc of CUDA 11.8.0 compiles with g++-12");
    CHECK(one.result.control == "the same file with g++-11");
    CHECK(planned.step("compiler-supported-by-cuda", "attempt").find(" -ccbin g++-12 ") != std::string::npos);
    const Planned clang("os: debian12, cuda: 11.8.0, compiler: clang-16");
    CHECK(clang.of("compiler-supported-by-cuda").attempt->request.beside ==
          std::vector<std::string>{"clang-16"});
    CHECK(clang.step("compiler-supported-by-cuda", "attempt").find(" -ccbin clang++-16 ") !=
          std::string::npos);
}

TEST_CASE("rejections: an old driver is stood in for, and the one that the fix asks for beside it") {
    const Planned planned("os: debian13, cuda: 12.4.1, driver: 470.161.03");
    const auto& one = planned.of("driver-supports-cuda");
    CHECK(one.result.stage == "runtime");
    CHECK(one.result.attempt ==
          "a program of CUDA 12.4.1 starts on a stand-in libcuda.so.1 that reports CUDA 11.4");
    CHECK(one.result.control == "the same program, the stand-in reporting CUDA 12.0 (driver 525.60.13)");
    CHECK(one.attempt->signatures ==
          std::vector<std::string>{"driver 11040, *: cudaGetDeviceCount answers 35: CUDA driver version is "
                                   "insufficient for CUDA runtime version"});
    CHECK(planned.step("driver-supports-cuda", "attempt") ==
          "LD_LIBRARY_PATH=/attempt CUDAMATRIX_STANDIN_CUDA=11040 /attempt/start");
    CHECK(planned.step("driver-supports-cuda", "control") ==
          "LD_LIBRARY_PATH=/attempt CUDAMATRIX_STANDIN_CUDA=12000 /attempt/start");
    CHECK(one.attempt->request.steps.size() == 4);
}

TEST_CASE("rejections: a python without wheels is asked of pip, and one with beside it") {
    const Planned planned("os: debian12, torch: 2.0.1, python: \"3.12\"");
    const auto& one = planned.of("torch-supports-python");
    CHECK(one.result.attempt == "pip looks for torch==2.0.1 for python 3.12");
    CHECK(one.result.control == "the same for python 3.11");
    CHECK_FALSE(one.attempt->request.compiles);
    CHECK(one.attempt->signatures ==
          std::vector<std::string>{"ERROR: No matching distribution found for torch==2.0.1"});
    CHECK(one.attempt->doubts.size() == 3);
    CHECK(planned.step("torch-supports-python", "attempt") ==
          "/opt/attempt/bin/pip install --no-input --no-cache-dir --dry-run --ignore-installed "
          "--use-feature=fast-deps --disable-pip-version-check --only-binary :all: --target /attempt/none "
          "--python-version 3.12 --no-deps torch==2.0.1");
    const Planned threads("os: debian13, torch: 2.5.1, python: 3.13t",
                          "mirrors: {pypi: \"https://wheels.example.org/simple\"}\n");
    CHECK(threads.of("torch-supports-python").result.control == "the same for python 3.13");
    const auto argv = threads.step("torch-supports-python", "attempt");
    CHECK(argv.find(" --index-url https://wheels.example.org/simple --python-version 3.13 --abi cp313t "
                    "--no-deps torch==2.5.1") != std::string::npos);
}

TEST_CASE("rejections: a wheel that was never published is asked of the index of its variant") {
    const std::string cell = "os: debian12, torch: 1.12.1+cu118";
    CHECK(why_not(cell, "torch-built-for-cuda") ==
          "builds +cu118 of torch come from an index of their own, which the matrix file does not name: "
          "mirrors: {pytorch: URL} (the part before /cu118)");
    const Planned planned(cell, "mirrors: {pytorch: \"https://wheels.example.org/whl\"}\n");
    const auto& one = planned.of("torch-built-for-cuda");
    CHECK(one.result.attempt == "pip looks for torch==1.12.1+cu118 on the index of cu118");
    CHECK(one.result.control.ends_with("+cu118 on the same index"));
    for (const char* step : {"attempt", "control"}) {
        CHECK(planned.step("torch-built-for-cuda", step)
                  .find(" --index-url https://wheels.example.org/whl/cu118 ") != std::string::npos);
    }
    const Planned by_prefix(
        cell, "mirrors: {\"https://download.pytorch.org\": \"https://wheels.example.org/torch\"}\n");
    CHECK(by_prefix.step("torch-built-for-cuda", "attempt")
              .find(" --index-url https://wheels.example.org/torch/whl/cu118 ") != std::string::npos);
}

TEST_CASE("rejections: a companion of another torch is asked for together with it, and beside it alone") {
    const Planned planned("os: debian12, torch: 2.6.0, packages: {torchvision: 0.20.0}");
    const auto& one = planned.of("companions-match-torch");
    CHECK(one.result.attempt ==
          "pip looks for torch==2.6.0 and torchvision==0.20.0 together, for python 3.12");
    CHECK(one.result.control == "the same two without what they depend on");
    CHECK(one.attempt->signatures == std::vector<std::string>{"torchvision 0.20.0 depends on torch*"});
    CHECK(planned.step("companions-match-torch", "attempt").find("--no-deps") == std::string::npos);
    CHECK(planned.step("companions-match-torch", "control").find("--no-deps") != std::string::npos);
}

TEST_CASE("rejections: two packages that contradict each other are asked for together") {
    const Planned planned(
        "os: debian12, python: \"3.11\", packages: {numpy: 1.26.4, tokenizers: 0.19.1, transformers: 4.46.3}");
    const auto& one = planned.of("packages-agree");
    CHECK(one.result.stage == "install");
    CHECK(one.result.attempt ==
          "pip looks for tokenizers==0.19.1 and transformers==4.46.3 together, for python 3.11");
    CHECK(one.result.control == "the same two without what they depend on");
    CHECK(one.attempt->signatures == std::vector<std::string>{"tokenizers 0.19.1 depends on tokenizers*",
                                                              "transformers 4.46.3 depends on tokenizers*"});
    CHECK(one.attempt->doubts.size() == 3);
    CHECK(planned.step("packages-agree", "attempt")
              .ends_with("--python-version 3.11 tokenizers==0.19.1 transformers==4.46.3"));
    CHECK(planned.step("packages-agree", "control")
              .ends_with("--python-version 3.11 --no-deps tokenizers==0.19.1 transformers==4.46.3"));
}

TEST_CASE(
    "rejections: a package that needs another torch is asked for with the release on the default index") {
    const Planned planned("os: debian12, python: \"3.11\", torch: 2.6.0+cu124, packages: {xformers: 0.0.28}",
                          "mirrors: {pypi: \"https://wheels.example.org/simple\"}\n");
    const auto& one = planned.of("packages-agree");
    CHECK(one.result.attempt == "pip looks for torch==2.6.0 and xformers==0.0.28 together, for python 3.11");
    CHECK(one.attempt->signatures ==
          std::vector<std::string>{"torch 2.6.0 depends on torch*", "xformers 0.0.28 depends on torch*"});
    CHECK(planned.step("packages-agree", "attempt").find(" --index-url https://wheels.example.org/simple ") !=
          std::string::npos);
}

TEST_CASE("rejections: two packages that contradict each other on a third") {
    const Planned planned(
        "os: debian12, python: \"3.11\", packages: {numpy: 1.26.4, torchvision: 0.21.0, xformers: 0.0.28}");
    const auto& one = planned.of("packages-agree");
    CHECK(one.result.attempt ==
          "pip looks for torchvision==0.21.0 and xformers==0.0.28 together, for python 3.11");
    CHECK(one.attempt->signatures == std::vector<std::string>{"torchvision 0.21.0 depends on torch*",
                                                              "xformers 0.0.28 depends on torch*"});
}

TEST_CASE("rejections: mixed parts of a toolkit compile beside those of one release") {
    const Planned planned(
        "os: debian12, packages: {nvidia-cuda-nvcc: 13.0.88, nvidia-nvvm: 13.2.78, nvidia-cuda-crt: "
        "13.0.88}");
    const auto& one = planned.of("toolkit-wheels-one-release");
    CHECK(one.result.attempt ==
          "nvcc compiles with nvidia-cuda-nvcc==13.0.88, nvidia-nvvm==13.2.78, nvidia-cuda-crt==13.0.88, "
          "nvidia-cuda-runtime==13.0.88, nvidia-cuda-cccl==13.0.85");
    CHECK(one.result.control.find("nvidia-nvvm==13.0.88") != std::string::npos);
    CHECK(one.attempt->request.compiles);
    CHECK(one.attempt->request.pip);
    CHECK(one.attempt->image.cuda.empty());
    CHECK(planned.step("toolkit-wheels-one-release", "attempt") ==
          "/attempt/mixed/nvidia/cu13/bin/nvcc -std=c++17 -ccbin g++-12 -c kernel.cu -o /tmp/kernel.o");
    CHECK(planned.step("toolkit-wheels-one-release", "control").find("/attempt/whole/") == 0);
}

TEST_CASE("rejections: what cannot be attempted says why") {
    CHECK(why_not("driver: \"390\", gpu: H100", "driver-supports-gpu") ==
          "at driver_load it needs the GPU and its kernel driver");
    CHECK(why_not("torch: 2.6.0+cu124, gpu: RTX 5090", "torch-ships-compute") ==
          "at runtime it needs the cell's GPU");
    CHECK(why_not("os: debian12, cuda: 11.8.0, driver: 470.161.03, torch: 2.6.0+cu124",
                  "driver-supports-cuda") ==
          "it is about the CUDA inside a torch wheel: only programs of the image's toolkit are started");
    CHECK(why_not("os: ubuntu22.04, cuda: 11.8.0, compute: \"10.0\"", "cuda-supports-compute") ==
          "os ubuntu22.04 is judged but not rendered: family debian is rendered on debian11, debian12, "
          "debian13");
    CHECK(why_not("os: debian12, cuda: 12.6.3, compute: \"12.0\"", "cuda-supports-compute") ==
          "CUDA 12.6.3 has no source for family debian on debian12");
    CHECK(why_not("family: nvidia-cuda, cuda: 11.8.0, compute: \"10.0\"", "cuda-supports-compute") ==
          "its base comes from a registry: rejections are attempted on bootstrapped bases only");
    CHECK(why_not("os: debian12, cuda: 12.4.1, driver: 470.161.03", "driver-supports-cuda") ==
          "CUDA 12.4.1 has no source for family debian on debian12");
    CHECK(why_not("os: debian13, cuda: 12.4.1, driver: 470.161.03, platform: gcp", "driver-supports-cuda") ==
          "the stand-in is a driver of Linux on no platform");
    CHECK(why_not("os: debian12, packages: {tokenizers: 0.19.1, transformers: 4.46.3}", "packages-agree") ==
          "pip looks for wheels of one python, and the cell names none");
    CHECK(why_not("family: ngc, image: \"nvcr.io/nvidia/pytorch:24.12-py3\", packages: {xformers: 0.0.28}",
                  "packages-agree") == "it is about the torch of NVIDIA's images, which no index has");
    CHECK(why_not("os: debian13, cuda: 12.4.1, driver: 525.53", "driver-supports-cuda") ==
          "a stand-in reports a CUDA version, and that of driver 525.53 is the same as that of 525.60.13");
}

TEST_CASE("rejections: an own rule, a waived finding and a cell that is not rejected are no attempts") {
    const Planned own("os: debian12, cuda: 11.8.0, driver: \"580.65.06\"",
                      "rules: [{id: mine, require: {driver: \"470.*\"}, because: site}]\n");
    CHECK(own.of("mine").result.reason == "a rule of the matrix file says only what it requires");
    const Planned waived("os: debian12, cuda: 11.8.0, compute: \"10.0\"",
                         "waive: [{rule: cuda-supports-compute, because: mirrored, until: 2027-03-31}]\n");
    CHECK(waived.all.empty());
    CHECK(Planned("os: debian12, cuda: 11.8.0, compute: \"7.5\"").all.empty());
}
