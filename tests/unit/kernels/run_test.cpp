// `suite run` as a whole.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "kernels/runner/verdict.hpp"
#include "kernels/support/test_main.hpp"
#include "unit/kernels/run_fixture.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::suite_run;

TEST_CASE("without a GPU: static parts pass, GPU parts are skipped, and the verdict is pass-interpreted") {
    const Suite suite;
    const Run run = suite.run({}, {}, false);
    CHECK(run.exit == 4);
    CHECK(run.verdict() == "pass-interpreted");
    CHECK(run.status("dev.driver/gpu") == "skip");
    CHECK(run.reason("cmp.vadd/gpu") == "no_device");
    CHECK(run.status("cmp.vadd/cpu") == "pass");
    CHECK(run.status("static.compile/static") == "pass");
    CHECK(run.reason("env.vars/load") == "deselected");
    CHECK(run.plan.find("plan")->items().size() == all_tests().size());
    CHECK(run.plan.find("lines")->integer() == static_cast<std::int64_t>(run.lines.size()));
    CHECK(run.status("cmp.vadd/interpreted") == "pass");
    CHECK(run.totals.find("kernels_on_gpu")->integer() == 0);
    CHECK(run.totals.find("kernels_interpreted")->integer() == 3);
    for (const auto& [key, line] : run.lines) {
        CHECK(line.find("v")->integer() == 1);
        CHECK(line.text_of("run") == "r");
        CHECK(line.text_of("cell") == "c");
    }
    CHECK(suite.run({"--require-gpu"}, {}, false).exit == 1);
    CHECK(suite.run({"--mode", "gpu"}, {}, false).status("dev.driver/gpu") == "fail");
    CHECK(suite.run({"--mode", "gpu"}, {}, false).reason("cmp.vadd/gpu") == "prereq_failed");
}

TEST_CASE("with a GPU everything runs, and lines carry the GPU") {
    const Suite suite;
    const Run run = suite.run({"--compute", "8.6"});
    CHECK(run.exit == 0);
    CHECK(run.verdict() == "pass");
    CHECK(run.totals.find("kernels_on_gpu")->integer() == 3);
    const Value* gpu = run.lines.at("cmp.vadd/gpu").find("gpu");
    REQUIRE(gpu != nullptr);
    CHECK(gpu->text_of("cc") == "8.6");
    CHECK(gpu->text_of("driver") == "550.54.15");
    CHECK(gpu->text_of("uuid") == "GPU-abababab-abab-abab-abab-ababababab00");
    CHECK(run.lines.at("cmp.vadd/cpu").find("gpu") == nullptr);
    // Told not to look, it does not.
    const Run blind = suite.run({"--mode", "nogpu"});
    CHECK(blind.exit == 4);
    CHECK(blind.reason("dev.driver/gpu") == "no_device");
}

TEST_CASE("a GPU that is not the cell's is named") {
    const Suite suite;
    const Run run = suite.run({"--compute", "9.0"});
    CHECK(run.exit == 1);
    CHECK(run.lines.at("dev.query/gpu").text_of("summary") ==
          "compute capability: Fake GPU is 8.6, the cell promises 9.0");
    CHECK(suite.run({"--gpus", "2"}).status("dev.query/gpu") == "fail");
    CHECK(suite.run({"--min-memory-mib", "40000"}).status("dev.query/gpu") == "fail");
    CHECK(suite.run({"--gpus", "1", "--min-memory-mib", "20000"}).exit == 0);
}

TEST_CASE("a faulty driver is one failure, the rest is skipped for it") {
    const Suite suite;
    const Run run = suite.run({}, {{"FAKE_INIT", "803"}});
    CHECK(run.exit == 1);
    CHECK(run.lines.at("dev.driver/gpu").text_of("fault") == "F4");
    for (const char* key : {"dev.query/gpu", "cmp.vadd/gpu", "cmp.reduce/gpu", "cmp.sgemm/gpu"}) {
        CHECK(run.reason(key) == "prereq_failed");
    }
    CHECK(run.status("cmp.vadd/cpu") == "pass");
    CHECK(run.totals.find("totals")->find("fail")->integer() == 1);
}

