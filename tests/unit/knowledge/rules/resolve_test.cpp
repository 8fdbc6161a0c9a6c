// What fields mean: references and tags of images, versions that stand for several, variants of torch, and
// the releases that are taken where some were yanked.
#include <doctest/doctest.h>

#include <string>

#include "base/version.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/resolve/building.hpp"
#include "knowledge/resolve/images.hpp"
#include "knowledge/resolve/torch_wheels.hpp"
#include "own_facts.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

const std::string kDigest = "@sha256:0000000000000000000000000000000000000000000000000000000000000000";

}  // namespace

TEST_CASE("image references in full") {
    CHECK(image_reference("nvidia/cuda:12.4.1-base-ubuntu22.04").repository == "docker.io/nvidia/cuda");
    CHECK(image_reference("docker.io/nvidia/cuda").repository == "docker.io/nvidia/cuda");
    CHECK(image_reference("debian:12").repository == "docker.io/library/debian");
    CHECK(image_reference("localhost/app:1").repository == "localhost/app");
    const auto pinned = image_reference("registry.example.org:5000/team/app:1" + kDigest);
    CHECK(pinned.repository == "registry.example.org:5000/team/app");
    CHECK(pinned.tag == "1");
    CHECK(pinned.pinned);
    CHECK(image_reference("registry.example.org:5000/app").tag == "latest");
}

TEST_CASE("tags in their parts, and back") {
    for (const std::string tag :
         {"12.4.1-cudnn-devel-ubuntu22.04", "10.2-base-ubuntu18.04", "13.0.0-tensorrt-devel-ubuntu24.04"}) {
        const auto parts = cuda_tag(tag);
        REQUIRE(parts);
        CHECK(parts->text() == tag);
    }
    for (const std::string tag : {"latest", "12.4.1", "12.4.1-ubuntu22.04", "12-devel-ubuntu22.04",
                                  "12.4.1-fat-ubuntu22.04", "a-b-c-d-e"})
        CHECK_FALSE(cuda_tag(tag));
    const auto tag = pytorch_tag("2.6.0-cuda12.4-cudnn9-devel");
    REQUIRE(tag);
    CHECK(tag->text() == "2.6.0-cuda12.4-cudnn9-devel");
    CHECK(tag->variant() == "cu124");
    CHECK(tag->release() == "2.6.0");
    CHECK(tag->is_full());
    for (const auto& [text, release] :
         {std::pair<std::string, std::string>{"1.5-cuda10.1-cudnn7-devel", "1.5.0"},
          {"1.1.0-cuda10.0-cudnn7.5-runtime", "1.1.0"}}) {
        const auto old = pytorch_tag(text);
        REQUIRE(old);
        CHECK(old->text() == text);
        CHECK(old->release() == release);
        CHECK_FALSE(old->is_full());
    }
    for (const std::string other :
         {"latest", "2.6.0-cuda-12.4-cudnn9-devel", "2.6.0-cuda12.4-cudnnx-devel", "2-cuda12.4-cudnn9-devel",
          "2.6.0-cuda12.4-cudnn9-ubuntu22.04", "2.6.0-cuda-cudnn9-devel", "2.6.0-cuda12.4-cudnn-devel",
          "2.6.0-gpu-cudnn9-devel", "nightly-cuda12.4-cudnn9-devel", "2.6.0-cuda12.4-8-devel",
          "2.6.0rc1-cuda12.4-cudnn9-devel", "2.6.0-cuda12.4-cudnn 9-devel"})
        CHECK_FALSE(pytorch_tag(other));
    CHECK_FALSE(family_repository(Facts::embedded(), ""));
    for (const auto& near : nearest_cuda_tags(Facts::embedded(), {"12.4.1", "devel", "ubuntu22.04"}))
        CHECK(near.text() != "12.4.1-devel-ubuntu22.04");
}

TEST_CASE("part_within: what a written version may stand for") {
    const auto part = [](const char* written, const char* first, const char* last) {
        return part_within(*Version::parse(written), *Version::parse(first), *Version::parse(last));
    };
    CHECK(part("11", "11.3", "11") == Part::some);
    CHECK(part("11.4", "11.3", "11") == Part::all);
    CHECK(part("11.3.0", "11.3", "11") == Part::all);
    CHECK(part("11.2", "11.3", "11") == Part::none);
    CHECK(part("12", "11.3", "11") == Part::none);
    CHECK(part("11", "11", "11") == Part::all);
    CHECK(part("11", "10", "11.5") == Part::some);
    CHECK(part("11.5.9", "10", "11.5") == Part::all);
    CHECK(part("11.6", "10", "11.5") == Part::none);
    CHECK(part("10.1", "10", "11.5") == Part::all);
}

TEST_CASE("numbers of variants") {
    CHECK(cuda_number("cu12.4") == 124);
    CHECK(cuda_number("cpu") == 0);
}

TEST_CASE("what goes with a torch is a release that was kept") {
    const auto torch = *Version::parse("2.0.0");
    CHECK(lookup::torch_companion(Facts::embedded(), "torchvision", torch)->text("version") == "0.15.1");
    const auto facts = with_rows(
        "package_releases",
        {"id: package-torchvision-0.15.1, package: torchvision, version: \"0.15.1\", yanked: true",
         "id: package-torchvision-0.15.0, package: torchvision, version: \"0.15.0\"",
         "id: package-numpy-2.4.1, package: numpy, version: \"2.4.1\", abi: [cp399]",
         "id: package-numpy-2.4.2, package: numpy, version: \"2.4.2\", abi: [cp399], yanked: true",
         "id: package-numpy-2.4.3, package: numpy, version: \"2.4.3\", abi: [cp398], yanked: true"});
    CHECK(lookup::torch_companion(facts, "torchvision", torch)->text("version") == "0.15.0");
    const auto numpy = [&](std::string_view python) {
        return std::string(lookup::numpy_companion(facts, python, *Version::parse("2.6.0"))->text);
    };
    CHECK(numpy("3.99") == "2.4.1");
    CHECK(numpy("3.98") == "2.4.3");
}

TEST_CASE("a minor of torch is the newest release that was kept") {
    const auto facts = with_rows("package_releases",
                                 {"id: package-torch-2.5.1, package: torch, version: \"2.5.1\", requires: "
                                  "[\"triton ==3.1.0\"], yanked: true"});
    CHECK(lookup::torch(Facts::embedded(), "2.5", "x86_64")->exact.text() == "2.5.1");
    CHECK(lookup::torch(facts, "2.5", "x86_64")->exact.text() == "2.5.0");
    CHECK(lookup::torch(facts, "2.5.1", "x86_64")->exact.text() == "2.5.1");
}
