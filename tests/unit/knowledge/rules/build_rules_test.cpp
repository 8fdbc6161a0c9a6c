// The rules of the build stage: cuda-supports-compute and compiler-supported-by-cuda.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "base/text.hpp"
#include "base/version.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kCompute = "cuda-supports-compute";
constexpr std::string_view kCompiler = "compiler-supported-by-cuda";

Words compute(std::string cuda, std::string cc) {
    return {{Field::cuda, cuda}, {Field::compute, cc}};
}
Words compiler(std::string cuda, std::string name) {
    return {{Field::cuda, cuda}, {Field::compiler, name}};
}

}  // namespace

TEST_CASE("cuda-supports-compute rejects targets that nvcc lacks") {
    CHECK(message_of(kCompute, {{Field::cuda, "11.2.2"}, {Field::gpu, "H100"}}) ==
          "nvcc of CUDA 11.2.2 cannot compile for H100 (compute 9.0): its highest target is 8.6");
    CHECK(fix_of(kCompute, compute("11.2.2", "9.0")) == "cuda 11.8.0");
    CHECK(message_of(kCompute, compute("13.0.2", "7.0")) ==
          "nvcc of CUDA 13.0.2 cannot compile for compute 7.0: its lowest target is 7.5");
    CHECK(fix_of(kCompute, compute("13.0.2", "7.0")) == "cuda 12.9.2");
    CHECK(verdict_of(kCompute, compute("12.6", "12.0")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, compute("11.8.0", "9.0a")) == Verdict::rejected);
    CHECK(fix_of(kCompute, compute("12.8.1", "12.0f")) == "cuda 12.9.0");
    CHECK(verdict_of(kCompute, compute("12.4.1", "3.7")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, compute("12.8.1", "11.0")) == Verdict::rejected);
}

TEST_CASE("cuda-supports-compute accepts its targets") {
    for (const auto& words : {compute("11.2.2", "8.6"), compute("11.8.0", "9.0"), compute("11.8.0", "3.7"),
                              compute("12.0.1", "9.0a"), compute("12.4.1", "5.0"), compute("12.8.1", "12.0"),
                              compute("12.9.1", "12.0f"), compute("13.0.2", "7.5"), compute("13.0.2", "11.0"),
                              compute("12.9", "7.0"), compute("13.5", "10.7"), compute("8.0", "6.0")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kCompute, words).empty());
    }
}

TEST_CASE("cuda-supports-compute degrades to the SASS of a lower minor") {
    CHECK(message_of(kCompute, {{Field::cuda, "11.4.4"}, {Field::gpu, "RTX 4090"}}) ==
          "nvcc of CUDA 11.4.4 has no target for RTX 4090 (compute 8.9): code for 8.6 runs there, without "
          "what is new in 8.9");
    CHECK(fix_of(kCompute, compute("11.4.4", "8.9")) == "cuda 11.8.0");
    CHECK(verdict_of(kCompute, compute("12.8.1", "12.1")) == Verdict::degraded);
    CHECK(message_of(kCompute, compute("12.8.1", "8.8")) ==
          "nvcc of CUDA 12.8.1 has no target for compute 8.8: code for 8.6 runs there, without what is new "
          "in 8.8");
    CHECK(verdict_of(kCompute, compute("11.1.1", "8.7")) ==
          Verdict::rejected);  // Orin takes no SASS but its own
}

TEST_CASE("cuda-supports-compute degrades to PTX where the cell asks for it or compiles nothing") {
    const auto with = [](std::string cuda, std::string gpu, Field field, std::string value) {
        return Words{{Field::cuda, cuda}, {Field::gpu, gpu}, {field, value}};
    };
    CHECK(message_of(kCompute, with("11.7.1", "H100", Field::arch_list, "8.0+PTX")) ==
          "nvcc of CUDA 11.7.1 has no target for H100 (compute 9.0): what 8.0+PTX of arch_list 8.0+PTX makes "
          "runs there, compiled by the driver when it is first loaded");
    CHECK(fix_of(kCompute, with("11.7.1", "H100", Field::arch_list, "8.0+PTX")) == "cuda 11.8.0");
    CHECK(verdict_of(kCompute, with("12.4.1", "RTX 5090", Field::arch_list, "8.0;9.0+PTX")) ==
          Verdict::degraded);
    CHECK(
        message_of(kCompute, with("12.4.1", "RTX 5090", Field::env, "TORCH_CUDA_ARCH_LIST=9.0+PTX")) ==
        "nvcc of CUDA 12.4.1 has no target for RTX 5090 (compute 12.0): what 9.0+PTX of TORCH_CUDA_ARCH_LIST "
        "9.0+PTX makes runs there, compiled by the driver when it is first loaded");
    CHECK(message_of(kCompute, with("12.4.1", "RTX 5090", Field::uses, "ptx-only")) ==
          "nvcc of CUDA 12.4.1 has no target for RTX 5090 (compute 12.0): code that is PTX only, of 9.0 at "
          "most, runs there, compiled by the driver when it is first loaded");
    CHECK(message_of(kCompute, with("12.4.1", "RTX 5090", Field::flavour, "runtime")) ==
          "nvcc of CUDA 12.4.1 has no target for RTX 5090 (compute 12.0): a runtime image compiles nothing, "
          "and what that nvcc made runs there as PTX of 9.0 at most, compiled by the driver when it is first "
          "loaded");
    CHECK(verdict_of(kCompute, with("11.2.2", "H100", Field::flavour, "base")) == Verdict::degraded);
    // Names are torch's.
    auto named = with("11.7.1", "H100", Field::arch_list, "Ampere");
    CHECK(verdict_of(kCompute, named) == Verdict::rejected);
    named.emplace_back(Field::torch, "2.0.1+cu117");
    CHECK(verdict_of(kCompute, named) == Verdict::degraded);
}

