// wheel-index-exists, torch-published-for-arch, wheel-runs-on-libc and companions-match-torch.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kIndex = "wheel-index-exists";
constexpr std::string_view kArch = "torch-published-for-arch";
constexpr std::string_view kLibc = "wheel-runs-on-libc";
constexpr std::string_view kCompanions = "companions-match-torch";

Words torch(std::string text) {
    return {{Field::torch, text}};
}
Words arch(std::string text, std::string arch) {
    return {{Field::torch, text}, {Field::arch, arch}};
}
Words os(std::string text, std::string os) {
    return {{Field::torch, text}, {Field::os, os}};
}
Words glibc(std::string text, std::string glibc) {
    return {{Field::torch, text}, {Field::glibc, glibc}};
}
Words with(std::string text, std::string packages) {
    return {{Field::torch, text}, {Field::packages, packages}};
}

}  // namespace

TEST_CASE("wheel-index-exists rejects a CUDA that never had an index") {
    CHECK(
        message_of(kIndex, torch("2.6.0+cu127")) ==
        "torch 2.6.0+cu127 cannot be installed: there is no wheel index cu127, the nearest are cu126 (torch "
        "2.6.0 to 2.14.0) and cu128 (torch 2.7.0 to 2.11.0)");
    CHECK(fix_of(kIndex, torch("2.6.0+cu127")) == "torch 2.6.0+cu126");
    CHECK(message_of(kIndex, torch("1.0.0+cu75")) ==
          "torch 1.0.0+cu75 cannot be installed: there is no wheel index cu75, the nearest are cu80 (torch "
          "1.0.0 to 1.0.1)");
    CHECK(verdict_of(kIndex, torch("2.15.0+cu131")) == Verdict::rejected);
    CHECK(verdict_of(kIndex, torch("1.10.0+cu112")) == Verdict::rejected);
}

TEST_CASE("torch-built-for-cuda does not deny the builds for other makers' GPUs") {
    for (const std::string variant : {"rocm6.2.4", "xpu"}) {
        CHECK(message_of("torch-built-for-cuda", torch("2.6.0+" + variant)) ==
              "torch 2.6.0+" + variant +
                  " is no build for CUDA: torch 2.6.0 was built for cpu, cu118, cu124, cu126");
    }
    CHECK(message_of("torch-built-for-cuda", torch("1.12.1+cu118")) ==
          "torch 1.12.1+cu118 was never published: torch 1.12.1 was built for cpu, cu102, cu113, cu116");
}

TEST_CASE("wheel-index-exists leaves the rest to torch-built-for-cuda") {
    for (const auto* text : {"2.6.0+cu124", "2.6.0+cu132", "1.12.1+cu118", "2.6.0", "2.6", "none",
                             "2.6.0+cpu", "2.15.0+cu136", "2.99.0+cu126", "2.6.0+xpu"}) {
        CAPTURE(text);
        CHECK(ask(kIndex, torch(text)).empty());
    }
    CHECK(ask("torch-built-for-cuda", torch("2.6.0+cu127")).empty());
    CHECK(verdict_of("torch-built-for-cuda", torch("2.15.0+cu136")) == Verdict::unknown);
    const auto facts =
        with_rows("wheel_indexes", {"id: index-cu126, name: cu126, torch_first: \"2.6.0\", torch_last: "
                                    "\"2.14.0\", confidence: unverified"});
    CHECK(message_of(kIndex, torch("2.6.0+cu126"), facts) ==
          "whether there is a wheel index cu126 rests on the unverified fact index-cu126: would be accepted");
}

