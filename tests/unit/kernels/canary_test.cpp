// After a crash or a time-out on the GPU: does the GPU still work?
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "unit/kernels/run_fixture.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::suite_run;

TEST_CASE("after a crash on the GPU a canary tells whether the GPU still works") {
    const Suite suite;
    const Run alive = suite.run({}, {{"FAKE_TEST_cmp_reduce_gpu", "segv"}});
    CHECK(alive.status("cmp.reduce/gpu") == "crash");
    CHECK(alive.lines.at("cmp.reduce/gpu").find("evidence")->text_of("canary") == "pass");
    CHECK(alive.status("cmp.sgemm/gpu") == "pass");
    CHECK(alive.exit == 1);
    const Run dead = suite.run({}, {{"FAKE_TEST_cmp_vadd_gpu", "segv"}});
    CHECK(dead.status("cmp.vadd/gpu") == "crash");
    CHECK(dead.reason("cmp.reduce/gpu") == "prereq_failed");
    CHECK(dead.reason("cmp.sgemm/gpu") == "prereq_failed");
    CHECK(dead.status("cmp.sgemm/cpu") == "pass");
}

TEST_CASE("after a crash of torch the canary is cmp.vadd, or torch itself where there is no such program") {
    const auto run_with = [](const Suite& suite, std::pair<std::string, std::string> canary) {
        // In python's place: each script is the stand-in under the script's name.
        const std::string python = suite.path() + "/python3";
        for (const char* name : {"torch_matmul", "torch_step", "torch_canary"})
            std::filesystem::copy_file(SUITE_FAKE_TEST, suite.path() + "/" + name);
        std::ofstream(python) << "#!/bin/sh\nexec \"$(dirname \"$0\")/$(basename \"$2\" .py)\" \"$@\"\n";
        std::filesystem::permissions(python, std::filesystem::perms::owner_all);
        return suite.run(
            {"--only", "dev.driver,torch.matmul,torch.step", "--expect-torch", "2.6.0", "--python", python},
            {{"FAKE_TEST_torch_matmul_gpu", "segv"}, std::move(canary)});
    };
    struct Case {
        bool with_nvcc;
        const char* canary;
        const char* does;
        const char* answer;
        const char* next;
    };
    for (const Case& c :
         {Case{false, "torch_canary", "pass", "pass", ""},
          Case{false, "torch_canary", "fail", "fail", "prereq_failed"},
          Case{false, "torch_canary", "segv", "crash", "prereq_failed"},
          Case{false, "cmp_vadd", "segv", "pass", ""}, Case{true, "torch_canary", "segv", "pass", ""},
          Case{true, "cmp_vadd", "fail", "fail", "prereq_failed"}}) {
        const Suite suite(c.with_nvcc);
        const Run run = run_with(suite, {std::string("FAKE_TEST_") + c.canary + "_gpu", c.does});
        REQUIRE_MESSAGE(run.status("torch.matmul/gpu") == "crash", c.canary << " " << c.does);
        CHECK_MESSAGE(run.lines.at("torch.matmul/gpu").find("evidence")->text_of("canary") == c.answer,
                      c.canary << " " << c.does);
        CHECK_MESSAGE(run.reason("torch.step/gpu") == c.next, c.canary << " " << c.does);
        CHECK(run.status("torch.step/cpu") == "pass");
        CHECK(run.lines.count("torch.canary/gpu") == 0);
    }
}
