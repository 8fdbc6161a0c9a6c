#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/build/cuda_programs.hpp"
#include "kernels/build/gencode.hpp"
#include "kernels/build/nvcc_text.hpp"
#include "kernels/build/options.hpp"

using namespace cudamatrix::suite;
using cudamatrix::fatbin::parse_arch;
using Args = std::vector<std::string>;

namespace {

Args gencode(std::initializer_list<const char*> computes, const char* ptx, const std::string& variant = "") {
    std::vector<cudamatrix::fatbin::Arch> list;
    for (const char* text : computes)
        list.push_back(*parse_arch(text));
    return gencode_options(list, *ptx == '\0' ? std::nullopt : parse_arch(ptx), variant);
}

Args without_families(std::initializer_list<const char*> computes, const std::string& variant) {
    std::vector<cudamatrix::fatbin::Arch> list;
    for (const char* text : computes)
        list.push_back(*parse_arch(text));
    return gencode_options(list, std::nullopt, variant, false);
}

std::string error_of(const Args& args) {
    std::string error;
    CHECK_FALSE(parse_build_options(args, error));
    return error;
}

}  // namespace

TEST_CASE("nvcc is asked for SASS of each capability and PTX of one") {
    CHECK(gencode({"9.0", "7.5"}, "9.0") == Args{"-gencode", "arch=compute_75,code=sm_75", "-gencode",
                                                 "arch=compute_90,code=[sm_90,compute_90]"});
    CHECK(gencode({"8.6"}, "8.0") ==
          Args{"-gencode", "arch=compute_86,code=sm_86", "-gencode", "arch=compute_80,code=compute_80"});
    CHECK(gencode({"7.5", "7.5"}, "") == Args{"-gencode", "arch=compute_75,code=sm_75"});
}

TEST_CASE("ordinary programs are built in the plain form, variants for their target only") {
    CHECK(gencode({"9.0a", "12.0f"}, "12.0f") == Args{"-gencode", "arch=compute_90,code=sm_90", "-gencode",
                                                      "arch=compute_120,code=[sm_120,compute_120]"});
    CHECK(gencode({"8.0", "9.0"}, "9.0", "9.0a") ==
          Args{"-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"});
    CHECK(gencode({"8.0", "10.0"}, "10.0", "9.0a").empty());
}

TEST_CASE("code of a family is built for each capability of it") {
    const Args family = {"-gencode", "arch=compute_120f,code=[sm_120f,compute_120f]"};
    CHECK(gencode({"12.0"}, "12.0", "12.0f") == family);
    CHECK(gencode({"8.0", "12.1"}, "12.1", "12.0f") == family);
    CHECK(gencode({"12.0", "12.1"}, "", "12.0f") == family);
    CHECK(gencode({"12.0"}, "12.0", "10.0f").empty());
    CHECK(gencode({"12.0"}, "12.0", "12.1f").empty());
    CHECK(gencode({"13.0"}, "13.0", "12.0f").empty());
    CHECK(gencode({"12.1"}, "12.1", "12.0a").empty());
    CHECK(gencode({"12.0"}, "12.0", "12.0g").empty());
    // nvcc 12.8
    const Args exact = {"-gencode", "arch=compute_120a,code=[sm_120a,compute_120a]"};
    CHECK(without_families({"8.0", "12.0"}, "12.0f") == exact);
    CHECK(without_families({"12.0", "12.1"}, "12.0f") == exact);
    CHECK(without_families({"12.1"}, "12.0f").empty());
    CHECK(without_families({"12.0"}, "12.0a") == exact);
}

