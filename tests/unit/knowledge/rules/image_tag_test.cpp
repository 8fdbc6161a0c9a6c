// image-tag-exists, image-tag-supported, image-matches-cell, image-has-compiler.
#include <doctest/doctest.h>

#include "knowledge/resolve/images.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr auto kExists = "image-tag-exists";
constexpr auto kSupported = "image-tag-supported";
constexpr auto kMatches = "image-matches-cell";
constexpr auto kCompiler = "image-has-compiler";
const std::string kDigest = "@sha256:0000000000000000000000000000000000000000000000000000000000000000";

Words image(const std::string& reference, Words more = {}) {
    more.insert(more.begin(), {Field::image, reference});
    return more;
}

Words family(const std::string& cuda, const std::string& os, const std::string& flavour, Words more = {}) {
    more.insert(more.begin(), {{Field::family, "nvidia-cuda"}, {Field::cuda, cuda}, {Field::os, os}});
    if (!flavour.empty()) more.emplace_back(Field::flavour, flavour);
    return more;
}

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
    CHECK(image_reference("registry.example.org:5000/app").tag.empty());
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
          "2.6.0-cuda12.4-cudnn9-ubuntu22.04", "2.6.0-cuda-cudnn9-devel", "2.6.0-cuda12.4-cudnn-devel"})
        CHECK_FALSE(pytorch_tag(other));
}

