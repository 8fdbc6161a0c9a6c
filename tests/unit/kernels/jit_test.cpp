// The tests jit.ptx and jit.sass_only against a libcuda that answers as told (tests/fakes/fake_libcuda.c) and
// whose one kernel has a defect on demand. Each in a process of its own, as they always run: they set
// variables.
#include <doctest/doctest.h>

#include <cstddef>

#include "kernels/compute/vadd_body.hpp"
#include "kernels/host/driver_kernel.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "unit/fatbin/fixture.hpp"
#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

using Args = std::vector<std::string>;
using Env = std::vector<std::pair<std::string, std::string>>;

const std::vector<std::string> kVadd = {"cudamatrix_vadd"};

fixture::Blob whole_program() {
    return fixture::program({fixture::sass(75, kVadd), fixture::sass(90, kVadd), fixture::ptx(90, 8, 4)});
}

/// A suite as suite_build leaves it, for a GPU of 9.0.
class OwnSuite {
  public:
    explicit OwnSuite(const fixture::Blob& program = whole_program(), const std::string& status = "pass",
                      const std::string& asked = R"("compute":["7.5","9.0"],"ptx":"9.0")") {
        folder_.write("bin/cmp_vadd", fixture::string_of(program));
        folder_.write("static.jsonl", R"({"v":1,"id":"static.compile","part":"static","status":")" + status +
                                          R"(","reason":"no_nvcc","evidence":{)" + asked + "}}\n");
    }

    /// The record of one test. Without --mode gpu the absence of a GPU is no failure.
    [[nodiscard]] json::Value run(const std::string& id, Env env = {}, Args more = {},
                                  const std::string& driver = SUITE_FAKE_DRIVER) const {
        ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM, "test", id, "--prefix", folder_.path(), "--root", "/no/such/root"};
        spec.argv.insert(spec.argv.end(), more.begin(), more.end());
        spec.env = {{"LD_LIBRARY_PATH", driver}, {"FAKE_CC", "90"}};
        spec.env.insert(spec.env.end(), env.begin(), env.end());
        spec.limit_s = 300;
        const ProcessResult result = run_process(spec);
        std::string error;
        const auto line = json::parse(result.out, error);
        REQUIRE_MESSAGE(line, id << ": " << error << result.err);
        return *line;
    }
    [[nodiscard]] const scratch::Folder& folder() const { return folder_; }

  private:
    scratch::Folder folder_;
};

struct Expected {
    const char* id;
    const char* variable;
    const char* value;
    const char* reason;
    const char* fault;
    const char* hint_part;
};

}  // namespace

TEST_CASE("jit: what the kernel takes is what the suite's own kernel takes") {
    CHECK(sizeof(AddArgs) == sizeof(VaddArgs));
    CHECK(offsetof(AddArgs, b) == offsetof(VaddArgs, b));
    CHECK(offsetof(AddArgs, c) == offsetof(VaddArgs, c));
    CHECK(offsetof(AddArgs, n) == offsetof(VaddArgs, n));
    CHECK(offsetof(AddArgs, flag) == offsetof(VaddArgs, flag));
    CHECK(sizeof(AddFlag) == sizeof(RunFlag));
    CHECK(offsetof(AddFlag, blocks) == offsetof(RunFlag, blocks));
}

TEST_CASE("jit.ptx, jit.sass_only: a driver that does both") {
    const OwnSuite suite;
    for (const char* id : {"jit.ptx", "jit.sass_only"}) {
        const json::Value line = suite.run(id);
        CHECK_MESSAGE(line.text_of("status") == "pass", line.dump());
        CHECK(line.text_of("part") == "gpu");
        CHECK(line.text_of("fault") == "");
        CHECK(line.text_of("hint") == "");
        CHECK(suite.run(id, {}, {"--compute", "9.0", "--ptx-isa", "8.4"}).text_of("status") == "pass");
    }
    CHECK(suite.run("jit.ptx").text_of("summary") == "4099 sums exact, compiled by the driver");
    CHECK(suite.run("jit.sass_only").text_of("summary") == "4099 sums exact, without a compiler");
}