TEST_CASE("what a test says is believed only when it agrees with itself") {
    const Suite suite;
    struct Case {
        const char* what;
        const char* status;
        const char* reason;
        int exit;
    };
    for (const Case& c :
         {Case{"fail", "fail", "mismatch", 1}, Case{"error", "error", "setup", 3},
          Case{"silent:0", "error", "no_record", 3}, Case{"silent:1", "error", "no_record", 3},
          Case{"lie", "error", "bad_record", 3}, Case{"red-pass", "error", "bad_record", 3},
          Case{"other-id", "error", "bad_record", 3}, Case{"garbage", "error", "bad_record", 3},
          Case{"flood", "error", "bad_record", 3}, Case{"skip:tired", "error", "unknown_skip", 3},
          Case{"skip:lib_absent", "fail", "lib_absent", 1}, Case{"segv", "crash", "signal", 1},
          Case{"noisy", "pass", "", 4}, Case{"orphan", "pass", "", 4}}) {
        const Run run = suite.run({"--mode", "nogpu"}, {{"FAKE_TEST_cmp_reduce_cpu", c.what}});
        CHECK_MESSAGE(run.status("cmp.reduce/cpu") == c.status, c.what);
        CHECK_MESSAGE(run.reason("cmp.reduce/cpu") == c.reason, c.what);
        CHECK_MESSAGE(run.exit == c.exit, c.what);
        CHECK_MESSAGE(run.status("cmp.sgemm/cpu") == "pass", c.what);
    }
}

TEST_CASE("the interpreter's part is judged like any other") {
    const Suite suite;
    const auto with = [&](const char* what) {
        return suite.run({"--mode", "nogpu"}, {{"FAKE_TEST_cmp_reduce_interpreted", what}});
    };
    CHECK(with("fail").exit == 1);
    CHECK(with("lie").reason("cmp.reduce/interpreted") == "bad_record");
    CHECK(with("fail").totals.find("kernels_interpreted")->integer() == 2);
    // An image is not at fault where our own interpreter cannot be built in it.
    std::filesystem::remove(suite.path() + "/interpreted/cmp_reduce");
    const Run run = with("pass");
    CHECK(run.status("cmp.reduce/cpu") == "pass");
    CHECK(run.status("cmp.reduce/interpreted") == "error");
    CHECK(run.reason("cmp.reduce/interpreted") == "not_built");
    CHECK(run.reason("static.compile/static") == "stale");
    std::filesystem::remove(suite.path() + "/bin/cmp_reduce");
    CHECK(with("pass").reason("cmp.reduce/interpreted") == "prereq_failed");
}

TEST_CASE("a program knows whether its runtime interprets") {
    const auto said_of = [](const char* part) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const std::string fd = std::to_string(ends[1]);
        std::vector<std::string> args{"program", "--part", part, "--record-fd", fd};
        std::vector<char*> argv;
        for (auto& arg : args)
            argv.push_back(arg.data());
        const PartFunction passes = [](const Context&) {
            Record record;
            record.check("a", true);
            return judge(record, "mismatch", "ran");
        };
        const int exit = test_main(static_cast<int>(argv.size()), argv.data(), "cmp.vadd", passes, passes);
        ::close(ends[1]);
        std::string text(4096, '\0');
        text.resize(
            static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], text.data(), text.size()))));
        ::close(ends[0]);
        std::string error;
        const auto line = json::parse(text, error);
        return std::to_string(exit) + (line ? " " + line->text_of("summary") : "");
    };
    CHECK(said_of("gpu") == "0 ran");
    CHECK(said_of("cpu") == "0 ran");
    CHECK(said_of("interpreted") == "3 this libcudart does not interpret");
    CHECK(said_of("static") == "2");
}