TEST_CASE("image-tag-exists: tags that never were or are gone") {
    const std::string prefix = "nvidia/cuda:";
    const auto says = [&](const std::string& tag) { return message_of(kExists, image(prefix + tag)); };
    CHECK(says("12.4.1-cudnn8-devel-ubuntu22.04") ==
          "image nvidia/cuda:12.4.1-cudnn8-devel-ubuntu22.04 never existed: on ubuntu22.04 CUDA 12.4.1 has "
          "base, "
          "runtime, devel, cudnn-runtime, cudnn-devel");
    CHECK(fix_of(kExists, image(prefix + "12.4.1-cudnn8-devel-ubuntu22.04")) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04");
    CHECK(says("12.2.1-devel-ubuntu22.04") ==
          "image nvidia/cuda:12.2.1-devel-ubuntu22.04 never existed: there are no images of CUDA 12.2.1");
    CHECK(says("11.2-devel-ubuntu20.04") ==
          "image nvidia/cuda:11.2-devel-ubuntu20.04 never existed: no tag says 11.2 without its update");
    CHECK(says("12.7.0-devel-ubuntu22.04") ==
          "image nvidia/cuda:12.7.0-devel-ubuntu22.04 never existed: there are no images of CUDA 12.7.0");
    CHECK(says("10.2-cudnn7-devel-ubuntu18.04") ==
          "image nvidia/cuda:10.2-cudnn7-devel-ubuntu18.04 no longer exists: the images of CUDA 10.2 were "
          "deleted");
    CHECK(says("11.0-base-ubuntu20.04") ==
          "image nvidia/cuda:11.0-base-ubuntu20.04 no longer exists: the images of CUDA 11.0 were deleted");
    CHECK(says("latest") ==
          "image nvidia/cuda:latest does not exist: a tag of nvidia/cuda is CUDA-FLAVOUR-OS");
    CHECK(message_of(kExists, image("nvidia/cuda")) == says("latest"));
    CHECK(fix_of(kExists, image("nvidia/cuda:12.4.1-devel")) == "image nvidia/cuda:12.4.1-devel-rockylinux8");
    for (const std::string tag :
         {"13.0.2-devel-ubuntu20.04", "12.4.1-devel-ubuntu24.04", "12.5.1-cudnn-devel-ubuntu24.04",
          "12.2.0-cudnn8-devel-ubuntu22.04", "12.8.0-cudnn9-runtime-ubuntu22.04", "12.1.1-base-ubuntu18.04",
          "12.6.3-base-centos7", "11.4.3-devel-centos8"}) {
        CAPTURE(tag);
        CHECK(verdict_of(kExists, image(prefix + tag)) == Verdict::rejected);
        CHECK(verdict_of(kExists, image(prefix + tag + kDigest)) == Verdict::accepted);
    }
}

TEST_CASE("image-tag-exists: tags that are there") {
    for (const std::string tag :
         {"12.4.1-devel-ubuntu22.04", "12.4.1-cudnn-devel-ubuntu22.04", "12.3.2-cudnn9-devel-ubuntu22.04",
          "12.2.2-cudnn8-runtime-rockylinux9", "11.8.0-cudnn8-devel-ubuntu18.04", "12.5.1-devel-ubuntu24.04",
          "12.6.0-runtime-ubuntu22.04", "13.0.2-cudnn-devel-ubi9", "13.1.0-base-ubuntu24.04",
          "13.0.3-cudnn-devel-ubuntu24.04", "13.4.1-devel-ubuntu24.04", "11.3.1-cudnn8-devel-ubuntu20.04",
          "13.0.0-tensorrt-devel-ubuntu24.04", "12.8.1-base-amzn2023", "11.0.3-base-ubuntu16.04"}) {
        CAPTURE(tag);
        CHECK(verdict_of(kExists, image("nvidia/cuda:" + tag)) == Verdict::accepted);
        CHECK(verdict_of(kExists, image("nvcr.io/nvidia/cuda:" + tag)) == Verdict::accepted);
    }
    CHECK(verdict_of(kExists, image("nvidia/cuda:12.4.1-base-ubuntu22.04", {{Field::arch, "aarch64"}})) ==
          Verdict::accepted);
    CHECK(message_of(kExists, image("nvidia/cuda:11.8.0-base-ubuntu18.04", {{Field::arch, "aarch64"}})) ==
          "image nvidia/cuda:11.8.0-base-ubuntu18.04 is not built for aarch64: it is for x86_64");
    CHECK(verdict_of(kExists, image("nvidia/cuda:11.0.3-base-ubuntu16.04", {{Field::arch, "aarch64"}})) ==
          Verdict::accepted);  // what it is built for is not known
}

TEST_CASE("image-tag-exists agrees with the table on every tag of it") {
    const auto facts = Facts::embedded();
    std::size_t tags = 0;
    for (const auto& row : facts.table("cuda_images")->rows) {
        const auto expected = row.text("status") == "deleted" ? Verdict::rejected : Verdict::accepted;
        if (!row.has("os")) {
            const auto tag = std::string(row.text("cuda")) + "-devel-ubuntu20.04";
            CHECK_MESSAGE(verdict_of(kExists, image("nvidia/cuda:" + tag), facts) == expected, tag);
        }
        for (const auto os : row.list("os")) {
            for (const auto flavour : row.list("flavours")) {
                const CudaTag tag{std::string(row.text("cuda")), std::string(flavour), std::string(os)};
                const auto verdict = verdict_of(kExists, image("nvidia/cuda:" + tag.text()), facts);
                CHECK_MESSAGE(verdict == expected, tag.text());
                ++tags;
            }
        }
    }
    MESSAGE(tags << " tags");
}

TEST_CASE("image-tag-exists: beyond the facts") {
    CHECK(message_of(kExists, image("nvidia/cuda:13.4.2-devel-ubuntu24.04")) ==
          "no fact describes image nvidia/cuda:13.4.2-devel-ubuntu24.04 (the nearest that is known is "
          "13.4.1-devel-ubuntu24.04): whether it exists is unknown");
    for (const std::string tag :
         {"13.4.1-devel-ubuntu26.04", "12.8.2-cudnn-devel-ubuntu22.04", "11.4.4-devel-ubuntu20.04",
          "14.0.0-base-ubuntu26.04", "13.4.2-cudnn-runtime-ubuntu24.04"}) {
        CAPTURE(tag);
        CHECK(verdict_of(kExists, image("nvidia/cuda:" + tag)) == Verdict::unknown);
    }
    for (const std::string tag : {"12.8.2-devel-ubuntu22.04", "12.9.2-cudnn-runtime-rockylinux9",
                                  "13.0.3-cudnn-runtime-ubuntu24.04", "13.2.1-cudnn-devel-ubi10"}) {
        CAPTURE(tag);
        CHECK(verdict_of(kExists, image("nvidia/cuda:" + tag)) == Verdict::accepted);
        CHECK(verdict_of("image-tag-supported", image("nvidia/cuda:" + tag)) == Verdict::accepted);
    }
    for (const std::string tag : {"12.8.1-devel-ubuntu22.04", "12.9.1-base-ubi9", "13.0.2-devel-ubuntu24.04",
                                  "13.3.0-devel-ubuntu24.04"})
        CHECK_MESSAGE(verdict_of("image-tag-supported", image("nvidia/cuda:" + tag)) == Verdict::degraded,
                      tag);
    CHECK(message_of(kExists, image("nvcr.io/nvidia/pytorch:99.12-py3")) ==
          "no fact describes image nvcr.io/nvidia/pytorch:99.12-py3 (the nearest that is known is 26.09-py3, "
          "of "
          "CUDA 13.4): whether it exists is unknown");
    CHECK(message_of(kExists, image("nvcr.io/nvidia/pytorch:99.12-py3-igpu"))
              .starts_with("no fact describes image nvcr.io/nvidia/pytorch:99.12-py3-igpu"));
    CHECK(
        message_of(kExists,
                   {{Field::family, "pytorch"}, {Field::torch, "1.7.0"}, {Field::flavour, "devel"}}) ==
        "no fact describes image docker.io/pytorch/pytorch:1.7.0-cuda10.2-cudnn8-devel: whether it exists is "
        "unknown");
    CHECK(message_of(kExists,
                     {{Field::family, "pytorch"}, {Field::torch, "2.15.0"}, {Field::flavour, "devel"}}) ==
          "no fact describes images docker.io/pytorch/pytorch:2.15.0-cuda13.2-cudnn*-devel: whether there is "
          "one is unknown");
    CHECK(verdict_of(kExists, image("nvcr.io/nvidia/pytorch:25.12-py3")) == Verdict::accepted);
    const auto own = ask(kExists, image("registry.example.org/team/app:1"));
    REQUIRE(own.size() == 1);
    CHECK(own.front().severity == Severity::note);
    CHECK(own.front().message ==
          "no fact describes the images of registry.example.org/team/app: whether the tag exists is not "
          "checked");
    CHECK(verdict_of(kExists, image("registry.example.org/team/app:1" + kDigest)) == Verdict::accepted);
}

TEST_CASE("image-tag-exists: pytorch/pytorch") {
    const std::string prefix = "pytorch/pytorch:";
    const auto says = [&](const std::string& tag) { return message_of(kExists, image(prefix + tag)); };
    CHECK(
        says("2.0.1-cuda11.3-cudnn8-devel") ==
        "image pytorch/pytorch:2.0.1-cuda11.3-cudnn8-devel never existed: torch 2.0.1 has no build for CUDA "
        "11.3, it has cpu, cu117, cu118");
    CHECK(fix_of(kExists, image(prefix + "2.0.1-cuda11.3-cudnn8-devel")) ==
          "image pytorch/pytorch:2.0.1-cuda11.7-cudnn8-devel");
    CHECK(says("2.6.0-cuda12.4-cudnn8-devel") ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn8-devel never existed: the tags of torch 2.6.0 say "
          "cudnn9");
    CHECK(says("1.13.1-cuda11.7-cudnn8-devel") ==
          "image pytorch/pytorch:1.13.1-cuda11.7-cudnn8-devel never existed: torch 1.13.1 was pushed for "
          "another CUDA only");
    CHECK(says("2.9.1-cuda-12.8-cudnn9-runtime") ==
          "image pytorch/pytorch:2.9.1-cuda-12.8-cudnn9-runtime never existed: tags are "
          "TORCH-cudaX.Y-cudnnN-runtime or -devel");
    for (const std::string tag :
         {"1.13.1-cuda11.3-cudnn8-devel", "2.8.0-cuda12.4-cudnn9-devel", "2.0.1-cuda11.8-runtime-ubuntu22.04",
          "2.5.1-cuda12.6-cudnn9-devel", "2.6-cuda12.4-cudnn9-devel", "2.6.0-cuda12.4-cudnn9.1-devel",
          "1.5-cuda11.0-cudnn8-devel", "1.1.0-cuda10.0-cudnn7-devel"})
        CHECK_MESSAGE(verdict_of(kExists, image(prefix + tag)) == Verdict::rejected, tag);
    for (const std::string tag :
         {"2.6.0-cuda12.4-cudnn9-devel", "2.5.1-cuda12.4-cudnn9-runtime", "1.11.0-cuda11.3-cudnn8-runtime",
          "2.0.0-cuda11.7-cudnn8-runtime", "1.13.1-cuda11.6-cudnn8-devel", "2.0.1-cuda11.7-cudnn8-devel",
          "1.12.1-cuda11.3-cudnn8-devel", "1.5-cuda10.1-cudnn7-devel", "1.4-cuda10.1-cudnn7-runtime",
          "1.3-cuda10.1-cudnn7-devel", "1.2-cuda10.0-cudnn7-runtime", "1.1.0-cuda10.0-cudnn7.5-devel",
          "1.0-cuda10.0-cudnn7-runtime", "2.1.1-cuda12.1-cudnn8-devel", "2.1.2-cuda11.8-cudnn8-devel",
          "2.14.0-cuda13.2-cudnn9-runtime", "latest"}) {
        CHECK_MESSAGE(verdict_of(kExists, image(prefix + tag)) == Verdict::accepted, tag);
        CHECK_MESSAGE(verdict_of(kExists, image("ghcr.io/" + prefix + tag)) == Verdict::accepted, tag);
    }
    CHECK(
        says("2.14.1-cuda13.2-cudnn9-devel") ==
        "no fact describes image pytorch/pytorch:2.14.1-cuda13.2-cudnn9-devel (the nearest that is known is "
        "2.14.0-cuda13.2-cudnn9-devel): whether it exists is unknown");
    // Before 1.5.1 the tags had several spellings: one that no fact knows is not known.
    for (const std::string tag : {"1.5.0-cuda10.1-cudnn7-devel", "1.3.1-cuda10.1-cudnn7-devel",
                                  "0.4.1-cuda9-cudnn7-devel", "1.0-cuda10.0-cudnn7-devel-ubuntu18.04"})
        CHECK_MESSAGE(verdict_of(kExists, image(prefix + tag)) == Verdict::unknown, tag);
    CHECK(says("1.5.0-cuda10.1-cudnn7-devel") ==
          "no fact describes image pytorch/pytorch:1.5.0-cuda10.1-cudnn7-devel (the nearest that is known is "
          "1.5-cuda10.1-cudnn7-devel): whether it exists is unknown");
    CHECK(verdict_of(kMatches, image(prefix + "1.5-cuda10.1-cudnn7-devel", {{Field::torch, "1.5.0"}})) ==
          Verdict::accepted);
    CHECK(message_of(kMatches, image(prefix + "1.5-cuda10.1-cudnn7-devel", {{Field::torch, "1.5.1"}})) ==
          "image pytorch/pytorch:1.5-cuda10.1-cudnn7-devel holds torch 1.5.0, the cell says torch 1.5.1");
    CHECK(verdict_of(kExists, image(prefix + "1.7.0-cuda10.1-cudnn7-runtime")) == Verdict::unknown);
    CHECK(verdict_of(kExists, image(prefix + "9.0.0-cuda19.1-cudnn9-runtime")) == Verdict::unknown);
}

TEST_CASE("image-tag-exists: families") {
    CHECK(verdict_of(kExists, family("12.4.1", "ubuntu22.04", "devel")) == Verdict::accepted);
    CHECK(verdict_of(kExists, family("12.4", "ubuntu22.04", "")) == Verdict::accepted);
    CHECK(verdict_of(kExists, family("12.2.2", "ubuntu22.04", "devel", {{Field::cudnn, "8"}})) ==
          Verdict::accepted);
    CHECK(message_of(kExists, family("12.4.1", "ubuntu24.04", "devel")) ==
          "image docker.io/nvidia/cuda:12.4.1-devel-ubuntu24.04 never existed: the images of CUDA 12.4.1 are "
          "for "
          "rockylinux8, rockylinux9, ubi9, ubuntu20.04, ubuntu22.04, ubi8");
    CHECK(fix_of(kExists, family("12.4.1", "ubuntu24.04", "devel")) == "os ubuntu22.04, or cuda 12.5.1");
    CHECK(message_of(kExists, family("12.4.0", "ubuntu22.04", "devel", {{Field::cudnn, "9"}})) ==
          "image docker.io/nvidia/cuda:12.4.0-cudnn-devel-ubuntu22.04 never existed: on ubuntu22.04 CUDA "
          "12.4.0 "
          "has base, runtime, devel");
    CHECK(message_of(kExists, family("10.2.89", "ubuntu18.04", "devel")) ==
          "image docker.io/nvidia/cuda:10.2-devel-ubuntu18.04 no longer exists: the images of CUDA 10.2 were "
          "deleted");
    CHECK(ask(kExists, {{Field::family, "nvidia-cuda"}, {Field::cuda, "12.4.1"}}).empty());
    CHECK(ask(kExists, family("99.1", "ubuntu22.04", "devel")).empty());  // left to the rules about CUDA
    CHECK(
        ask(kExists, {{Field::family, "debian"}, {Field::cuda, "12.4.1"}, {Field::os, "debian13"}}).empty());
    const Words pytorch{{Field::family, "pytorch"}, {Field::torch, "2.6.0+cu124"}, {Field::flavour, "devel"}};
    CHECK(verdict_of(kExists, pytorch) == Verdict::accepted);
    // Two CUDAs of one release, with a cuDNN each.
    for (const std::string torch : {"1.8.1+cu102", "1.8.1+cu111", "1.9.0+cu102", "1.9.0+cu111"}) {
        const Words cell{{Field::family, "pytorch"}, {Field::torch, torch}, {Field::flavour, "devel"}};
        CHECK_MESSAGE(verdict_of(kExists, cell) == Verdict::accepted, torch);
    }
    CHECK(
        message_of(kExists,
                   {{Field::family, "pytorch"}, {Field::torch, "2.14.1+cu130"}, {Field::flavour, "devel"}}) ==
        "no fact describes image docker.io/pytorch/pytorch:2.14.1-cuda13.0-cudnn9-devel: whether it exists "
        "is "
        "unknown");
    CHECK(ask(kExists, {{Field::family, "pytorch"}, {Field::torch, "2.6.0+cu124"}}).empty());
    CHECK(ask(kExists, {{Field::family, "pytorch"}, {Field::torch, "9.9.9"}, {Field::flavour, "devel"}})
              .empty());
}

TEST_CASE("image-tag-exists says so where it rests on an unverified row") {
    const auto facts =
        with_rows("cuda_images",
                  {"id: cuda-image-19.1.0-x, cuda: \"19.1.0\", status: \"supported\", os: [\"ubuntu24.04\"], "
                   "flavours: [\"base\"], complete: false, confidence: unverified"});
    CHECK(message_of(kExists, image("nvidia/cuda:19.1.0-base-ubuntu24.04"), facts) ==
          "whether image nvidia/cuda:19.1.0-base-ubuntu24.04 exists rests on the unverified fact "
          "cuda-image-19.1.0-x: would be accepted");
}

TEST_CASE("toolkit-available leaves a family of images to image-tag-exists") {
    CHECK(ask("toolkit-available", family("12.2.1", "ubuntu22.04", "devel")).empty());
    CHECK(verdict_of(kExists, family("12.2.1", "ubuntu22.04", "devel")) == Verdict::rejected);
}

TEST_CASE("image-tag-supported") {
    const auto says = [](const std::string& tag) {
        return message_of(kSupported, image("nvidia/cuda:" + tag));
    };
    CHECK(says("12.6.0-devel-ubuntu22.04") ==
          "image nvidia/cuda:12.6.0-devel-ubuntu22.04 is past its end of life since 2024-09-05 and can be "
          "deleted "
          "any day");
    CHECK(says("13.1.0-base-ubuntu24.04") ==
          "image nvidia/cuda:13.1.0-base-ubuntu24.04 is past its end of life");
    const auto row = [](const std::string& cuda) {
        return fmt::format(
            "id: cuda-image-{0}-x, cuda: \"{0}\", status: supported, os: [ubuntu24.04], flavours: [base], "
            "complete: false",
            cuda);
    };
    CHECK(message_of(kSupported, image("nvidia/cuda:19.1.0-base-ubuntu24.04"),
                     with_rows("cuda_images", {row("19.1.0"), row("19.1.2")})) ==
          "image nvidia/cuda:19.1.0-base-ubuntu24.04 is no longer supported: its update CUDA 19.1.2 has "
          "images");
    CHECK(fix_of(kSupported, image("nvidia/cuda:12.1.0-cudnn8-devel-ubuntu22.04")) ==
          "image nvidia/cuda:12.1.1-cudnn8-devel-ubuntu22.04, or image "
          "nvidia/cuda:13.3.1-cudnn-devel-ubuntu22.04");
    const auto early =
        ask(kSupported, image("nvidia/cuda:12.9.0-devel-ubuntu22.04"), Facts::embedded(), "2025-10-01");
    REQUIRE(early.size() == 1);
    CHECK(early.front().message ==
          "image nvidia/cuda:12.9.0-devel-ubuntu22.04 is past its end of life since 2025-09-10 and can be "
          "deleted "
          "from 2026-03-10 on");
    for (const std::string tag :
         {"12.6.3-devel-ubuntu22.04", "12.4.1-base-ubuntu22.04", "11.8.0-devel-ubuntu22.04",
          "13.0.3-devel-ubuntu24.04", "12.9.2-runtime-rockylinux9", "13.4.1-devel-ubuntu24.04",
          "10.2-devel-ubuntu18.04", "12.4.1-cudnn8-devel-ubuntu22.04", "latest"}) {
        CHECK_MESSAGE(verdict_of(kSupported, image("nvidia/cuda:" + tag)) == Verdict::accepted, tag);
    }
    CHECK(verdict_of(kSupported, image("nvidia/cuda:12.6.0-devel-ubuntu22.04" + kDigest)) ==
          Verdict::accepted);
    CHECK(verdict_of(kSupported, family("12.6.0", "ubuntu22.04", "devel")) == Verdict::degraded);
    CHECK(fix_of(kSupported, family("12.6.0", "ubuntu22.04", "devel")) == "cuda 12.6.3, or cuda 13.3.1");
    CHECK(verdict_of(kSupported, family("12.6.3", "ubuntu22.04", "")) == Verdict::accepted);
}

TEST_CASE("image-matches-cell: the CUDA of families that bring theirs, or none") {
    const auto family = [](std::string name, std::string torch, std::string cuda) {
        return Words{{Field::family, name}, {Field::torch, torch}, {Field::cuda, cuda}};
    };
    CHECK(message_of(kMatches, family("pytorch", "2.0.1", "11.3")) ==
          "the image of torch 2.0.1+cu117 in family pytorch holds CUDA 11.7, the cell says cuda 11.3: the "
          "builds "
          "of torch 2.0.1 are cpu, cu117, cu118");
    CHECK(fix_of(kMatches, family("pytorch", "2.0.1", "11.3")) == "cuda 11.7");
    CHECK(verdict_of(kMatches, family("pytorch", "1.13.1", "11.3")) == Verdict::rejected);
    CHECK(verdict_of(kMatches, family("pytorch", "2.6.0+cu124", "12.6.3")) == Verdict::rejected);
    CHECK(message_of(kMatches, {{Field::family, "cpu"}, {Field::cuda, "12.4"}}) ==
          "the images of family cpu hold no CUDA, the cell says cuda 12.4");
    CHECK(fix_of(kMatches, {{Field::family, "cpu"}, {Field::cuda, "12.4"}}) == "family nvidia-cuda");
    for (const auto& words : {family("pytorch", "2.0.1", "11.7"), family("pytorch", "2.6.0+cu124", "12.4.1"),
                              family("pytorch", "2.6.0+cpu", "12.4"), family("pytorch", "9.9.9", "12.4"),
                              family("pytorch", "none", "12.4"), family("nvidia-cuda", "2.0.1", "12.4"),
                              Words{{Field::family, "cpu"}, {Field::torch, "2.6.0+cpu"}}}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kMatches, words).empty());
    }
    // toolkit-available says it where the system is given.
    CHECK(ask(kMatches, {{Field::family, "cpu"}, {Field::cuda, "12.4"}, {Field::os, "debian12"}}).empty());
}

