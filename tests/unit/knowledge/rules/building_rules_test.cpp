// The rules about building against the toolkit and torch: host compilers, the C library, interfaces.
#include <doctest/doctest.h>

#include <string>

#include "base/text.hpp"
#include "knowledge/resolve/building.hpp"
#include "own_facts.hpp"
#include "rule_check.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

namespace {

constexpr std::string_view kBroken = "compiler-known-broken";
constexpr std::string_view kGlibc = "glibc-supported-by-cuda";
constexpr std::string_view kMajors = "toolkit-matches-torch-cuda";
constexpr std::string_view kCompiler = "torch-takes-compiler";
constexpr std::string_view kApis = "apis-available";

Words compiler(std::string cuda, std::string name) {
    return {{Field::cuda, cuda}, {Field::compiler, name}};
}
Words glibc(std::string cuda, std::string version) {
    return {{Field::cuda, cuda}, {Field::glibc, version}};
}
Words on(std::string cuda, std::string os) {
    return {{Field::cuda, cuda}, {Field::os, os}};
}
Words both(std::string cuda, std::string torch) {
    return {{Field::cuda, cuda}, {Field::torch, torch}, {Field::flavour, "devel"}};
}
Words against(std::string torch, std::string name) {
    return {{Field::torch, torch}, {Field::compiler, name}};
}
Words uses(Field field, std::string value, std::string words) {
    return {{field, value}, {Field::uses, words}};
}

}  // namespace

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

TEST_CASE("compiler-known-broken rejects what nvcc takes and fails with") {
    CHECK(
        message_of(kBroken, compiler("11.5.2", "gcc-11.4")) ==
        "nvcc of CUDA 11.5.2 takes gcc-11.4 and fails with it: std_function.h: parameter packs not expanded "
        "with '...'");
    CHECK(fix_of(kBroken, compiler("11.5.2", "gcc-11.4")) == "compiler gcc-10, or cuda 11.7.0");
    CHECK(verdict_of(kBroken, compiler("11.6.0", "gcc-11.3.0")) == Verdict::rejected);
    CHECK(verdict_of(kBroken,
                     {{Field::cuda, "12.4.1"}, {Field::compiler, "gcc-13.2.0"}, {Field::arch, "aarch64"}}) ==
          Verdict::rejected);
}

TEST_CASE("compiler-known-broken warns where a part is hit") {
    CHECK(
        message_of(kBroken, compiler("11.5.2", "gcc-11")) ==
        "nvcc of CUDA 11.5.2 takes gcc-11 and fails with gcc 11.3 and newer ones: std_function.h: parameter "
        "packs not "
        "expanded with '...'");
    CHECK(verdict_of(kBroken, compiler("11.5.2", "gcc-11")) == Verdict::degraded);
    CHECK(verdict_of(kBroken, compiler("11.4.4", "gcc-11")) == Verdict::degraded);
    CHECK(verdict_of(kBroken, compiler("11.4.4", "gcc-11.3")) == Verdict::rejected);
    CHECK(
        message_of(kBroken, compiler("12.4.1", "gcc-13.3")) ==
        "nvcc of CUDA 12.4.1 takes gcc-13.3, but code that includes one header fails: avx512bf16vlintrin.h: "
        "identifier \"__builtin_ia32_cvtne2ps2bf16_v16hi\" is undefined");
    CHECK(verdict_of(kBroken, compiler("12.4.1", "gcc-12.4.0")) == Verdict::degraded);
}

TEST_CASE("compiler-known-broken accepts the others") {
    for (const auto& words :
         {compiler("11.8.0", "gcc-11.4"), compiler("11.7.1", "gcc-11"), compiler("11.5.2", "gcc-11.2"),
          compiler("11.5.2", "gcc-10"), compiler("12.4.1", "gcc-13"), compiler("12.4.1", "gcc-13.2.0"),
          compiler("12.4.1", "gcc-12"), compiler("12.6.3", "gcc-13.3"), compiler("12.4.1", "clang-17"),
          compiler("11.4.4", "gcc-11.2"), compiler("11.5.2", "icc-1"), compiler("77.1", "gcc-11.4")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kBroken, words).empty());
    }
}

