// jit.jitlink against a libnvJitLink that answers as told (tests/fakes/fake_nvjitlink.cpp), with and without
// a libnvrtc; its PTX on the interpreter.
#include "kernels/host/driver_kernel.hpp"
#include "kernels/host/jit_code.hpp"
#include "unit/kernels/jit_folder.hpp"
#include "unit/kernels/ptx_machine.hpp"

using cudamatrix::suite::json::Value;

namespace {

const JitFolder::Args kCell = {"--compute", "9.0", "--expect-cuda", "12.4.1"};

JitFolder::Args with(JitFolder::Args args, const JitFolder::Args& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

class Image : public JitFolder {
  public:
    explicit Image(bool with_nvrtc = true, const std::string& name = "lib/libnvJitLink.so.12",
                   const std::string& library = SUITE_FAKE_NVJITLINK) {
        put(library, name);
        hide("libnvrtc");
        if (with_nvrtc) put(SUITE_FAKE_NVRTC, "lib/libnvrtc.so.12");
    }
    [[nodiscard]] Value load(const JitFolder::Env& env = {}, const JitFolder::Args& args = kCell) const {
        return run("jit.jitlink", with(args, {"--part", "load"}), env);
    }
    /// The code of PTX says 7.5, that of LTO-IR what it was linked for: a GPU of 7.5 serves both.
    [[nodiscard]] Value gpu(JitFolder::Env env = {}, const char* cc = "75") const {
        env.emplace_back("FAKE_CC", cc);
        return run("jit.jitlink", {"--compute", "7.5", "--expect-cuda", "12.4", "--part", "gpu"}, env);
    }
};

}  // namespace

TEST_CASE("jit.jitlink: code from PTX, and from LTO-IR where libnvrtc makes it") {
    const Value both = Image().load();
    CHECK_MESSAGE(both.text_of("status") == "pass", both.dump());
    CHECK(both.text_of("summary") == "toolkit: libnvJitLink 12.4 with LTO-IR, code for 9.0");
    CHECK(both.text_of("fault") == "");
    CHECK(both.dump().find("toolkit LTO-IR code") != std::string::npos);

    const Value alone = Image(false).load();
    CHECK(alone.text_of("summary") == "toolkit: libnvJitLink 12.4, code for 9.0");
    CHECK(alone.dump().find("LTO-IR") == std::string::npos);
    // A libnvrtc that does not compile, or is of another CUDA, is jit.nvrtc's finding.
    CHECK(Image().load({{"FAKE_NVRTC_LTO", "7"}}).text_of("summary") == alone.text_of("summary"));
    CHECK(Image().load({{"FAKE_NVRTC_VERSION", "11.8"}}).text_of("summary") == alone.text_of("summary"));
    CHECK(Image().load({{"FAKE_NVRTC_VERSION", "none"}}).text_of("summary") == alone.text_of("summary"));

    // 12.0 has other names and does not say what it is.
    const Value old = Image(true, "lib/libnvJitLink.so.12", SUITE_FAKE_NVJITLINK_OLD).load();
    CHECK_MESSAGE(old.text_of("status") == "pass", old.dump());
    CHECK(old.text_of("summary") == "toolkit: libnvJitLink 12 with LTO-IR, code for 9.0");
    CHECK(Image(false, "lib/libnvJitLink.so.13")
              .load({{"FAKE_LINK_VERSION", "13.1"}}, {"--compute", "9.0", "--expect-cuda", "13.0"})
              .text_of("status") == "pass");
}

TEST_CASE("jit.jitlink: what it answers is a fault of its own each") {
    const Image image;
    struct Row {
        JitFolder::Env env;
        JitFailure want;
    };
    for (const Row& row : {
             Row{{{"FAKE_LINK_PTX", "4"}, {"FAKE_LINK_LOG", "ptxas fatal: no\nmore"}},
                 {"not_linked", "", "toolkit PTX: libnvJitLink answers 4: ptxas fatal: no", ""}},
             Row{{{"FAKE_LINK_LTO", "5"}, {"FAKE_LINK_LOG", "nvvm says no"}},
                 {"not_linked", "", "toolkit LTO-IR: libnvJitLink answers 5: nvvm says no", ""}},
             Row{{{"FAKE_LINK_LTO", "6"}, {"FAKE_NVRTC_VERSION", "12.8"}},
                 {"wrong_library", "F11", "libnvrtc 12.8 is newer than libnvJitLink 12.4", "same release"}},
             Row{{{"FAKE_LINK_LTO", "6"}, {"FAKE_NVRTC_VERSION", "12.3"}},
                 {"not_linked", "", "answers 6", ""}},
             Row{{{"FAKE_LINK_CREATE", "1"}}, {"not_linked", "", "toolkit PTX: libnvJitLink answers 1", ""}},
             Row{{{"FAKE_LINK_NEWER", "taken"}},
                 {"not_refused", "", "refuses newer PTX: for PTX of .version 99.9 it answers 0", ""}},
             Row{{{"FAKE_LINK_NEWER", "else"}},
                 {"not_refused", "", "for PTX of .version 99.9 it answers 4: ptxas fatal   : syntax", ""}},
             Row{{{"FAKE_LINK_CODE", "arch"}},
                 {"wrong_code", "", "it is code for 7.5, asked for was 9.0", ""}},
             Row{{{"FAKE_LINK_CODE", "name"}}, {"wrong_code", "", "it does not define cudamatrix_jit", ""}},
             Row{{{"FAKE_LINK_CODE", "text"}}, {"wrong_code", "", "toolkit PTX code: ", ""}},
             Row{{{"FAKE_LINK_CODE", "empty"}}, {"wrong_code", "", "toolkit PTX code: ", ""}},
             Row{{{"FAKE_LINK_CODE", "cut"}}, {"wrong_code", "", "toolkit PTX code: ", ""}},
             Row{{{"FAKE_LINK_VERSION", "13.0"}},
                 {"wrong_library", "F11", "is 13.0, the cell promises CUDA 12", "second CUDA"}},
         }) {
        check_failure(image.load(row.env), row.want);
    }
    // An architecture that it does not know, in the words of 12.x and in those of 13.0.
    for (const char* words : {"ptxas", "13.0"}) {
        for (const char* compute : {"7.0", "10.0", "12.0"}) {
            check_failure(
                image.load({{"FAKE_LINK_ARCH", words}}, {"--compute", compute, "--expect-cuda", "12.4"}),
                {"unknown_arch", "F10", "toolkit PTX: libnvJitLink answers ",
                 "knows this compute capability"});
        }
    }
}

TEST_CASE("jit.jitlink: absent, broken, another CUDA's, or none at all") {
    const JitFolder::Args cell = {"--compute", "9.0", "--expect-cuda", "15.0"};
    const JitFolder::Args promised = with(cell, {"--lib", "libnvJitLink.so.15"});
    JitFolder image;
    image.hide("libnvJitLink");
    image.hide("libnvrtc");
    CHECK(image.run("jit.jitlink", cell).text_of("reason") == "not_in_cell");
    CHECK(image.run("jit.jitlink", {"--compute", "9.0"}).text_of("reason") == "not_in_cell");
    CHECK(Image().load({}, {"--expect-cuda", "12.4"}).text_of("reason") == "not_in_cell");
    check_failure(image.run("jit.jitlink", promised),
                  {"lib_absent", "F11", "libnvJitLink.so.15: cannot open", "libnvJitLink"});
    image.write("lib/libnvJitLink.so.15", "not a library");
    check_failure(image.run("jit.jitlink", cell), {"lib_absent", "F11", "file too short", "libnvJitLink"});
    image.put(SUITE_FAKE_NVRTC, "lib/libnvJitLink.so.15");
    check_failure(image.run("jit.jitlink", cell), {"wrong_library", "F11", "cannot link", "no libnvJitLink"});
    std::filesystem::remove(image.path("lib/libnvJitLink.so.15"));
    // What is older than its own version function is known by its name.
    image.put(SUITE_FAKE_NVJITLINK_OLD, "lib/libnvJitLink.so.12");
    check_failure(image.run("jit.jitlink", cell),
                  {"wrong_library", "F11", "is 12, the cell promises CUDA 15", ""});
    image.put(SUITE_FAKE_NVJITLINK, "lib/libnvJitLink.so.12");
    check_failure(image.run("jit.jitlink", promised),
                  {"wrong_library", "F11", "is 12.4, the cell promises CUDA 15", ""});
}

TEST_CASE("jit.jitlink: torch's is examined where torch has one") {
    const JitFolder image;
    image.hide("libnvJitLink");
    image.hide("libnvrtc");
    image.write("site/torch/lib/libtorch_cuda.so", "");
    const JitFolder::Args cell = {"--compute", "9.0",      "--expect-torch-cuda",
                                  "15.0",      "--fatbin", image.torch_library()};
    // Not every torch with CUDA brings it.
    CHECK(image.run("jit.jitlink", cell).text_of("reason") == "not_in_cell");
    const JitFolder::Env of_15 = {{"FAKE_LINK_VERSION", "15.0"}, {"FAKE_NVRTC_VERSION", "15.0"}};
    image.put(SUITE_FAKE_NVJITLINK, "site/nvidia/nvjitlink/lib/libnvJitLink.so.15");
    CHECK(image.run("jit.jitlink", cell, of_15).text_of("summary") ==
          "torch: libnvJitLink 15.0, code for 9.0");
    image.put(SUITE_FAKE_NVRTC, "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.15");
    CHECK(image.run("jit.jitlink", cell, of_15).text_of("summary") ==
          "torch: libnvJitLink 15.0 with LTO-IR, code for 9.0");
    check_failure(image.run("jit.jitlink", cell), {"wrong_library", "F11", "torch version: ", ""});
    image.write("site/nvidia/nvjitlink/lib/libnvJitLink.so.15", "not a library");
    check_failure(image.run("jit.jitlink", cell), {"lib_absent", "F11", "torch load: ", ""});
}

TEST_CASE("jit.jitlink on a GPU: both kinds of code are loaded and run") {
    const Image image;
    const Value line = image.gpu();
    CHECK_MESSAGE(line.text_of("status") == "pass", line.dump());
    CHECK(line.text_of("part") == "gpu");
    CHECK(line.text_of("summary") == "4099 sums exact by code of libnvJitLink");
    CHECK(line.dump().find("toolkit LTO-IR exact") != std::string::npos);
    check_failure(image.gpu({{"FAKE_MODULE_ELF", "209"}}),
                  {"no_kernel_image", "F6", "answers 209", "dev.query"});
    check_failure(image.gpu({{"FAKE_MODULE_ELF", "218"}}), {"cuda_error", "", "answers 218", ""});
    check_failure(image.gpu({{"FAKE_LAUNCH", "1"}}), {"cuda_error", "", "cuLaunchKernel answers 1", ""});
    // Code for another target than the one that was linked.
    check_failure(image.gpu({}, "90"),
                  {"mismatch", "", "toolkit PTX code: what ran is code for 900, not for 750", ""});
    for (const char* defect : {"wrong", "short", "beyond", "idle", "blocks"})
        check_failure(image.gpu({{"FAKE_KERNEL", defect}}), {"mismatch", "", "toolkit PTX ", ""});
    for (const char* answer : {"FAKE_LINK_PTX", "FAKE_LINK_LTO", "FAKE_LINK_CREATE"})
        CHECK(image.gpu({{answer, "4"}}).text_of("reason") == "prereq_failed");
    CHECK(image.gpu({{"FAKE_DEVICES", "0"}}).text_of("reason") == "no_device");
    CHECK(image.gpu({{"FAKE_INIT", "34"}}).text_of("fault") == "F2");
    CHECK(image.load({{"FAKE_INIT", "34"}}).text_of("status") == "pass");
}

TEST_CASE("jit.jitlink: its PTX adds two vectors, on the interpreter") {
    using namespace cudamatrix::suite;
    PtxMachine machine(std::string(".version 7.0") + kJitPtx);
    std::vector<float> a, b;
    for (int i = 0; i < kAddLength; ++i) {
        a.push_back(static_cast<float>(i) * 0.37F);
        b.push_back(1000.0F / static_cast<float>(i + 1));
    }
    constexpr std::size_t kBeyond = 64;
    const std::vector<float> blank(kAddLength + kBeyond, -1.0F);
    const AddArgs args{machine.upload(a), machine.upload(b), machine.upload(blank), kAddLength,
                       machine.upload(std::vector<unsigned>{0, 0})};
    CHECK(machine.launch(kJitKernel, {kAddBlocks, 1, 1}, {kAddThreads, 1, 1}, args) == "");
    const auto sums = machine.download<float>(args.c, blank.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < sums.size(); ++i)
        wrong += sums[i] == (i < a.size() ? a[i] + b[i] : -1.0F) ? 0 : 1;
    CHECK(wrong == 0);
    CHECK(machine.download<unsigned>(args.flag, 2) == std::vector<unsigned>{kAddBlocks, kJitPtxArch});
}