TEST_CASE("suite_build's options") {
    std::string error;
    const auto options = parse_build_options({"--source", "/s", "--out", "/o", "--compute", "7.5,9.0",
                                              "--ptx", "9.0", "--ccbin", "g++-11", "--cuda-lib", "/a,/b"},
                                             error);
    REQUIRE_MESSAGE(options, error);
    CHECK(options->computes.size() == 2);
    CHECK(options->cuda_lib == Args{"/a", "/b"});
    CHECK_FALSE(options->nvcc_beside);
    CHECK(parse_build_options({"--source", "/s", "--out", "/o", "--no-nvcc"}, error));
    const auto beside =
        parse_build_options({"--source", "/s", "--out", "/o", "--nvcc-beside", "--compute", "7.5"}, error);
    CHECK((beside && beside->nvcc_beside));
    const Args base = {"--source", "/s", "--out", "/o"};
    const auto with = [&](Args more) {
        more.insert(more.begin(), base.begin(), base.end());
        return error_of(more);
    };
    CHECK(with({}) == "--compute is needed, or --no-nvcc");
    CHECK(with({"--compute", "75"}) == "--compute '75': expected compute capabilities like 7.5,8.0,9.0");
    CHECK(with({"--compute", "7.5,"}) == "--compute '7.5,': expected compute capabilities like 7.5,8.0,9.0");
    CHECK(with({"--compute", "7.5", "--ptx", "7.5,8.0"}) ==
          "--ptx '7.5,8.0': expected one compute capability like 9.0");
    CHECK(with({"--no-nvcc", "--compute", "7.5"}) ==
          "--no-nvcc excludes --nvcc, --nvcc-beside, --compute and --ptx");
    CHECK(with({"--no-nvcc", "--nvcc-beside"}) ==
          "--no-nvcc excludes --nvcc, --nvcc-beside, --compute and --ptx");
    CHECK(with({"--nvcc-beside"}) == "--compute is needed, or --no-nvcc");
    CHECK(with({"--frobnicate"}) == "unknown option --frobnicate");
    CHECK(with({"--nvcc"}) == "--nvcc takes a value");
    CHECK(error_of({"--compute", "7.5"}) == "--source and --out are needed");
}

TEST_CASE("programs that the toolkit is too old for are not built") {
    BuildOptions options;
    options.computes = {*parse_arch("7.5"), *parse_arch("9.0")};
    Workshop shop(options);
    const auto builds = [&](const char* nvcc, std::string_view id) {
        const CudaPrograms programs(shop, "nvcc", nvcc);
        const auto& all = programs.programs();
        return std::any_of(all.begin(), all.end(), [&](const Program& one) { return one.test->id == id; });
    };
    CHECK(builds("11.2.152", "cmp.vadd"));
    CHECK(builds("11.8.89", "con.cluster"));
    CHECK(builds("12.4.131", "tc.fp8"));
    CHECK(builds("13.0.88", "tc.fp8"));
    CHECK(builds("", "tc.fp8"));
    CHECK(builds("12.0.76", "tc.wgmma"));
    CHECK_FALSE(builds("12.8.93", "tc.tcgen05"));  // no 10.0 in the list
    CHECK_FALSE(builds("11.8.89", "tc.wgmma"));
    CHECK_FALSE(builds("11.2.152", "con.cluster"));
    CHECK_FALSE(builds("11.8.89", "tc.fp8"));
    CHECK_FALSE(builds("12.3.107", "tc.fp8"));
    CHECK_FALSE(builds("9.2.148", "cmp.vadd"));
    CHECK_FALSE(builds("13.0.88", "static.compile"));
    CHECK_FALSE(builds("13.0.88", "tc.nvfp4"));
    options.computes = {*parse_arch("12.0")};
    Workshop blackwell(options);
    const auto nvfp4 = [&](const char* nvcc) {
        const CudaPrograms programs(blackwell, "nvcc", nvcc);
        const auto& all = programs.programs();
        return std::any_of(all.begin(), all.end(),
                           [](const Program& one) { return one.test->id == "tc.nvfp4"; });
    };
    CHECK(nvfp4("12.8.61"));
    CHECK(nvfp4("13.0.88"));
    CHECK_FALSE(nvfp4("12.6.85"));
}

TEST_CASE("nvcc's texts") {
    CHECK(parse_nvcc_version("Cuda compilation tools, release 11.8, V11.8.89\nBuild cuda_11.8.r11.8") ==
          "11.8.89");
    CHECK(parse_nvcc_version("gcc 12") == "");
    CHECK(classify_compile_error("nvcc fatal   : Unsupported gpu architecture 'compute_120'").fault == "F10");
    CHECK(classify_compile_error(
              "host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than 11")
              .fault == "F21");
    CHECK(classify_compile_error("vadd.cu(3): error: identifier \"x\" is undefined").fault == "");
    CHECK(classify_compile_error("").fault == "");
    CHECK(error_line("note: a\nb.cu(3): error: c\nd\n") == "b.cu(3): error: c");
    CHECK(error_line("nothing here\nmore") == "nothing here");
    CHECK(warning_lines("a.cu(3): warning #177-D: x\n  int y;\nb.cpp:1:2: warning: z") ==
          "a.cu(3): warning #177-D: x\nb.cpp:1:2: warning: z\n");
    CHECK(warning_lines("a.cu(3): error: x\nnote: y").empty());
    CHECK(warning_lines("").empty());
}