TEST_CASE("torch-published-for-arch rejects releases without a wheel, and warns of silent CPU builds") {
    CHECK(message_of(kArch, arch("1.7.1", "aarch64")) ==
          "the default index has no wheel of torch 1.7.1 for aarch64");
    CHECK(verdict_of(kArch, arch("1.9.1", "aarch64")) == Verdict::rejected);
    CHECK(message_of(kArch, arch("2.6.0", "ppc64le")) ==
          "the default index has no wheel of torch 2.6.0 for ppc64le");
    CHECK(fix_of(kArch, arch("2.6.0", "ppc64le")) == "arch x86_64");
    CHECK(message_of(kArch, arch("2.6.0", "aarch64")) ==
          "torch 2.6.0 for aarch64 is a CPU build on the default index, where x86_64 gets cu124: it installs "
          "without a word and sees no GPU");
    CHECK(verdict_of(kArch, arch("2.6.0", "aarch64")) == Verdict::degraded);
    CHECK(verdict_of(kArch, arch("2.10.0", "aarch64")) == Verdict::degraded);
    CHECK(ask("torch-built-for-cuda", arch("1.7.1", "aarch64")).empty());
    // With a GPU that build cannot be what was meant; torch-ships-compute leaves it to this rule.
    const Words spark{{Field::torch, "2.10.0"}, {Field::arch, "aarch64"}, {Field::gpu, "GB10"}};
    CHECK(message_of(kArch, spark) ==
          "torch 2.10.0 for aarch64 is a CPU build on the default index, where x86_64 gets cu128: it "
          "installs without a word and sees no GPU");
    CHECK(verdict_of(kArch, spark) == Verdict::rejected);
    CHECK(fix_of(kArch, spark) == "torch 2.10.0+cu130");
    CHECK(ask("torch-ships-compute", spark).empty());
    CHECK(verdict_of(kArch, {{Field::torch, "2.6.0"}, {Field::arch, "aarch64"}, {Field::compute, "9.0"}}) ==
          Verdict::rejected);
    CHECK(verdict_of(kArch, {{Field::torch, "2.6.0"}, {Field::arch, "aarch64"}, {Field::gpu, "Voodoo"}}) ==
          Verdict::rejected);
}

TEST_CASE("torch-published-for-arch accepts the others") {
    for (const auto& words :
         {arch("2.11.0", "aarch64"), arch("2.15.0", "aarch64"), arch("2.6.0", "x86_64"),
          arch("1.7.1", "x86_64"), arch("2.6.0+cpu", "aarch64"), arch("2.9.0+cu130", "aarch64"),
          arch("none", "ppc64le"), arch("2.99.0", "aarch64"), arch("1.0.0", "x86_64")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kArch, words).empty());
    }
    CHECK(ask(kArch, torch("2.6.0")).empty());
}

TEST_CASE("wheel-runs-on-libc rejects an old glibc and musl") {
    CHECK(message_of(kLibc, os("2.7.1", "ubuntu18.04")) ==
          "torch 2.7.1+cu126 does not install on ubuntu18.04 (glibc 2.27): its wheel for x86_64 needs glibc "
          "2.28 or newer");
    CHECK(fix_of(kLibc, os("2.7.1", "ubuntu18.04")) == "os ubuntu20.04, or torch 2.6.0");
    CHECK(verdict_of(kLibc, os("2.15.0", "centos7")) == Verdict::rejected);
    CHECK(message_of(kLibc, glibc("2.7.1", "2.17")) ==
          "torch 2.7.1+cu126 does not install on glibc 2.17: its wheel for x86_64 needs glibc 2.28 or newer");
    CHECK(fix_of(kLibc, glibc("2.7.1", "2.17")) == "glibc 2.28, or torch 2.6.0");
    CHECK(message_of(kLibc, os("2.6.0", "alpine3.20")) ==
          "torch 2.6.0+cu124 does not install on alpine3.20: its wheels are for glibc, and Alpine Linux 3.20 "
          "has musl");
    CHECK(fix_of(kLibc, os("2.6.0", "alpine3.20")) == "os debian11");
}