TEST_CASE("compiler-known-broken says when it is not sure") {
    CHECK(
        message_of(kBroken, compiler("11.6.2", "gcc-11.4")) ==
        "nvcc of CUDA 11.6.2 takes gcc-11.4 and fails with it: std_function.h: parameter packs not expanded "
        "with '...'; this rests on the unverified fact defect-gcc-11.3-cuda-11.6.1: would be rejected");
    CHECK(verdict_of(kBroken, compiler("11.6.1", "gcc-11.3")) == Verdict::unknown);
    // A bare major is no surer than its releases are.
    CHECK(message_of(kBroken, compiler("11.6.2", "gcc-11")) ==
          "nvcc of CUDA 11.6.2 takes gcc-11 and fails with gcc 11.3 and newer ones: std_function.h: "
          "parameter packs not expanded with '...'; this rests on the unverified fact "
          "defect-gcc-11.3-cuda-11.6.1: would be degraded");
    CHECK(ask(kBroken, compiler("11.6.2", "gcc-11.2")).empty());
}

TEST_CASE("glibc-supported-by-cuda rejects C libraries that the headers do not know") {
    CHECK(message_of(kGlibc, glibc("12.8.1", "2.41")) ==
          "the headers of CUDA 12.8.1 do not compile with glibc 2.41: both declare cospi, one with noexcept; "
          "glibc 2.40 is "
          "the newest that works");
    CHECK(fix_of(kGlibc, glibc("12.8.1", "2.41")) == "cuda 13.0.0, or glibc 2.40");
    CHECK(fix_of(kGlibc, glibc("13.1.1", "2.42")) == "cuda 13.2.0, or glibc 2.41");
    CHECK(
        message_of(kGlibc, on("12.6.3", "debian13")) ==
        "the headers of CUDA 12.6.3 do not compile with glibc 2.41 of debian13: both declare cospi, one with "
        "noexcept; "
        "glibc 2.40 is the newest that works");
    CHECK(verdict_of(kGlibc, glibc("11.4.4", "2.43")) == Verdict::rejected);
    CHECK(verdict_of(kGlibc, glibc("12.4.1", "2.41")) == Verdict::rejected);
}

TEST_CASE("glibc-supported-by-cuda knows the types of glibc 2.38 on aarch64") {
    const auto on = [](std::string cuda, std::string os, Field field, std::string value) {
        return Words{{Field::cuda, cuda}, {Field::os, os}, {field, value}};
    };
    CHECK(message_of(kGlibc, on("12.2.2", "ubuntu24.04", Field::arch, "aarch64")) ==
          "nvcc of CUDA 12.2.2 does not compile on aarch64 with glibc 2.39 of ubuntu24.04: its "
          "bits/math-vector.h names types that this nvcc does not know, __SVFloat32_t among them; glibc 2.37 "
          "is the newest that works");
    CHECK(fix_of(kGlibc, on("12.2.2", "ubuntu24.04", Field::arch, "aarch64")) == "cuda 12.5.0");
    CHECK(verdict_of(kGlibc, on("12.4.1", "ubuntu24.04", Field::gpu, "GH200")) == Verdict::rejected);
    CHECK(verdict_of(kGlibc, {{Field::cuda, "12.0.1"}, {Field::glibc, "2.38"}, {Field::arch, "aarch64"}}) ==
          Verdict::rejected);
    for (const auto& words :
         {on("12.2.2", "ubuntu24.04", Field::arch, "x86_64"), on("12.4.1", "ubuntu24.04", Field::gpu, "H100"),
          on("12.5.0", "ubuntu24.04", Field::arch, "aarch64"),
          on("12.4.1", "ubuntu22.04", Field::arch, "aarch64"),
          on("12.2.2", "ubuntu24.04", Field::flavour, "runtime"),
          Words{{Field::cuda, "12.0.1"}, {Field::glibc, "2.37"}, {Field::arch, "aarch64"}}}) {
        CAPTURE(words[0].second + " " + words[1].second + " " + words[2].second);
        CHECK(ask(kGlibc, words).empty());
    }
    // Its own toolkit was seen to compile with its own glibc, on x86_64.
    CHECK(message_of(kGlibc, on("12.4.1", "debian13", Field::arch, "aarch64")) ==
          "no fact says whether the toolkit of debian13 compiles on aarch64: whether the headers of CUDA "
          "12.4.1 compile with its C library is unknown");
    CHECK(verdict_of(kGlibc, on("12.2.2", "debian13", Field::arch, "aarch64")) == Verdict::rejected);
}