TEST_CASE("cuda-supports-compute rejects where no PTX of the toolkit can help") {
    const auto with = [](std::string cuda, std::string gpu, Field field, std::string value) {
        return Words{{Field::cuda, cuda}, {Field::gpu, gpu}, {field, value}};
    };
    // No PTX in the list, PTX that nvcc cannot make, PTX for newer GPUs, code that somebody compiles.
    CHECK(verdict_of(kCompute, with("11.7.1", "H100", Field::arch_list, "8.0;8.6")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("11.7.1", "H100", Field::arch_list, "9.0+PTX")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("13.0.2", "V100", Field::arch_list, "7.5+PTX")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("13.0.2", "V100", Field::uses, "ptx-only")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("12.4.1", "RTX 5090", Field::uses, "THC")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("12.4.1", "RTX 5090", Field::flavour, "devel")) == Verdict::rejected);
    CHECK(verdict_of(kCompute, with("12.4.1", "RTX 5090", Field::env, "HF_HOME=/cache")) ==
          Verdict::rejected);
    auto compiles = with("12.4.1", "RTX 5090", Field::flavour, "runtime");
    compiles.emplace_back(Field::compiler, "gcc-11");
    CHECK(verdict_of(kCompute, compiles) == Verdict::rejected);
    CHECK(verdict_of(kCompute,
                     {{Field::cuda, "11.7.1"}, {Field::compute, "9.0a"}, {Field::uses, "ptx-only"}}) ==
          Verdict::rejected);
    CHECK(message_of(kCompute, with("13.0.2", "V100", Field::flavour, "runtime")) ==
          "nvcc of CUDA 13.0.2 cannot compile for V100 (compute 7.0): its lowest target is 7.5; a runtime "
          "image "
          "compiles nothing, but the suite that proves it could not run either");
}

TEST_CASE("cuda-supports-compute does not guess") {
    CHECK(verdict_of(kCompute, compute("12.99", "8.0")) == Verdict::unknown);
    CHECK(verdict_of(kCompute, compute("12.4.1", "42.0")) == Verdict::unknown);
    CHECK(verdict_of(kCompute, {{Field::cuda, "12.4.1"}, {Field::gpu, "Voodoo 2"}}) == Verdict::unknown);
    CHECK(ask(kCompute, {{Field::cuda, "12.4.1"}}).empty());
}

// An independent table, by hand: the first and the last minor of nvcc for each capability.
TEST_CASE("cuda-supports-compute agrees with a truth table over all releases and capabilities") {
    struct Range {
        const char* compute;
        int first, last;
        const char* lower;  // a capability whose SASS it takes as well
    };
    constexpr Range ranges[] = {
        {"3.5", 80, 118, nullptr},   {"3.7", 80, 118, "3.5"},    {"5.0", 80, 129, nullptr},
        {"5.2", 80, 129, "5.0"},     {"6.0", 80, 129, nullptr},  {"6.1", 80, 129, "6.0"},
        {"7.0", 90, 129, nullptr},   {"7.5", 100, 999, "7.0"},   {"8.0", 110, 999, nullptr},
        {"8.6", 111, 999, "8.0"},    {"8.9", 118, 999, "8.6"},   {"9.0", 118, 999, nullptr},
        {"10.0", 128, 999, nullptr}, {"10.3", 129, 999, "10.0"}, {"12.0", 128, 999, nullptr},
        {"12.1", 129, 999, "12.0"}};
    std::map<std::string, Range> by_compute;
    for (const auto& range : ranges)
        by_compute.emplace(range.compute, range);
    const auto has = [&](const Range& range, int minor) {
        return minor >= range.first && minor <= range.last;
    };
    std::size_t compared = 0, disagreements = 0;
    for (const auto& release : Facts::embedded().table("cuda_releases")->rows) {
        const auto version = *Version::parse(release.text("cuda"));
        const int minor = static_cast<int>(10 * version.major() + version.minor());
        for (const auto& range : ranges) {
            auto expected = has(range, minor) ? Verdict::accepted : Verdict::rejected;
            for (const char* lower = range.lower; expected == Verdict::rejected && lower != nullptr;) {
                const auto& below = by_compute.at(lower);
                if (has(below, minor)) expected = Verdict::degraded;
                lower = below.lower;
            }
            const auto actual = verdict_of(kCompute, compute(version.text(), range.compute));
            ++compared;
            if (actual == expected) continue;
            ++disagreements;
            MESSAGE(fmt::format("CUDA {} compute {}: {} instead of {}", version.text(), range.compute,
                                to_string(actual), to_string(expected)));
        }
    }
    MESSAGE(fmt::format("{} combinations, {} disagreements", compared, disagreements));
    CHECK(compared > 1000);
    CHECK(disagreements == 0);
}