TEST_CASE("wheel-runs-on-libc accepts what the tag allows") {
    for (const auto& words :
         {os("2.6.0", "ubuntu18.04"), os("2.6.0", "centos7"), os("2.7.1", "debian10"),
          os("2.7.1", "rockylinux8"), os("2.15.0", "ubuntu24.04"), os("2.15.0", "debian13"),
          glibc("2.7.1", "2.28"), glibc("2.5.1", "2.17"), os("none", "alpine3.20"), os("2.99.0", "centos7"),
          os("1.12.1+cu113", "ubuntu18.04"), os("2.5.1+cu121", "debian12"), os("2.14.1+cu126", "centos7")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kLibc, words).empty());
    }
    // glibc, where it is given, decides.
    CHECK(ask(kLibc, {{Field::torch, "2.7.1"}, {Field::os, "centos7"}, {Field::glibc, "2.34"}}).empty());
    CHECK(ask(kLibc, torch("2.6.0")).empty());
}

TEST_CASE("wheel-runs-on-libc does not guess") {
    CHECK(message_of(kLibc, os("2.7.1", "mageia99")) ==
          "no fact knows os mageia99: whether torch 2.7.1+cu126 installs there is unknown");
    CHECK(message_of(kLibc, os("2.7.1", "azl3")) ==
          "no fact knows the glibc of azl3: whether torch 2.7.1+cu126 installs there is unknown");
    CHECK(message_of(kLibc, os("2.9.0+cu129", "centos7")) == "(0 findings)");  // not described at all
    const auto facts =
        with_rows("torch_wheels",
                  {"id: torch-2.6.0+cu118-x86_64, torch: \"2.6.0\", variant: cu118, cuda: \"11.8\", arch: "
                   "x86_64, pythons: [\"3.12\"]"});
    CHECK(
        message_of(kLibc, glibc("2.6.0+cu118", "2.4"), facts) ==
        "no fact knows the glibc that torch 2.6.0+cu118 needs: whether it installs on glibc 2.4 is unknown");
    CHECK(ask(kLibc, glibc("2.6.0+cu118", "2.28"), facts).empty());
}

TEST_CASE("companions-match-torch rejects another torch's libraries") {
    CHECK(message_of(kCompanions, with("2.6.0", "torchvision=0.20.0")) ==
          "torchvision 0.20.0 needs torch 2.5.0, not torch 2.6.0: that goes with torchvision 0.21.0");
    CHECK(fix_of(kCompanions, with("2.6.0", "torchvision=0.20.0")) == "torchvision 0.21.0, or torch 2.5.0");
    CHECK(
        message_of(kCompanions, with("1.9.0", "torchvision=0.29.1")) ==
        "torchvision 0.29.1 needs torch 2.14.0 or newer, not torch 1.9.0: that goes with torchvision 0.10.0");
    CHECK(verdict_of(kCompanions, with("2.0.1", "torchaudio=2.0.1")) == Verdict::rejected);
    CHECK(fix_of(kCompanions, with("2.0.1", "numpy=1.26.4,torchaudio=2.0.1")) ==
          "torchaudio 2.0.2, or torch 2.0.0");
    const auto both = ask(kCompanions, with("2.6.0", "torchvision=0.20.0,torchaudio=2.5.0"));
    REQUIRE(both.size() == 2);
    CHECK(both[1].message ==
          "torchaudio 2.5.0 needs torch 2.5.0, not torch 2.6.0: that goes with torchaudio 2.6.0");
    CHECK(fix_of(kCompanions, with("1.8.2+cu111", "torchvision=0.10.0")) ==
          "torchvision 0.9.2, or torch 1.9.0+cu111");
    CHECK(message_of(kCompanions, with("2.8.0", "torchtext=0.17.2")) ==
          "torchtext 0.17.2 needs torch 2.2.2, not torch 2.8.0: that goes with torchtext 0.18.0");
}