TEST_CASE("a hanging test is ended and the run goes on") {
    const Suite suite;
    const Run run =
        suite.run({"--mode", "nogpu", "--limit-seconds", "0.5"}, {{"FAKE_TEST_cmp_vadd_cpu", "hang"}});
    CHECK(run.status("cmp.vadd/cpu") == "timeout");
    CHECK(run.reason("cmp.vadd/cpu") == "time_limit");
    CHECK(run.lines.at("cmp.vadd/cpu").text_of("hint") == "it was waiting");
    CHECK(run.status("cmp.sgemm/cpu") == "pass");
    CHECK(run.exit == 1);
}

TEST_CASE("a test that finds no GPU where the driver showed one has failed") {
    const Suite suite;
    const Run run = suite.run({}, {{"FAKE_TEST_cmp_sgemm_gpu", "skip:no_device"}});
    CHECK(run.status("cmp.sgemm/gpu") == "fail");
    CHECK(run.exit == 1);
}

TEST_CASE("skips follow from the cell") {
    const Suite suite;
    const Run old_gpu = suite.run({"--compute", "5.2"}, {}, false);
    CHECK(old_gpu.reason("cmp.vadd/gpu") == "cc_too_low");
    CHECK(old_gpu.lines.at("cmp.vadd/gpu").text_of("summary") ==
          "needs compute capability 6.0, the cell has 5.2");
    CHECK(suite.run({"--expect-cuda", "10.2"}, {}, false).reason("cmp.vadd/cpu") == "cuda_too_old");
    // Code for one target runs on later GPUs no more than on earlier ones.
    const Run later = suite.run({"--only", "tc.wgmma", "--compute", "10.0"}, {}, false);
    CHECK(later.reason("tc.wgmma/gpu") == "wrong_arch_variant");
    CHECK(later.reason("tc.wgmma/interpreted") == "wrong_arch_variant");
    CHECK(later.lines.at("tc.wgmma/gpu").text_of("summary") ==
          "its code is for 9.0a only, the cell has 10.0");
    CHECK(suite.run({"--only", "tc.wgmma", "--compute", "8.9"}, {}, false).reason("tc.wgmma/gpu") ==
          "cc_too_low");
    CHECK(suite.run({"--only", "tc.tcgen05", "--compute", "12.0", "--expect-cuda", "13.0"}, {}, false)
              .reason("tc.tcgen05/gpu") == "wrong_arch_variant");
    CHECK(suite.run({"--only", "tc.tcgen05", "--compute", "9.0", "--expect-cuda", "13.0"}, {}, false)
              .reason("tc.tcgen05/gpu") == "cc_too_low");
    for (const char* compute : {"9.0", "9.0a"}) {
        CAPTURE(compute);
        CHECK(suite.run({"--only", "tc.wgmma", "--compute", compute}, {}, false).reason("tc.wgmma/gpu") !=
              "wrong_arch_variant");
    }
    // What the cell does not say, the nvcc that built the suite does.
    const Run old_nvcc = Suite(true, "11.2.152").run({"--only", "con.cluster"}, {}, false);
    CHECK(old_nvcc.reason("con.cluster/interpreted") == "cuda_too_old");
    CHECK(old_nvcc.lines.at("con.cluster/interpreted").text_of("summary") ==
          "needs CUDA 11.8, the suite is built by nvcc 11.2.152");
    CHECK(suite.run({"--only", "con.cluster"}, {}, false).reason("con.cluster/interpreted") !=
          "cuda_too_old");
    CHECK(suite.run({"--only", "torch.arch"}, {}, false).reason("torch.arch/load") == "not_in_cell");
    const Run torch =
        suite.run({"--only", "torch.arch", "--expect-torch", "2.6.0", "--python", "/no/python"}, {}, false);
    CHECK(torch.reason("torch.arch/load") == "lib_absent");
    CHECK(torch.status("torch.arch/load") == "fail");
    const Suite hostonly(false);
    const Run run = hostonly.run({}, {}, false);
    CHECK(run.reason("cmp.vadd/gpu") == "no_nvcc");
    CHECK(run.reason("cmp.vadd/cpu") == "no_nvcc");
    CHECK(run.reason("static.compile/static") == "no_nvcc");
    CHECK(run.exit == 5);
    CHECK(run.verdict() == "nothing-ran");
    const Run promised = hostonly.run({"--expect-cuda", "12.4"}, {}, false);
    CHECK(promised.status("static.compile/static") == "fail");
}

