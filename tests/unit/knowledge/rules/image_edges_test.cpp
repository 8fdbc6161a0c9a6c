// nvidia/cuda images at the edge of the facts: ways out that change two fields or none, rows without a
// number, and conditions on drivers whose branch does not tell its CUDA.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

using F = Field;

constexpr std::string_view kExists = "image-tag-exists";
constexpr std::string_view kMatches = "image-matches-cell";
constexpr std::string_view kRequires = "image-requirement-met";

Words family(std::string cuda, std::string os) {
    return {{F::family, "nvidia-cuda"},
            {F::cuda, std::move(cuda)},
            {F::os, std::move(os)},
            {F::flavour, "devel"}};
}

Words start(const std::string& tag, std::string driver) {
    return {{F::image, "nvidia/cuda:" + tag}, {F::driver, std::move(driver)}, {F::toolkit, "1.17.8"}};
}

}  // namespace

TEST_CASE("image-matches-cell says what of an image of torch no fact gives") {
    const std::string image = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel";
    CHECK(message_of(kMatches, {{Field::image, image}, {Field::os, "ubuntu24.04"}, {Field::python, "3.9"}}) ==
          "no fact says whether image " + image +
              " holds the cell's os ubuntu24.04 and python 3.9: that is not checked");
    CHECK(
        message_of(kMatches,
                   {{Field::family, "pytorch"}, {Field::torch, "2.6.0"}, {Field::os, "debian12"}}) ==
        "no fact says whether the image of torch 2.6.0+cu124 in family pytorch holds the cell's os debian12: "
        "that is not checked");
    CHECK(verdict_of(kMatches, {{Field::image, image}, {Field::python, "3.9"}}) == Verdict::accepted);
    CHECK(ask(kMatches, {{Field::image, image}, {Field::torch, "2.6.0+cu124"}}).empty());
    CHECK(ask(kMatches, {{Field::image, "nvidia/cuda:12.4.1-devel-ubuntu22.04"}, {Field::python, "3.9"}})
              .empty());
}

TEST_CASE("the nearest image of a family may be two fields away") {
    const auto gone = family("8.0.61", "ubuntu14.04");
    CHECK(message_of(kExists, gone) ==
          "image docker.io/nvidia/cuda:8.0-devel-ubuntu14.04 no longer exists: the images of CUDA 8.0 were "
          "deleted");
    CHECK(fix_of(kExists, gone) == "cuda 11.0.3 with os ubuntu16.04");
    CHECK(fix_of(kExists, family("8.0.61", "ubuntu16.04")) == "cuda 11.0.3");
}

TEST_CASE("the nearest image of a family that has no cuDNN is no way out: the fields name it already") {
    auto words = family("12.6.3", "amzn2023");
    CHECK(verdict_of(kExists, words) == Verdict::accepted);
    words.emplace_back(F::cudnn, "9");
    CHECK(message_of(kExists, words) ==
          "image docker.io/nvidia/cuda:12.6.3-cudnn-devel-amzn2023 never existed: on amzn2023 CUDA 12.6.3 "
          "has base, runtime, devel");
    CHECK(fix_of(kExists, words) == "os rockylinux8");
}

TEST_CASE("image-matches-cell: a cuDNN of which no fact gives the number contradicts none") {
    const auto holds = [](const std::string& cuda) {
        return Words{{F::image, "nvidia/cuda:" + cuda + "-cudnn-devel-ubuntu24.04"}, {F::cudnn, "8"}};
    };
    CHECK(message_of(kMatches, holds("13.0.2")) ==
          "image nvidia/cuda:13.0.2-cudnn-devel-ubuntu24.04 holds cuDNN 9.14.0, the cell says cudnn 8");
    const auto facts = with_rows(
        "cuda_images", {"id: cuda-image-19.1.0-x, cuda: \"19.1.0\", status: supported, os: [ubuntu24.04], "
                        "flavours: [cudnn-devel], complete: false"});
    CHECK(ask(kMatches, holds("19.1.0"), facts).empty());
}

TEST_CASE("image-requirement-met: drivers of branches that do not tell their CUDA") {
    // Between the branches of CUDA 8.0 and 9.0.
    CHECK(message_of(kRequires, start("9.0-base-ubuntu16.04", "381.22")) ==
          "no fact lists all driver branches on which image nvidia/cuda:9.0-base-ubuntu16.04 starts: whether "
          "driver 381.22 starts image nvidia/cuda:9.0-base-ubuntu16.04 is unknown");
    // The row of the image knows the first driver where the branches do not.
    CHECK(message_of(kRequires, start("9.2-base-ubuntu18.04", "390.77")) ==
          "image nvidia/cuda:9.2-base-ubuntu18.04 requires cuda>=9.2; driver 390.77 runs CUDA 9.1: container "
          "toolkit 1.17.8 refuses to start it");
    CHECK(verdict_of(kRequires, start("9.2-base-ubuntu18.04", "390.77")) == Verdict::rejected);
    CHECK(message_of(kRequires, start("8.0-base-ubuntu16.04", "361.93")) ==
          "image nvidia/cuda:8.0-base-ubuntu16.04 requires cuda>=8.0; driver 361.93 is older: container "
          "toolkit 1.17.8 refuses to start it");
    CHECK(ask(kRequires, start("8.0-base-ubuntu16.04", "367.57")).empty());
    // The newest one tells it.
    CHECK(ask(kRequires, start("13.4.1-base-ubuntu24.04", "620.70.06")).empty());
}

TEST_CASE("image-requirement-met: what several distributions require is said once") {
    const auto row = [](const std::string& columns) {
        return "  - {" + columns + ", source: \"https://example.org/\", confidence: read}\n";
    };
    const auto requires_of = [&](const std::string& os, const std::string& columns) {
        return row("id: cuda-image-requires-19.1.0-" + os + ", cuda: \"19.1.0\", arch: [x86_64], os: [" + os +
                   "], cuda_min: \"19.1\"" + columns);
    };
    const auto facts = with_tables(
        {{"cuda_releases", row("id: cuda-19.1.0, cuda: \"19.1.0\", minor: \"13.5\"")},
         {"cuda_images", row("id: cuda-image-19.1.0-x, cuda: \"19.1.0\", status: supported, os: [debian12, "
                             "rockylinux9, ubuntu24.04], flavours: [base], complete: true")},
         {"cuda_image_requirements", requires_of("debian12", ", driver_min: \"900\"") +
                                         requires_of("rockylinux9",
                                                     ", driver_min: "
                                                     "\"900\"") +
                                         requires_of("ubuntu24.04", "")}});
    CHECK(message_of(kRequires,
                     {{F::family, "nvidia-cuda"},
                      {F::cuda, "19.1.0"},
                      {F::driver, "580.95.05"},
                      {F::gpu, "RTX 4090"},
                      {F::toolkit, "1.17.8"}},
                     facts) ==
          "an image docker.io/nvidia/cuda of CUDA 19.1.0 requires cuda>=19.1 (on another distribution "
          "cuda>=19.1, or driver>=900); driver 580.95.05 runs CUDA 13.0 and the GPU is of class geforce: "
          "container toolkit 1.17.8 refuses to start it");
}