TEST_CASE("companions-match-torch rejects mixed CUDA builds") {
    CHECK(message_of(kCompanions, with("2.6.0+cu124", "torchvision=0.21.0+cu118")) ==
          "torchvision 0.21.0+cu118 is built for cu118, torch 2.6.0+cu124 for cu124: the two must be built "
          "for the same");
    CHECK(fix_of(kCompanions, with("2.6.0+cu124", "torchvision=0.21.0+cu118")) ==
          "torchvision 0.21.0+cu124, or torch 2.6.0+cu118");
    CHECK(verdict_of(kCompanions, with("2.6.0", "torchaudio=2.6.0+cpu")) == Verdict::rejected);
    CHECK(fix_of(kCompanions, with("2.6.0+cu124", "torchvision=0.20.0+cu124")) ==
          "torchvision 0.21.0+cu124, or torch 2.5.0+cu124");
}

TEST_CASE("companions-match-torch accepts the partners") {
    for (const auto& words :
         {with("2.6.0", "torchvision=0.21.0"), with("2.6.0+cu124", "torchvision=0.21.0+cu124"),
          with("2.6", "torchvision=0.21.0,torchaudio=2.6.0"), with("2.12.0", "torchaudio=2.11.0"),
          with("2.11.0", "torchaudio=2.11.0"), with("2.15.0", "torchvision=0.29.2"),
          with("1.12.1", "torchvision=0.13.1"), with("2.8.0", "torchtext=0.18.0"),
          with("2.6.0", "torchdata=0.11.0"), with("2.0.0", "torchaudio=2.0.1"), with("2.6.0", "numpy=2.1.0"),
          with("none", "torchvision=0.21.0"), with("2.6.0+cu127", "torchvision=0.20.0"),
          with("2.99.0", "torchvision=0.21.0"), with("2.6.0+cu126", "torchvision=0.21")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kCompanions, words).empty());
    }
    CHECK(ask(kCompanions, torch("2.6.0")).empty());
}

TEST_CASE("companions-match-torch does not guess") {
    CHECK(message_of(kCompanions, with("2.6.0", "torchvision=0.99.0")) ==
          "no fact knows torchvision 0.99.0 (torch 2.6.0 goes with 0.21.0): whether it goes with torch 2.6.0 "
          "is "
          "unknown");
    CHECK(fix_of(kCompanions, with("2.6.0", "torchvision=0.99.0")) == "torchvision 0.21.0 (then accepted)");
    CHECK(message_of(kCompanions, with("1.8.1", "torchtext=0.6.0")) ==
          "torchtext 0.6.0 demands no torch and was built for 1.5.0, 1.5.1: whether it goes with torch 1.8.1 "
          "is unknown");
    CHECK(message_of(kCompanions, with("2.6.0", "torchaudio=2.11.0")) ==
          "torchaudio 2.11.0 demands no torch and was built for 2.11.0: whether it goes with torch 2.6.0 is "
          "unknown");
}

// Every companion against every release, from the rows with plain comparisons.
TEST_CASE("companions-match-torch agrees with a truth table") {
    const auto facts = Facts::embedded();
    std::size_t compared = 0, disagreements = 0;
    for (const auto& release : facts.table("torch_releases")->rows) {
        if (!release.has("default_variant")) continue;
        const auto torch_version = *Version::parse(release.text("torch"));
        for (const auto& row : facts.table("torch_companions")->rows) {
            auto expected = Verdict::accepted;
            if (row.has("torch") && row.text("torch") != release.text("torch")) expected = Verdict::rejected;
            if (row.has("torch_min") && torch_version < *Version::parse(row.text("torch_min")))
                expected = Verdict::rejected;
            if (const auto made_for = row.list("built_for"); !made_for.empty()) {
                const bool newer =
                    row.has("works_with_newer") && torch_version > *Version::parse(made_for.back());
                if (!newer &&
                    std::find(made_for.begin(), made_for.end(), release.text("torch")) == made_for.end())
                    expected = Verdict::unknown;
            }
            const auto packages = fmt::format("{}={}", row.text("package"), row.text("version"));
            ++compared;
            if (verdict_of(kCompanions, with(std::string(release.text("torch")), packages)) == expected)
                continue;
            ++disagreements;
            MESSAGE(fmt::format("torch {} {}", release.text("torch"), packages));
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared > 6000);
    CHECK(disagreements == 0);
}
