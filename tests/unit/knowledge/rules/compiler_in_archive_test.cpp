// compiler-in-archive.
#include <doctest/doctest.h>

#include <string>

#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kRule = "compiler-in-archive";

Words on(std::string family, std::string os, std::string compiler) {
    return {{Field::family, family}, {Field::os, os}, {Field::compiler, compiler}};
}

}  // namespace

TEST_CASE("compiler-in-archive rejects what the archive does not have") {
    CHECK(message_of(kRule, on("debian", "debian12", "gcc-10")) ==
          "family debian cannot install gcc-10 on debian12: its archive has gcc-11, gcc-12");
    CHECK(fix_of(kRule, on("debian", "debian12", "gcc-10")) ==
          "compiler gcc-11, or os debian11, or os ubuntu20.04, or os ubuntu22.04, or os ubuntu24.04");
    CHECK(fix_of(kRule, on("debian", "debian12", "gcc-42")) == "compiler gcc-12");
    CHECK(message_of(kRule, on("nvidia-cuda", "ubuntu22.04", "gcc-13.2")) ==
          "family nvidia-cuda cannot install gcc-13.2 on ubuntu22.04: its archive has gcc-9, gcc-10, gcc-11, "
          "gcc-12");
    CHECK(message_of(kRule, on("nvidia-cuda", "rockylinux9", "gcc-12")) ==
          "family nvidia-cuda cannot install gcc-12 on rockylinux9: its archive has gcc-11");
    const auto gap = with_rows("archive_compilers", {"id: compilers-debian10, os: debian10, gccs: [7, 9]"});
    CHECK(fix_of(kRule, on("debian", "debian10", "gcc-8"), gap) ==
          "compiler gcc-7, or compiler gcc-9, or os ubuntu18.04, or os ubuntu20.04");
}

TEST_CASE("compiler-in-archive accepts what it has") {
    for (const auto& words :
         {on("debian", "debian11", "gcc-9"), on("debian", "debian11", "gcc-10.2"),
          on("debian", "debian12", "gcc-12"), on("debian", "debian13", "gcc-13"),
          on("nvidia-cuda", "ubuntu18.04", "gcc-8"), on("nvidia-cuda", "ubuntu20.04", "gcc-10"),
          on("nvidia-cuda", "ubuntu24.04", "gcc-14"), on("nvidia-cuda", "rockylinux8", "gcc-8"),
          on("nvidia-cuda", "rockylinux9", "gcc-11.5")}) {
        CAPTURE(words[1].second + " " + words[2].second);
        CHECK(ask(kRule, words).empty());
    }
}

TEST_CASE("compiler-in-archive asks only where an image of ours installs a gcc") {
    // No family; images that compile with what their base has; one that the user builds; other compilers.
    CHECK(ask(kRule, {{Field::os, "debian12"}, {Field::compiler, "gcc-10"}}).empty());
    for (const std::string family : {"pytorch", "ngc", "cpu", "gentoo"})
        CHECK(ask(kRule, on(family, "debian12", "gcc-10")).empty());
    auto reference = on("debian", "debian12", "gcc-10");
    reference.emplace_back(Field::image, "a/b:c");
    CHECK(ask(kRule, reference).empty());
    CHECK(ask(kRule, on("debian", "debian12", "clang-14")).empty());
    CHECK(ask(kRule, on("debian", "debian12", "icc-1")).empty());
}

TEST_CASE("compiler-in-archive does not guess") {
    CHECK(
        message_of(kRule, on("debian", "fedora43", "gcc-15")) ==
        "no fact lists the compilers of the archive of fedora43: whether family debian can install gcc-15 on "
        "fedora43 is unknown");
    CHECK(verdict_of(kRule, on("debian", "mageia10", "gcc-12")) == Verdict::unknown);
    CHECK(verdict_of(kRule, on("nvidia-cuda", "rockylinux10", "gcc-14")) == Verdict::unknown);
}