TEST_CASE("glibc-supported-by-cuda accepts the others") {
    for (const auto& words :
         {glibc("12.8.1", "2.40"), glibc("13.0.2", "2.41"), glibc("13.2.1", "2.42"), glibc("13.5", "2.43"),
          glibc("11.2.2", "2.31"), on("12.4.1", "ubuntu22.04"), on("13.0.2", "debian13"),
          on("12.9.1", "ubuntu24.04"), on("11.8.0", "debian12"), on("8.0", "ubuntu18.04")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kGlibc, words).empty());
    }
    const auto from = [](Field field, std::string text) {
        auto words = on("12.4.1", "debian13");
        words.emplace_back(field, std::move(text));
        return words;
    };
    CHECK(ask(kGlibc, from(Field::family, "debian")).empty());
    CHECK(ask(kGlibc, from(Field::cuda_from, "archive")).empty());
    CHECK(verdict_of(kGlibc, from(Field::cuda_from, "wheels")) == Verdict::rejected);
    CHECK(verdict_of(kGlibc, from(Field::family, "pytorch")) == Verdict::rejected);
    // What is rendered without a family takes the archive's.
    CHECK(verdict_of(kGlibc, on("12.4.1", "debian13")) == Verdict::accepted);
    CHECK(
        message_of(kGlibc, on("12.4.1", "debian13")) ==
        "CUDA 12.4.1 compiles with glibc 2.41 of debian13 where it is the archive's own, which is mended for "
        "it; NVIDIA's is not, and neither family nor cuda_from says which it is");
    auto runs = glibc("12.8.1", "2.41");
    runs.emplace_back(Field::flavour, "runtime");
    CHECK(ask(kGlibc, runs).empty());
}

TEST_CASE("glibc-supported-by-cuda does not guess") {
    CHECK(message_of(kGlibc, on("12.4.1", "azl3")) ==
          "no fact gives the glibc of azl3: whether the headers of CUDA 12.4.1 compile with its C "
          "library is unknown");
    CHECK(verdict_of(kGlibc, on("12.99", "debian12")) == Verdict::unknown);
    CHECK(verdict_of(kGlibc, on("12.4.1", "beos5")) == Verdict::unknown);
    const auto facts = with_rows(
        "cuda_toolkits", {"id: cuda-toolkit-14.0, cuda: \"14.0\", ptx_isa: \"10.0\", targets: [\"9.0\"]"});
    CHECK(verdict_of(kGlibc, glibc("14.0", "2.41"), facts) == Verdict::unknown);
}

TEST_CASE("toolkit-matches-torch-cuda rejects another major where extensions are built") {
    CHECK(message_of(kMajors, both("11.8.0", "2.6.0+cu124")) ==
          "torch 2.6.0+cu124 was built with CUDA 12.4 and nvcc of CUDA 11.8.0 is refused for its extensions: "
          "the majors "
          "differ");
    CHECK(fix_of(kMajors, both("11.8.0", "2.6.0+cu124")) == "cuda 12.4.1, or torch 2.6.0+cu118");
    CHECK(verdict_of(kMajors, both("13.0.2", "2.8.0")) == Verdict::rejected);
    CHECK(verdict_of(kMajors,
                     {{Field::cuda, "13.0.2"}, {Field::torch, "2.8.0"}, {Field::uses, "AT_ASSERTM"}}) ==
          Verdict::rejected);
    CHECK(
        verdict_of(kMajors, {{Field::cuda, "11.0.3"}, {Field::torch, "1.7.0"}, {Field::flavour, "devel"}}) ==
        Verdict::degraded);  // nothing compares the majors there
    CHECK(message_of(kMajors, {{Field::cuda, "11.8.0"}, {Field::torch, "2.6.0+cu124"}}) ==
          "torch 2.6.0+cu124 was built with CUDA 12.4 and nvcc of CUDA 11.8.0 is refused for its extensions: "
          "the majors "
          "differ; what the wheel holds runs all the same");
    CHECK(verdict_of(kMajors, {{Field::cuda, "11.8.0"}, {Field::torch, "2.6.0+cu124"}}) == Verdict::degraded);
}