TEST_CASE("jit.ptx, jit.sass_only: each answer of the driver has its fault and hint") {
    const OwnSuite suite;
    for (const Expected& e : {
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "209", "no_kernel_image", "F6", "no PTX for this GPU"},
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "218", "invalid_ptx", "F7", "could not compile"},
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "221", "no_jit_compiler", "F8",
                      "NVIDIA_DRIVER_CAPABILITIES lacks compute"},
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "222", "ptx_too_new", "F7", "driver is older"},
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "223", "jit_disabled", "F8", "CUDA_DISABLE_PTX_JIT"},
             Expected{"jit.ptx", "FAKE_MODULE_PTX", "200", "cuda_error", "", ""},
             Expected{"jit.ptx", "FAKE_LAUNCH", "222", "ptx_too_new", "F7", "driver is older"},
             Expected{"jit.ptx", "FAKE_SYNC", "700", "cuda_error", "", ""},
             Expected{"jit.ptx", "FAKE_ALLOC", "2", "cuda_error", "", ""},
             Expected{"jit.sass_only", "FAKE_MODULE_SASS", "209", "no_kernel_image", "F6",
                      "architecture list"},
             Expected{"jit.sass_only", "FAKE_MODULE_SASS", "223", "no_kernel_image", "F6",
                      "architecture list"},
             Expected{"jit.sass_only", "FAKE_MODULE_SASS", "222", "cuda_error", "", ""},
             Expected{"jit.sass_only", "FAKE_LAUNCH", "209", "no_kernel_image", "F6", "architecture list"},
             Expected{"jit.sass_only", "FAKE_SYNC", "719", "cuda_error", "", ""},
         }) {
        const json::Value line = suite.run(e.id, {{e.variable, e.value}});
        CAPTURE(line.dump());
        CHECK(line.text_of("status") == "fail");
        CHECK(line.text_of("reason") == e.reason);
        CHECK(line.text_of("fault") == e.fault);
        CHECK(line.text_of("hint").find(e.hint_part) != std::string::npos);
        CHECK(line.text_of("summary").find(e.value) != std::string::npos);
        REQUIRE(line.find("error") != nullptr);
        CHECK(line.find("error")->find("code")->integer() == std::atoi(e.value));
    }
    // What the driver's compiler said goes into the summary, its first line.
    CHECK(suite.run("jit.ptx", {{"FAKE_MODULE", "218"}, {"FAKE_LOG", "ptxas fatal: no\nmore"}})
              .text_of("summary") == "cuModuleLoadDataEx answers 218: ptxas fatal: no");
}

TEST_CASE("jit.ptx, jit.sass_only: each sets its own variables, and the other's are not seen") {
    const OwnSuite suite;
    const Env ptx_fails = {{"FAKE_MODULE_PTX", "222"}};
    const Env sass_fails = {{"FAKE_MODULE_SASS", "209"}};
    CHECK(suite.run("jit.sass_only", ptx_fails).text_of("status") == "pass");
    CHECK(suite.run("jit.ptx", sass_fails).text_of("status") == "pass");
    // JIT that is off in the environment is a fault of the image; that it is forced does not matter without
    // it.
    CHECK(
        suite.run("jit.ptx", {{"CUDA_DISABLE_PTX_JIT", "1"}, {"FAKE_MODULE_SASS", "223"}}).text_of("fault") ==
        "F8");
    CHECK(suite
              .run("jit.sass_only",
                   {{"CUDA_FORCE_PTX_JIT", "1"}, {"CUDA_CACHE_DISABLE", "1"}, {"FAKE_MODULE_PTX", "222"}})
              .text_of("status") == "pass");
}

TEST_CASE("jit.ptx, jit.sass_only: a kernel that is wrong, idle, or of other code") {
    const OwnSuite suite;
    struct Defect {
        const char* variable;
        const char* value;
        const char* check;
    };
    for (const char* id : {"jit.ptx", "jit.sass_only"}) {
        for (const Defect& d : {Defect{"FAKE_KERNEL", "wrong", "exact: 1 of 4099"},
                                Defect{"FAKE_KERNEL", "short", "exact: 1 of 4099"},
                                Defect{"FAKE_KERNEL", "beyond", "nothing_beyond: 1 elements"},
                                Defect{"FAKE_KERNEL", "idle", "ran_flag: 0 of 6"},
                                Defect{"FAKE_KERNEL", "blocks", "ran_flag: 5 of 6"},
                                Defect{"FAKE_ARCH", "860", "code: what ran is code for 860"}}) {
            const json::Value line = suite.run(id, {{d.variable, d.value}});
            CAPTURE(line.dump());
            CHECK(line.text_of("status") == "fail");
            CHECK(line.text_of("reason") == "mismatch");
            CHECK(line.text_of("fault") == "");
            CHECK(line.text_of("summary").rfind(d.check, 0) == 0);
        }
    }
    // Machine code for 7.5 is in the program; forced to take the PTX, the driver must not have run it.
    CHECK(suite.run("jit.ptx", {{"FAKE_ARCH", "750"}}).text_of("status") == "fail");
    CHECK(suite.run("jit.sass_only", {{"FAKE_ARCH", "750"}}).text_of("status") == "pass");
}