TEST_CASE("image-matches-cell") {
    const std::string cuda = "nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04";
    CHECK(message_of(kMatches, image(cuda, {{Field::cuda, "12.6.3"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04 holds CUDA 12.4.1, the cell says cuda 12.6.3");
    CHECK(fix_of(kMatches, image(cuda, {{Field::cuda, "12.6.3"}})) == "cuda 12.4.1");
    CHECK(message_of(kMatches, image(cuda, {{Field::os, "ubuntu24.04"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04 holds ubuntu22.04, the cell says os ubuntu24.04");
    CHECK(message_of(kMatches, image(cuda, {{Field::flavour, "base"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04 holds the flavour devel, the cell says flavour "
          "base");
    CHECK(message_of(kMatches, image(cuda, {{Field::cudnn, "8.9"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04 holds cuDNN 9.1.0, the cell says cudnn 8.9");
    CHECK(message_of(kMatches, family("12.4.1", "ubuntu22.04", "devel", {{Field::cudnn, "8"}})) ==
          "the image docker.io/nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04 holds cuDNN 9.1.0, the cell says "
          "cudnn 8");
    const std::string pytorch = "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel";
    CHECK(message_of(kMatches, image(pytorch, {{Field::torch, "2.5.1+cu124"}})) ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel holds torch 2.6.0, the cell says torch "
          "2.5.1+cu124");
    CHECK(message_of(kMatches, image(pytorch, {{Field::torch, "2.6.0+cu126"}})) ==
          "image pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel holds torch 2.6.0+cu124, the cell says torch "
          "2.6.0+cu126");
    const std::string ngc = "nvcr.io/nvidia/pytorch:25.12-py3";
    CHECK(message_of(kMatches, image(ngc, {{Field::python, "3.10"}})) ==
          "image nvcr.io/nvidia/pytorch:25.12-py3 holds python 3.12, the cell says python 3.10");
    CHECK(verdict_of(kMatches, image(ngc, {{Field::torch, "2.9.0"}})) == Verdict::rejected);

    for (const Words& words :
         {image(cuda), image(cuda, {{Field::cuda, "12.4"}}),
          image(cuda, {{Field::cuda, "12.4.1"}, {Field::os, "ubuntu22.04"}}),
          image(cuda, {{Field::cudnn, "9"}, {Field::flavour, "devel"}}),
          image(cuda, {{Field::torch, "2.6.0+cu126"}}),
          image(pytorch, {{Field::torch, "2.6.0+cu124"}, {Field::cuda, "12.4.1"}}),
          image(pytorch, {{Field::torch, "2.6"}}), image(pytorch, {{Field::torch, "none"}}),
          image("pytorch/pytorch:latest", {{Field::torch, "2.6.0"}}),
          image(ngc, {{Field::torch, "2.10.0"}, {Field::cuda, "13.1.0"}, {Field::python, "3.12.4"}}),
          image("nvcr.io/nvidia/pytorch:99.12-py3", {{Field::torch, "2.6.0"}}),
          image("debian:12", {{Field::os, "ubuntu22.04"}}),
          family("12.4.1", "ubuntu22.04", "devel", {{Field::cudnn, "9.1"}}),
          family("12.4.1", "ubuntu22.04", "base"),
          Words{{Field::family, "debian"}, {Field::cuda, "12.4.1"}}}) {
        CHECK(verdict_of(kMatches, words) == Verdict::accepted);
    }
}

TEST_CASE("image-has-compiler") {
    CHECK(message_of(kCompiler,
                     image("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04", {{Field::compiler, "gcc-11"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04 has no nvcc and no headers, which compiler "
          "gcc-11 "
          "needs: only devel images have them");
    CHECK(fix_of(kCompiler,
                 image("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04", {{Field::compiler, "gcc-11"}})) ==
          "image nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04");
    CHECK(fix_of(kCompiler, family("12.4.1", "ubuntu22.04", "base", {{Field::arch_list, "8.0"}})) ==
          "flavour devel");
    CHECK(verdict_of(kCompiler, family("12.4.1", "ubuntu22.04", "devel", {{Field::compiler, "gcc-11"}})) ==
          Verdict::accepted);
    CHECK(verdict_of(kCompiler, image("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04",
                                      {{Field::arch_list, "8.0"}})) == Verdict::accepted);
    CHECK(ask(kCompiler, family("12.4.1", "ubuntu22.04", "", {{Field::compiler, "gcc-11"}})).empty());
    CHECK(ask(kCompiler, family("12.4.1", "ubuntu22.04", "base")).empty());
    CHECK(ask(kCompiler, image("debian:12", {{Field::compiler, "gcc-11"}})).empty());
}