TEST_CASE("toolkit-matches-torch-cuda accepts the others") {
    for (const auto& words :
         {both("12.6.3", "2.6.0+cu124"), both("11.7.1", "2.0.1+cu118"), both("12.4.1", "none"),
          both("13.2.0", "2.11.0"), both("12.4.1", "2.6.0+cpu"), both("12.4.1", "9.9.9"),
          both("77.1", "2.6.0+cu124"), both("12.4.1", "1.12.1+cu118")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kMajors, words).empty());
    }
    CHECK(ask(kMajors, {{Field::cuda, "11.8.0"}, {Field::torch, "2.6.0+cu124"}, {Field::flavour, "runtime"}})
              .empty());
}

TEST_CASE("torch-takes-compiler rejects compilers that its headers refuse") {
    CHECK(message_of(kCompiler, against("2.6.0+cu124", "gcc-7")) ==
          "extensions of torch 2.6.0+cu124 cannot be built with gcc-7: its headers need C++17, and that way "
          "gcc >= 9");
    CHECK(fix_of(kCompiler, against("2.6.0+cu124", "gcc-8.4")) == "compiler gcc-9, or torch 2.2.1+cu121");
    CHECK(verdict_of(kCompiler, against("2.14.0", "gcc-9")) == Verdict::rejected);
    CHECK(message_of(kCompiler, against("2.13.0", "gcc-9")) ==
          "cpp_extension of torch 2.13.0+cu130 passes -std=c++20, which gcc-9 does not know, to extensions "
          "that "
          "set no standard: gcc >= 10 does");
    CHECK(fix_of(kCompiler, against("2.13.0", "gcc-9")) == "compiler gcc-10, or torch 2.11.0");
    CHECK(verdict_of(kCompiler, against("2.13.0", "gcc-9")) == Verdict::degraded);
    CHECK(verdict_of(kCompiler, against("2.13.0", "gcc-8")) == Verdict::rejected);
    CHECK(fix_of(kBroken, compiler("11.5.2", "gcc-11")) == "compiler gcc-10, or cuda 11.7.0");
    CHECK(verdict_of(kCompiler, against("2.1.0", "gcc-6")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, against("1.12.1+cu116", "gcc-4.9")) == Verdict::rejected);
}

TEST_CASE("torch-takes-compiler: torch 1.12 and 1.13 compare to the patch level") {
    const auto with = [](std::string torch, std::string name, std::string cuda) {
        auto words = against(std::move(torch), std::move(name));
        words.emplace_back(Field::cuda, std::move(cuda));
        return words;
    };
    CHECK(message_of(kCompiler, with("1.13.1+cu117", "gcc-10.3", "11.3.1")) ==
          "torch 1.13.1+cu117 refuses gcc-10.3 with nvcc of CUDA 11.3.1: gcc 10.2.1 is the newest that it "
          "takes");
    CHECK(fix_of(kCompiler, with("1.13.1+cu117", "gcc-10.3", "11.3.1")) ==
          "compiler gcc-10.2, or torch 2.0.0+cu117, or torch 1.11.0+cu115");
    CHECK(verdict_of(kCompiler, with("1.12.1", "gcc-8", "10.2")) == Verdict::rejected);
    CHECK(verdict_of(kCompiler, with("1.12.1+cu113", "gcc-10", "11.3.1")) == Verdict::rejected);
    CHECK(message_of(kCompiler, with("1.13.1+cu117", "gcc-10", "11.3.1")) ==
          "torch 1.13.1+cu117 refuses some releases of gcc-10 with nvcc of CUDA 11.3.1: gcc 10.2.1 is the "
          "newest that it "
          "takes");
    for (const auto& words :
         {with("1.12.1+cu113", "gcc-9", "11.3.1"), with("1.13.1+cu117", "gcc-10.2", "11.3.1"),
          with("1.13.1+cu117", "gcc-11", "11.7.1"), with("1.12.1+cu116", "gcc-11", "11.6.2"),
          with("2.0.1+cu117", "gcc-10.3", "11.3.1"), with("1.12.1", "gcc-7", "10.2"),
          with("1.13.1+cu117", "gcc-10.3", "77.1")}) {
        CAPTURE(words[0].second + " " + words[1].second + " " + words[2].second);
        CHECK(ask(kCompiler, words).empty());
    }
}