TEST_CASE("compiler-supported-by-cuda rejects what nvcc refuses") {
    CHECK(message_of(kCompiler, compiler("12.4.1", "gcc-14")) ==
          "nvcc of CUDA 12.4.1 refuses gcc-14: gcc 13 is the newest that it takes");
    CHECK(fix_of(kCompiler, compiler("12.4.1", "gcc-14")) == "compiler gcc-13, or cuda 12.8.0");
    CHECK(message_of(kCompiler, compiler("11.8", "gcc-4.9")) ==
          "nvcc of CUDA 11.8.0 refuses gcc-4.9: gcc 6 is the oldest that it takes");
    CHECK(verdict_of(kCompiler, compiler("12.1.1", "clang-18.1.3")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, compiler("13.0.2", "gcc-16")) == Verdict::rejected);
}

TEST_CASE("compiler-supported-by-cuda accepts the others") {
    for (const auto& words :
         {compiler("12.4.1", "gcc-13"), compiler("12.4.1", "gcc-13.2.0"), compiler("11.8.0", "gcc-11"),
          compiler("12.8.1", "gcc-14"), compiler("13.0", "gcc-15"), compiler("12.1.1", "clang-15"),
          compiler("11.2.2", "gcc-9.4"), compiler("13.4.3", "gcc-16"), compiler("10.2", "gcc-8")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kCompiler, words).empty());
    }
}

TEST_CASE("compiler-supported-by-cuda: an update that took less than the newest of its minor") {
    CHECK(message_of(kCompiler, compiler("12.2.0", "clang-16")) ==
          "nvcc of CUDA 12.2.0 refuses clang-16: clang 15 is the newest that it takes");
    CHECK(fix_of(kCompiler, compiler("12.2.0", "clang-16")) == "compiler clang-15, or cuda 12.2.1");
    CHECK(verdict_of(kCompiler, compiler("12.2", "clang-16")) == Verdict::accepted);
    CHECK(message_of(kCompiler, compiler("11.4.0", "gcc-11.1")) ==
          "nvcc of CUDA 11.4.0 refuses gcc-11.1: gcc 10 is the newest that it takes");
    CHECK(verdict_of(kCompiler, compiler("11.4.1", "gcc-11.1")) == Verdict::accepted);
    CHECK(verdict_of(kCompiler, compiler("11.1.0", "clang-11")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, compiler("8.0.44", "gcc-5.4")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, compiler("8.0.61", "gcc-5.4")) == Verdict::accepted);
}

TEST_CASE("compiler-supported-by-cuda: the lower end") {
    CHECK(message_of(kCompiler, compiler("13.4.3", "clang-6")) ==
          "nvcc of CUDA 13.4.3 refuses clang-6: clang 7 is the oldest that it takes");
    CHECK(verdict_of(kCompiler, compiler("10.2", "gcc-3")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, compiler("10.2", "gcc-4.8")) == Verdict::accepted);
    // Without one, only the newest is known to work.
    const auto facts =
        with_rows("cuda_toolkits", {"id: cuda-toolkit-13.5, cuda: \"13.5\", newest: \"13.5.0\", ptx_isa: "
                                    "\"9.5\", targets: [\"9.0\"], gcc_max: 16"});
    CHECK(verdict_of(kCompiler, compiler("13.5.0", "gcc-16"), facts) == Verdict::accepted);
    CHECK(verdict_of(kCompiler, compiler("13.5.0", "gcc-17"), facts) == Verdict::rejected);
    CHECK(message_of(kCompiler, compiler("13.5.0", "gcc-13"), facts) ==
          "no fact gives the oldest gcc that nvcc of CUDA 13.5.0 takes: whether nvcc of CUDA 13.5.0 takes "
          "gcc-13 "
          "is unknown");
}

TEST_CASE("compiler-supported-by-cuda does not guess") {
    CHECK(verdict_of(kCompiler, compiler("12.4.1", "icc-2021")) == Verdict::unknown);
    CHECK(verdict_of(kCompiler, compiler("12.4.1", "gcc")) == Verdict::unknown);
    CHECK(verdict_of(kCompiler, compiler("12.99", "gcc-12")) == Verdict::unknown);
    CHECK(message_of(kCompiler, compiler("8.0", "clang-3")) ==
          "clang-3 may be outside of what nvcc of CUDA 8.0.61 takes: 3.8 to 3.9: whether nvcc of CUDA 8.0 "
          "takes "
          "clang-3 is unknown");
    CHECK(ask(kCompiler, {{Field::cuda, "12.4.1"}}).empty());
}
