// Memory, MIG and releases with a known defect.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "fatbin/cover.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kMemory = "vram-floor";
constexpr std::string_view kMig = "mig-one-device";
constexpr std::string_view kDefect = "known-defect";

Words needs(std::string gpu, std::string gb, std::string mig = "") {
    Words words{{Field::gpu, gpu}, {Field::vram_gb, gb}};
    if (!mig.empty()) words.emplace_back(Field::mig, mig);
    return words;
}
Words mig(std::string gpu, std::string count) {
    return {{Field::gpu, gpu}, {Field::mig, count}};
}

}  // namespace

TEST_CASE("vram-floor rejects what fits into no size of the card") {
    CHECK(message_of(kMemory, needs("T4", "24")) ==
          "T4 has 16 GB of memory: 24 GB do not fit (CUDA out of memory)");
    CHECK(fix_of(kMemory, needs("T4", "24")) == "vram_gb 16");
    CHECK(message_of(kMemory, needs("V100", "40")) ==
          "V100 has 32 GB at most of memory: 40 GB do not fit (CUDA out of memory)");
    CHECK(verdict_of(kMemory, needs("V100 16GB", "24")) == Verdict::rejected);
    CHECK(verdict_of(kMemory, needs("Tesla V100-SXM2-16GB", "24")) == Verdict::rejected);
    CHECK(verdict_of(kMemory, needs("A100 40GB", "80", "1")) == Verdict::rejected);
}

TEST_CASE("vram-floor names what fits only into some") {
    CHECK(message_of(kMemory, needs("V100", "24")) ==
          "V100 is sold with 16 GB to 32 GB of memory: 24 GB fit only into some");
    CHECK(fix_of(kMemory, needs("V100", "24")) == "vram_gb 16");
    CHECK(message_of(kMemory, needs("A100 80GB", "40", "1")) ==
          "40 GB need a MIG device of that size: those of A100 80GB have between 10 GB and 80 GB");
    CHECK(fix_of(kMemory, needs("A100 80GB", "40", "true")) == "vram_gb 10");
    CHECK(message_of(kMemory, needs("H100", "10", "1")) ==
          "10 GB need a MIG device of that size: those of H100 have 80 GB at most, and most of them less");
}

TEST_CASE("vram-floor accepts what fits") {
    for (const auto& words :
         {needs("T4", "16"), needs("L4", "24"), needs("V100", "16"), needs("V100 32GB", "32"),
          needs("Tesla V100-PCIE-32GB", "24"), needs("A100", "40"), needs("A100 80GB", "80"),
          needs("A100 80GB", "10", "1"), needs("A30", "6", "true"), needs("RTX 4090", "24"),
          needs("T4", "16", "1"), needs("H20", "96")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kMemory, words).empty());
    }
}

TEST_CASE("vram-floor does not guess") {
    CHECK(message_of(kMemory, needs("RTX 9090", "24")) ==
          "no fact knows gpu RTX 9090: whether 24 GB fit is unknown");
    CHECK(message_of(kMemory, needs("GH200", "90")) ==
          "no fact gives the memory of GH200: whether 90 GB fit is unknown");
    CHECK(verdict_of(kMemory, needs("GH200 480GB", "90")) ==
          Verdict::unknown);  // that number is the CPU's memory
    CHECK(ask(kMemory, {{Field::gpu, "T4"}}).empty());
    const auto facts = with_rows("gpus", {"id: gpu-x1, name: \"X1\", aliases: [], compute: \"9.0\", class: "
                                          "\"datacenter\", memory_gb: [64], confidence: unverified"});
    CHECK(verdict_of(kMemory, needs("X1", "64"), facts) == Verdict::unknown);
}

TEST_CASE("mig-one-device: a process uses one, and most GPUs have none") {
    CHECK(message_of(kMig, mig("A100 80GB", "3")) ==
          "a CUDA process uses one MIG device: of the 3 given to it the others stay unused, and it counts "
          "one GPU");
    CHECK(fix_of(kMig, mig("A100 80GB", "3")) == "mig 1 and one process for each device");
    CHECK(verdict_of(kMig, mig("A100 80GB", "3")) == Verdict::degraded);
    CHECK(verdict_of(kMig, {{Field::mig, "2"}}) == Verdict::degraded);
    CHECK(message_of(kMig, mig("T4", "1")) == "T4 has no MIG: it cannot be given as MIG devices");
    CHECK(fix_of(kMig, mig("T4", "1")) == "gpu A30");
    CHECK(fix_of(kMig, mig("T4", "7")) == "gpu A100");
    CHECK(fix_of(kMig, mig("RTX A6000", "2")) == "gpu RTX PRO 4500 Blackwell");
    CHECK(fix_of(kMig, mig("RTX 4090", "1")) == "gpu A30");
    for (const auto* gpu : {"RTX 4090", "V100", "L4", "A10G", "RTX A6000", "RTX 5090", "L40S"}) {
        CAPTURE(gpu);
        CHECK(verdict_of(kMig, mig(gpu, "2")) == Verdict::rejected);
    }
    CHECK(message_of(kMig, mig("A30", "7")) == "A30 can be cut into 4 MIG devices at most: there are no 7");
}