TEST_CASE("torch-takes-compiler accepts the others and does not guess") {
    for (const auto& words :
         {against("2.6.0+cu124", "gcc-9"), against("2.6.0+cu124", "gcc-13.2"), against("2.0.1", "gcc-7"),
          against("2.1.0", "gcc-7.5"), against("1.12.1+cu116", "gcc-5"), against("2.13.0", "gcc-10"),
          against("2.15.0", "gcc-11"), against("1.0.0", "gcc-4.9"), against("none", "gcc-3"),
          against("9.9.9", "gcc-3"), against("2.6.0", "icc-1")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kCompiler, words).empty());
    }
    CHECK(
        message_of(kCompiler, against("2.6.0+cu124", "clang-14")) ==
        "no fact gives the oldest clang for torch 2.6.0+cu124: whether its headers compile with clang-14 is "
        "unknown");
    const auto facts = with_rows("torch_releases", {"id: torch-3.0.0, torch: \"3.0.0\", variants: [cu140], "
                                                    "python_min: \"3.12\", python_max: \"3.15\", complete: "
                                                    "false"});
    CHECK(verdict_of(kCompiler, against("3.0.0", "gcc-13"), facts) == Verdict::unknown);
}

TEST_CASE("apis-available rejects what the headers dropped") {
    CHECK(message_of(kApis, uses(Field::torch, "1.13.1+cu117", "THC,AT_CHECK")) ==
          "torch 1.13.1+cu117 does not have THC (removed in 1.11.0, now ATen/cuda/CUDAContext.h, "
          "C10_CUDA_CHECK, "
          "c10::cuda::CUDACachingAllocator, at::ceil_div), AT_CHECK (removed in 1.5.0, now TORCH_CHECK)");
    CHECK(fix_of(kApis, uses(Field::torch, "1.11.0", "THC")) == "torch 1.10.2");
    CHECK(verdict_of(kApis, uses(Field::torch, "2.6.0", "AT_DISPATCH-with-type")) == Verdict::rejected);
    CHECK(message_of(kApis, uses(Field::cuda, "13.0.2", "cudaDeviceProp-clockRate")) ==
          "CUDA 13.0.2 does not have cudaDeviceProp-clockRate (removed in 13.0, now cudaDeviceGetAttribute "
          "with cudaDevAttrClockRate)");
    CHECK(fix_of(kApis, uses(Field::cuda, "13.0.2", "cudaDeviceProp-clockRate")) == "cuda 12.9.2");
    CHECK(fix_of(kApis, uses(Field::cuda, "12.4.1", "texture-reference")) == "cuda 11.8.0");
    CHECK(message_of(kApis, uses(Field::cuda, "13.0.2", "cudaLaunchCooperativeKernelMultiDevice")) ==
          "CUDA 13.0.2 does not have cudaLaunchCooperativeKernelMultiDevice (removed in 13.0)");
}

TEST_CASE("apis-available accepts what is there, and what was never removed") {
    for (const auto& words :
         {uses(Field::torch, "1.10.2", "THC"), uses(Field::torch, "1.4.0", "AT_CHECK,THC"),
          uses(Field::torch, "2.5.1", "AT_DISPATCH-with-type"),
          uses(Field::torch, "2.15.0", "AT_DISPATCH_FLOATING_TYPES_AND_HALF"),
          uses(Field::torch, "2.15.0", "THCAtomics,THCDeviceUtils,c10-optional,at-nullopt"),
          uses(Field::cuda, "12.9.1", "cudaDeviceProp-clockRate"),
          uses(Field::cuda, "11.8.0", "texture-reference"), uses(Field::cuda, "13.0.2", "THC"),
          uses(Field::torch, "2.6.0", "texture-reference,ptx-only"), uses(Field::torch, "none", "THC")}) {
        CAPTURE(words[0].second + " " + words[1].second);
        CHECK(ask(kApis, words).empty());
    }
    CHECK(ask(kApis, {{Field::uses, "THC"}}).empty());
}

TEST_CASE("apis-available does not guess") {
    CHECK(message_of(kApis, {{Field::uses, "THCC,telepathy"}}) ==
          "no fact knows uses THCC (did you mean THC?), telepathy: whether the cell still has it is unknown");
    CHECK(verdict_of(kApis, uses(Field::torch, "9.9.9", "THC")) == Verdict::unknown);
    CHECK(verdict_of(kApis, uses(Field::cuda, "77.1", "THC")) == Verdict::unknown);
}
