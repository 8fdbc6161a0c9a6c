// jit.nvrtc against a libnvrtc that answers as told (tests/fakes/fake_nvrtc.cpp), under the names of several
// releases.
#include "unit/kernels/jit_folder.hpp"

using cudamatrix::suite::json::Value;

namespace {

const JitFolder::Args kCell = {"--compute", "9.0", "--expect-cuda", "12.4.1"};

JitFolder::Args with(JitFolder::Args args, const JitFolder::Args& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

class Image : public JitFolder {
  public:
    explicit Image(const std::string& name = "lib/libnvrtc.so.12") { put(SUITE_FAKE_NVRTC, name); }
    [[nodiscard]] Value load(const JitFolder::Env& env = {}, const JitFolder::Args& args = kCell) const {
        return run("jit.nvrtc", with(args, {"--part", "load"}), env);
    }
    [[nodiscard]] Value gpu(const JitFolder::Env& env = {}, const JitFolder::Args& args = kCell) const {
        return run("jit.nvrtc", with(args, {"--part", "gpu"}), env);
    }
    /// Cells of torch with CUDA 12.4 and of no toolkit.
    [[nodiscard]] JitFolder::Args torch(const char* cuda = "12.4") const {
        return {"--compute",           "9.0", "--expect-torch", "2.6.0",
                "--expect-torch-cuda", cuda,  "--fatbin",       torch_library()};
    }
};

}  // namespace

TEST_CASE("jit.nvrtc: each release's library compiles for the cell, and says what it is") {
    struct Release {
        const char* file;
        const char* cuda;
        const char* version;
    };
    for (const Release& release :
         {Release{"libnvrtc.so.11.2", "11.8", "11.8"}, Release{"libnvrtc.so.12", "12.4.1", "12.4"},
          Release{"libnvrtc.so.12", "12.9", "12.0"}, Release{"libnvrtc.so.13", "13.0", "13.2"},
          Release{"libnvrtc.so.15", "15.1", "15.1"}}) {
        const Image image(std::string("lib/") + release.file);
        const Value line = image.load({{"FAKE_NVRTC_VERSION", release.version}},
                                      {"--compute", "9.0", "--expect-cuda", release.cuda});
        CHECK_MESSAGE(line.text_of("status") == "pass", line.dump());
        CHECK(line.text_of("summary") ==
              std::string("toolkit: libnvrtc ") + release.version + ", code for 9.0");
        CHECK(line.text_of("fault") == "");
        const Value& facts = line.find("evidence")->find("libraries")->items().front();
        CHECK(facts.text_of("path") == image.path(std::string("lib/") + release.file));
        CHECK(facts.text_of("ptx_isa") == "8.4");
    }
    const Image image;
    for (const char* compute : {"7.5", "8.0", "8.6", "8.9"})
        CHECK(image.load({}, {"--compute", compute, "--expect-cuda", "12.4"}).text_of("status") == "pass");
    // Named by --lib alone, there is no CUDA to compare with.
    CHECK(image.load({}, {"--compute", "9.0", "--lib", "libnvrtc.so.12"}).text_of("status") == "pass");
}

TEST_CASE("jit.nvrtc: what it answers is a fault of its own each") {
    const Image image;
    const char* missing = "nvrtc: error: failed to open libnvrtc-builtins.so.12.4.\n  Make sure";
    struct Row {
        JitFolder::Env env;
        JitFailure want;
    };
    for (const Row& row : {
             Row{{{"FAKE_NVRTC", "7"}, {"FAKE_NVRTC_LOG", missing}},
                 {"no_builtins", "F9", "7: nvrtc: error: failed to open libnvrtc-builtins.so.12.4.",
                  "libnvrtc-builtins"}},
             Row{{{"FAKE_NVRTC_PTX", "7"}},
                 {"no_builtins", "F9", "toolkit PTX: libnvrtc answers 7", "same release"}},
             Row{{{"FAKE_NVRTC", "5"}, {"FAKE_NVRTC_LOG", "nvrtc: error: unrecognized option"}},
                 {"not_compiled", "", "answers 5: nvrtc: error: unrecognized option", ""}},
             Row{{{"FAKE_NVRTC", "6"}, {"FAKE_NVRTC_LOG", "error: invalid value for --gpu-architecture"}},
                 {"not_compiled", "", "answers 6", ""}},
             Row{{{"FAKE_NVRTC", "1"}}, {"not_compiled", "", "toolkit cubin: libnvrtc answers 1", ""}},
             Row{{{"FAKE_NVRTC_PTX", "6"}}, {"not_compiled", "", "toolkit PTX: libnvrtc answers 6", ""}},
             Row{{{"FAKE_NVRTC_CODE", "arch"}},
                 {"wrong_code", "", "it is code for 7.5, asked for was 9.0", ""}},
             Row{{{"FAKE_NVRTC_CODE", "name"}}, {"wrong_code", "", "it does not define cudamatrix_jit", ""}},
             Row{{{"FAKE_NVRTC_CODE", "text"}}, {"wrong_code", "", "toolkit code: ", ""}},
             Row{{{"FAKE_NVRTC_CODE", "empty"}}, {"wrong_code", "", "toolkit code: ", ""}},
             Row{{{"FAKE_NVRTC_CODE", "cut"}}, {"wrong_code", "", "toolkit code: ", ""}},
             Row{{{"FAKE_NVRTC_VERSION", "11.8"}},
                 {"wrong_library", "F9", "is 11.8, the cell promises CUDA 12", "second CUDA"}},
             Row{{{"FAKE_NVRTC_VERSION", "13.0"}},
                 {"wrong_library", "F9", "is 13.0, the cell promises CUDA 12", "LD_LIBRARY_PATH"}},
             Row{{{"FAKE_NVRTC_VERSION", "none"}}, {"wrong_library", "F9", "is of no version", ""}},
         }) {
        check_failure(image.load(row.env), row.want);
    }
    for (const char* compute : {"6.0", "7.0", "10.0", "12.0"}) {
        check_failure(image.load({}, {"--compute", compute, "--expect-cuda", "12.4"}),
                      {"unknown_arch", "F10", "answers 5: nvrtc: error: invalid value for --gpu-architecture",
                       "knows this compute capability"});
    }
    // PTX for another GPU than asked for is found, too, where the cubin is right.
    const Value both = image.load({{"FAKE_NVRTC_CODE", "arch"}});
    CHECK(both.dump().find("it has no .target sm_90") != std::string::npos);
}

TEST_CASE("jit.nvrtc: absent, broken, another CUDA's, or none at all") {
    const JitFolder::Args cell = {"--compute", "9.0", "--expect-cuda", "15.0"};
    const JitFolder::Args promised = with(cell, {"--lib", "libcudart.so.15,libnvrtc.so.15"});
    JitFolder nothing;
    nothing.hide("libnvrtc");
    CHECK(nothing.run("jit.nvrtc", cell).text_of("reason") == "not_in_cell");
    CHECK(nothing.run("jit.nvrtc", with(cell, {"--lib", "libnvrtc-builtins.so.15.0"})).text_of("status") ==
          "skip");
    check_failure(nothing.run("jit.nvrtc", promised),
                  {"lib_absent", "F9", "libnvrtc.so.15: cannot open", "libnvrtc"});
    // Nothing is promised: neither CUDA nor torch.
    CHECK(nothing.run("jit.nvrtc", {"--compute", "9.0"}).text_of("reason") == "not_in_cell");
    CHECK(Image().load({}, {"--expect-cuda", "12.4"}).text_of("reason") == "not_in_cell");

    nothing.write("lib/libnvrtc.so.15", "not a library");
    check_failure(nothing.run("jit.nvrtc", cell),
                  {"lib_absent", "F9", "libnvrtc.so.15: file too short", "libnvrtc"});
    nothing.put(std::string(SUITE_FAKE_DRIVER) + "/libcuda.so.550.54.15", "lib/libnvrtc.so.15");
    check_failure(nothing.run("jit.nvrtc", cell), {"wrong_library", "F9", "is of no version", ""});

    JitFolder other;
    other.hide("libnvrtc");
    other.put(SUITE_FAKE_NVRTC, "lib/libnvrtc.so.12");
    for (const JitFolder::Args& args : {cell, promised}) {
        check_failure(
            other.run("jit.nvrtc", args),
            {"wrong_library", "F9", "libnvrtc.so.12 is 12.4, the cell promises CUDA 15", "second CUDA"});
    }
}

TEST_CASE("jit.nvrtc: torch's library is found in each layout of its wheels, and is not the toolkit's") {
    for (const char* place :
         {"site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "site/nvidia/cu12/lib/libnvrtc.so.12",
          "site/torch/lib/libnvrtc-672ee683.so.12", "site/torch/lib/libnvrtc.so.12", "lib/libnvrtc.so.12"}) {
        const Image image(place);
        image.write("site/torch/lib/libtorch_cuda.so", "");
        image.write("site/torch/lib/libnvrtc-builtins.so.12.4", "not a library");
        image.write("site/torch/lib/libnvrtc-builtins-2dc4bf68.so.12.4", "not a library");
        const Value line = image.load({}, image.torch());
        CHECK_MESSAGE(line.text_of("status") == "pass", line.dump());
        CHECK(line.text_of("summary") == "torch: libnvrtc 12.4, code for 9.0");
        CHECK(line.find("evidence")->dump().find(image.path(place)) != std::string::npos);
    }
    // Both, of two majors; the one that is wrong is named.
    const Image image;
    image.write("site/torch/lib/libtorch_cuda.so", "");
    image.put(SUITE_FAKE_NVRTC, "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    const Value line = image.load({}, with(image.torch(), {"--expect-cuda", "12.0"}));
    CHECK(line.text_of("summary") == "toolkit: libnvrtc 12.4, torch: libnvrtc 12.4, code for 9.0");
    image.write("site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "not a library");
    check_failure(image.load({}, with(image.torch(), {"--expect-cuda", "12.0"})),
                  {"lib_absent", "F9", "torch load: ", "libnvrtc"});
}

TEST_CASE("jit.nvrtc: builtins that the library does not find are loaded where torch loads them, too") {
    const std::string needed = "libnvrtc-builtins.so.13.0";
    const auto judged = [&](const char* init, const std::string& builtins) {
        const Image image("site/nvidia/cu13/lib/libnvrtc.so.13");
        image.write("site/torch/lib/libtorch_cuda.so", "");
        if (*init != '\0') image.write("site/torch/__init__.py", init);
        image.put(SUITE_FAKE_NVRTC, "site/nvidia/cu13/lib/" + builtins);
        image.write("site/nvidia/cu13/lib/libnvrtc-builtins.alt.so.13.0", "not a library");
        return image.load({{"FAKE_NVRTC_VERSION", "13.0"}, {"FAKE_NVRTC_NEEDS", needed}},
                          image.torch("13.0"));
    };
    constexpr const char* kLoads = "cuda_libs = [(\"cuda_nvrtc\", \"libnvrtc-builtins.so.*[0-9]\")]\n";
    CHECK(judged(kLoads, needed).text_of("summary") == "torch: libnvrtc 13.0, code for 9.0");
    const JitFailure without{"no_builtins", "F9", "torch cubin: libnvrtc answers 7", "libnvrtc-builtins"};
    check_failure(judged("cuda_libs = [(\"cuda_nvrtc\", \"libnvrtc.so.*[0-9]\")]\n", needed), without);
    check_failure(judged("", needed), without);
    check_failure(judged(kLoads, "libnvrtc-builtins.so.12.9"), without);
    check_failure(judged(kLoads, "other.so.13.0"), without);
}

TEST_CASE("jit.nvrtc: a torch that has none of its own has a fault, one that is not there has not") {
    JitFolder image;
    image.hide("libnvrtc");
    const auto cell = [&](const char* cuda) {
        return JitFolder::Args{"--compute",           "9.0", "--expect-torch", "2.6.0",
                               "--expect-torch-cuda", cuda,  "--fatbin",       image.torch_library()};
    };
    CHECK(image.run("jit.nvrtc", cell("15.0")).text_of("reason") == "not_in_cell");
    image.write("site/torch/lib/libtorch_cuda.so", "");
    // Builtins are no compiler, nor are files that only look like one.
    for (const char* name : {"libnvrtc-builtins.so.15.0", "libnvrtc.alt.so.15", "libnvrtc-672ee68.so.15",
                             "libnvrtcx.so.15", "libnvrtc-672ee68g.so.15", "libnvrtc.so"})
        image.put(SUITE_FAKE_NVRTC, std::string("site/torch/lib/") + name);
    check_failure(image.run("jit.nvrtc", cell("15.0")),
                  {"lib_absent", "F9", "torch load: libnvrtc.so.15: cannot", "libnvrtc"});
    image.put(SUITE_FAKE_NVRTC, "site/torch/lib/libnvrtc-672ee683.so.15");
    check_failure(image.run("jit.nvrtc", cell("15.0")),
                  {"wrong_library", "F9", "the cell promises CUDA 15", ""});
    CHECK(image.run("jit.nvrtc", cell("15.0"), {{"FAKE_NVRTC_VERSION", "15.2"}}).text_of("status") == "pass");
    // A torch without CUDA, or one whose library nobody names, has none.
    CHECK(image
              .run("jit.nvrtc",
                   {"--compute", "9.0", "--expect-torch", "2.6.0", "--fatbin", image.torch_library()})
              .text_of("reason") == "not_in_cell");
    CHECK(
        image.run("jit.nvrtc", {"--compute", "9.0", "--expect-torch", "2.6.0", "--expect-torch-cuda", "15.0"})
            .text_of("reason") == "not_in_cell");
}

TEST_CASE("jit.nvrtc on a GPU: the code that it made is loaded and runs") {
    const Image image;
    const Value line = image.gpu();
    CHECK_MESSAGE(line.text_of("status") == "pass", line.dump());
    CHECK(line.text_of("part") == "gpu");
    CHECK(line.text_of("summary") == "4099 sums exact by code of libnvrtc");
    check_failure(image.gpu({{"FAKE_MODULE_ELF", "209"}}),
                  {"no_kernel_image", "F6", "answers 209", "dev.query"});
    check_failure(image.gpu({{"FAKE_MODULE_ELF", "222"}}), {"cuda_error", "", "answers 222", ""});
    check_failure(image.gpu({{"FAKE_SYNC", "700"}}), {"cuda_error", "", "cuCtxSynchronize answers 700", ""});
    check_failure(image.gpu({{"FAKE_ARCH", "860"}}),
                  {"mismatch", "", "toolkit code: what ran is code for 860", ""});
    for (const char* defect : {"wrong", "short", "beyond", "idle", "blocks"})
        check_failure(image.gpu({{"FAKE_KERNEL", defect}}), {"mismatch", "", "toolkit ", ""});
    check_failure(image.gpu({{"FAKE_NVRTC_CODE", "name"}, {"FAKE_MODULE_ELF", "500"}}),
                  {"cuda_error", "", "500", ""});
    check_failure(image.gpu({{"FAKE_NVRTC_CODE", "text"}}), {"cuda_error", "", "answers 200", ""});
    // What the part without a GPU has to say is not said twice.
    for (const char* code : {"5", "6", "7"}) {
        CHECK(image.gpu({{"FAKE_NVRTC", code}}).text_of("status") == "skip");
        CHECK(image.gpu({{"FAKE_NVRTC", code}}).text_of("reason") == "prereq_failed");
    }
    CHECK(image.gpu({{"FAKE_DEVICES", "0"}}).text_of("reason") == "no_device");
    CHECK(image.gpu({{"FAKE_INIT", "804"}}).text_of("fault") == "F5");
    const JitFolder::Args on_gpu = with(kCell, {"--part", "gpu"});
    CHECK(image.run("jit.nvrtc", on_gpu, {}, "/no/such/folder").text_of("reason") == "no_device");
    CHECK(image.run("jit.nvrtc", with(on_gpu, {"--mode", "gpu"}), {}, "/no/such/folder").text_of("status") ==
          "fail");
    // The part without a GPU does not ask for one.
    CHECK(image.load({{"FAKE_INIT", "804"}, {"FAKE_MODULE", "209"}}).text_of("status") == "pass");
}