TEST_CASE("torch's parts: on the GPU they count as having computed, also where no kernel was built") {
    const Suite hostonly(false);
    // In python's place, under the name by which the stand-in knows what to say.
    const std::string python = hostonly.path() + "/torch_matmul";
    std::filesystem::copy_file(SUITE_FAKE_TEST, python);
    const auto run = [&](Args more, std::vector<std::pair<std::string, std::string>> env = {},
                         bool with_driver = true) {
        more.insert(more.end(), {"--only", "dev.driver,torch.matmul", "--expect-torch", "2.6.0"});
        more.insert(more.end(), {"--python", python});
        return hostonly.run(more, std::move(env), with_driver);
    };
    const Run both = run({"--mode", "gpu"});
    CHECK(both.status("torch.matmul/gpu") == "pass");
    CHECK(both.status("torch.matmul/cpu") == "pass");
    CHECK(both.totals.find("kernels_on_gpu")->integer() == 1);
    CHECK(both.exit == 0);
    const Run without = run({}, {}, false);
    CHECK(without.reason("torch.matmul/gpu") == "no_device");
    CHECK(without.status("torch.matmul/cpu") == "pass");
    CHECK(without.exit == 4);
    CHECK(run({"--mode", "nogpu"}).reason("torch.matmul/gpu") == "no_device");
    // A torch without CUDA computes nothing there, and what was promised was not shown.
    const Run skipped = run({"--mode", "gpu"}, {{"FAKE_TEST_torch_matmul_gpu", "skip:not_in_cell"}});
    CHECK(skipped.reason("torch.matmul/gpu") == "not_in_cell");
    CHECK(skipped.totals.find("kernels_on_gpu")->integer() == 0);
    CHECK(skipped.exit == 1);
    CHECK(run({}, {{"FAKE_TEST_torch_matmul_cpu", "fail"}}).exit == 1);
    CHECK(run({}, {{"FAKE_TEST_torch_matmul_gpu", "fail"}}).exit == 1);
    CHECK(run({}, {{"FAKE_TEST_torch_matmul_gpu", "segv"}}).status("torch.matmul/gpu") == "crash");
}

TEST_CASE("a program that was not built is skipped for static.compile's sake") {
    const Suite suite;
    std::filesystem::remove(suite.path() + "/bin/cmp_reduce");
    const Run run = suite.run({}, {}, false);
    CHECK(run.reason("cmp.reduce/cpu") == "prereq_failed");
    CHECK(run.status("static.compile/static") == "fail");
    CHECK(run.reason("static.compile/static") == "stale");
    CHECK(run.status("cmp.vadd/cpu") == "pass");
}

TEST_CASE("usage errors exit 2 and print nothing on stdout") {
    const Suite suite;
    const Run run = suite.run({"--compute", "75"});
    CHECK(run.exit == 2);
    CHECK(run.err.rfind("suite: --compute '75': expected X.Y\n", 0) == 0);
    CHECK(run.plan.is(Value::Type::null));
    CHECK(suite.run({"--only", "cmp.bogus"}).exit == 2);
    for (const Args& args :
         {Args{}, Args{"frobnicate"}, Args{"test"}, Args{"test", "no.such"}, Args{"fatbin"}}) {
        ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM};
        spec.argv.insert(spec.argv.end(), args.begin(), args.end());
        CHECK(run_process(spec).exit_code == 2);
    }
    ProcessSpec help;
    help.argv = {SUITE_PROGRAM, "run", "--help"};
    CHECK(run_process(help).exit_code == 0);
    help.argv = {SUITE_PROGRAM, "list"};
    const std::string listed = run_process(help).out;
    for (const Test& test : all_tests()) {
        CHECK(listed.find("\n" + std::string(test.id) + " ") != std::string::npos);
        CHECK(listed.find("\n    " + std::string(test.proves) + "\n") != std::string::npos);
    }
}