TEST_CASE("mig-one-device accepts one device of the GPUs that have MIG") {
    for (const auto* gpu :
         {"A100", "A100 40GB", "A100 80GB", "A30", "H100", "H100 PCIe", "H100 NVL", "H200", "B200", "GB200",
          "B300", "RTX PRO 6000 Blackwell", "RTX PRO 6000 Blackwell Server Edition", "RTX PRO 5000 Blackwell",
          "RTX PRO 4500 Blackwell", "H20", "GH200"}) {
        CAPTURE(gpu);
        CHECK(ask(kMig, mig(gpu, "1")).empty());
        CHECK(ask(kMig, mig(gpu, "true")).empty());
    }
    CHECK(ask(kMig, mig("T4", "0")).empty());
    CHECK(ask(kMig, {{Field::mig, "1"}}).empty());
}

TEST_CASE("mig-one-device does not guess") {
    CHECK(message_of(kMig, mig("RTX 9090", "1")) ==
          "no fact knows gpu RTX 9090: whether it has MIG is unknown");
    CHECK(
        message_of(kMig, mig("B100", "1")) ==
        "the facts have no MIG for B100, and MIG for every other GPU of compute 10.0: whether it has MIG is "
        "unknown");
    CHECK(ask(kMig, mig("A100", "some")).empty());  // the reader lets numbers through only
}

TEST_CASE("known-defect names releases that compute wrong results") {
    CHECK(message_of(kDefect, {{Field::cuda, "13.2.1"}, {Field::gpu, "B200"}}) ==
          "CUDA 13.2.1 has a known defect on compute 10.0, 10.3, 11.0, 12.0, 12.1: cublasLtMatmul may ignore "
          "the "
          "tensor-wide scaling of NVFP4 matrices and give wrong results; repaired in 13.2.2");
    CHECK(fix_of(kDefect, {{Field::cuda, "13.2.1"}, {Field::gpu, "B200"}}) == "cuda 13.2.2");
    CHECK(message_of(kDefect, {{Field::cuda, "12.8.1"}, {Field::gpu, "B200"}}) ==
          "CUDA 12.8.1 has a known defect on compute 10.0, 10.1: cublasLtMatmul may give wrong results while "
          "another "
          "kernel uses Tensor Memory");
    // Limited to some hardware, and whether the cell has it is open: said, not held against it.
    for (const auto& words :
         {Words{{Field::cuda, "13.2.1"}}, Words{{Field::cuda, "13.2.1"}, {Field::gpu, "RTX 9090"}}}) {
        const auto findings = ask(kDefect, words);
        REQUIRE(findings.size() == 1);
        CHECK(findings[0].severity == Severity::note);
    }
    CHECK(verdict_of(kDefect, {{Field::cuda, "13.0.2"}, {Field::compute, "10.3"}}) == Verdict::degraded);
    const auto facts = with_rows(
        "known_defects", {"id: defect-x, first: \"12.4.0\", last: \"12.4.1\", what: \"sums are wrong\""});
    CHECK(message_of(kDefect, {{Field::cuda, "12.4"}}, facts) ==
          "CUDA 12.4.1 has a known defect: sums are wrong");
}

TEST_CASE("known-defect accepts other releases and other hardware") {
    for (const auto& words :
         {Words{{Field::cuda, "13.2.2"}, {Field::gpu, "B200"}},
          Words{{Field::cuda, "13.2.0"}, {Field::gpu, "B200"}},
          Words{{Field::cuda, "13.2.1"}, {Field::gpu, "H100"}},
          Words{{Field::cuda, "13.0.2"}, {Field::gpu, "RTX 5090"}},
          Words{{Field::cuda, "13.0.3"}, {Field::gpu, "B200"}}, Words{{Field::cuda, "12.4.1"}}}) {
        CAPTURE(words[0].second);
        CHECK(ask(kDefect, words).empty());
    }
    CHECK(ask(kDefect, {{Field::cuda, "12.7"}}).empty());  // the rules that need it say that no fact knows it
    const auto facts = with_rows("known_defects", {"id: defect-x, first: \"12.4.0\", last: \"12.4.1\", what: "
                                                   "\"sums are wrong\", confidence: unverified"});
    CHECK(message_of(kDefect, {{Field::cuda, "12.4.1"}}, facts) ==
          "CUDA 12.4.1 has a known defect: sums are wrong; this rests on the unverified fact defect-x: would "
          "be "
          "degraded");
}

TEST_CASE("the suite takes for integrated what the facts say is") {
    const auto facts = Facts::embedded();
    std::size_t integrated = 0;
    for (const auto& row : facts.rows("architectures")) {
        for (const auto compute : row.list("compute")) {
            const auto version = *Version::parse(compute);
            const fatbin::Arch arch{static_cast<int>(version.part(0)), static_cast<int>(version.part(1))};
            CHECK_MESSAGE(fatbin::is_tegra(arch) == (row.text("integrated") == "true"), compute);
            if (fatbin::is_tegra(arch)) ++integrated;
        }
    }
    CHECK(integrated == 7);
}