TEST_CASE("jit.ptx, jit.sass_only: what the cell does not promise is skipped") {
    struct Row {
        const char* id;
        const char* asked;
        const char* compute;
        const char* isa;
        const char* reason;
    };
    const char* both = R"("compute":["7.5","9.0"],"ptx":"9.0")";
    for (const Row& row : {
             Row{"jit.ptx", R"("compute":["7.5"],"ptx":"")", "9.0", "8.4", "not_in_cell"},
             Row{"jit.ptx", R"("compute":["7.5"])", "", "", "not_in_cell"},
             Row{"jit.ptx", both, "7.5", "8.4", "not_in_cell"},
             Row{"jit.ptx", both, "9.0", "8.3", "driver_too_old"},
             Row{"jit.sass_only", both, "12.0", "8.7", "not_in_cell"},
             Row{"jit.sass_only", both, "8.6", "8.7", "not_in_cell"},
             Row{"jit.sass_only", R"("compute":[],"ptx":"9.0")", "9.0", "8.4", "not_in_cell"},
         }) {
        Args more;
        if (*row.compute != '\0') more = {"--compute", row.compute, "--ptx-isa", row.isa};
        // A driver that would fail: it is not even asked.
        const json::Value line =
            OwnSuite(whole_program(), "pass", row.asked).run(row.id, {{"FAKE_MODULE", "209"}}, more);
        CAPTURE(line.dump());
        CHECK(line.text_of("status") == "skip");
        CHECK(line.text_of("reason") == row.reason);
    }
    const OwnSuite suite;
    CHECK(suite.run("jit.ptx", {{"FAKE_CC", "90"}}, {"--compute", "12.0", "--ptx-isa", "8.7"})
              .text_of("status") == "pass");
    CHECK(suite.run("jit.sass_only", {{"FAKE_ARCH", "750"}}, {"--compute", "7.5"}).text_of("status") ==
          "pass");
}

TEST_CASE("jit.ptx, jit.sass_only: without a driver, a program, nvcc or a kernel in it") {
    for (const char* id : {"jit.ptx", "jit.sass_only"}) {
        const OwnSuite suite;
        const std::string nowhere = "/no/such/folder";
        CHECK(suite.run(id, {}, {}, nowhere).text_of("reason") == "no_device");
        CHECK(suite.run(id, {}, {}, nowhere).text_of("status") == "skip");
        CHECK(suite.run(id, {}, {"--mode", "gpu"}, nowhere).text_of("status") == "fail");
        CHECK(suite.run(id, {{"FAKE_DEVICES", "0"}}).text_of("reason") == "no_device");
        CHECK(suite.run(id, {{"FAKE_INIT", "803"}}).text_of("fault") == "F4");
        CHECK(suite.run(id, {}, {}, std::string(SUITE_FAKE_DRIVER) + "/stubs").text_of("fault") == "F2");

        CHECK(OwnSuite(whole_program(), "skip").run(id).text_of("reason") == "no_nvcc");
        std::filesystem::remove(suite.folder().path() + "/bin/cmp_vadd");
        CHECK(suite.run(id).text_of("reason") == "prereq_failed");
        std::filesystem::remove(suite.folder().path() + "/static.jsonl");
        CHECK(suite.run(id).text_of("reason") == "no_static_file");

        const auto other = fixture::program({fixture::sass(90, {"library"}), fixture::ptx(90, 8, 4)});
        CHECK(OwnSuite(other).run(id).text_of("reason") == "no_code");
        CHECK(OwnSuite(fixture::Blob().text("no program")).run(id).text_of("status") == "error");
        fixture::Blob cut = whole_program();
        CHECK(OwnSuite(cut.put<std::uint64_t>(40, 1ULL << 40)).run(id).text_of("status") == "error");
    }
}

TEST_CASE("jit: a kernel that the driver ran counts as one, its answers alone do not") {
    const OwnSuite suite;
    const auto totals_of = [&](const char* only, Env env) {
        ProcessSpec spec;
        spec.argv = {
            SUITE_PROGRAM, "run",    "--prefix", suite.folder().path(), "--root", "/no/such/root", "--cell",
            "c",           "--only", only,       "--limit-seconds",     "300",    "--mode",        "auto"};
        spec.env = {{"LD_LIBRARY_PATH", SUITE_FAKE_DRIVER}, {"FAKE_CC", "90"}};
        spec.env.insert(spec.env.end(), env.begin(), env.end());
        spec.limit_s = 300;
        const std::string out = run_process(spec).out;
        const std::size_t last = out.rfind('\n', out.size() - 2) + 1;
        std::string error;
        const auto line = json::parse(out.substr(last), error);
        REQUIRE_MESSAGE(line, error);
        return *line;
    };
    const json::Value ran = totals_of("dev.driver,jit.ptx,jit.sass_only", {});
    CHECK_MESSAGE(ran.text_of("verdict") == "pass", ran.dump());
    CHECK(ran.find("kernels_on_gpu")->integer() == 2);
    CHECK(totals_of("dev.driver,dev.query", {}).find("kernels_on_gpu")->integer() == 0);
    CHECK(totals_of("dev.driver,dev.query", {}).text_of("verdict") == "pass-loaded");
    const json::Value failed = totals_of("jit.ptx,jit.sass_only", {{"FAKE_MODULE_PTX", "222"}});
    CHECK(failed.text_of("verdict") == "fail");
    CHECK(failed.find("kernels_on_gpu")->integer() == 1);
    CHECK(totals_of("jit.ptx", {{"FAKE_DEVICES", "0"}}).text_of("verdict") == "nothing-ran");
}

TEST_CASE("jit: a host test is not run for a part that it has not") {
    for (const char* part : {"cpu", "load", "interpreted", "gpus"}) {
        ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM, "test", "jit.ptx", "--part", part};
        const ProcessResult result = run_process(spec);
        CHECK(result.exit_code == 2);
        CHECK_MESSAGE(result.err.find("jit.ptx has no part ") != std::string::npos, result.err);
        CHECK(result.out.empty());
    }
}
