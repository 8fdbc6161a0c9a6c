#include "kernels/support/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include "unit/kernels/scratch.hpp"

using namespace cudamatrix::suite;

namespace {

ProcessSpec fake(const std::string& what, double limit = 20, double grace = 5) {
    ProcessSpec spec;
    spec.argv = {SUITE_FAKE_TEST, what};
    spec.limit_s = limit;
    spec.grace_s = grace;
    return spec;
}

}  // namespace

TEST_CASE("record, streams and exit code come back") {
    const ProcessResult result = run_process(fake("fail"));
    CHECK(result.start_error == "");
    CHECK(result.exit_code == 1);
    CHECK(result.signal == 0);
    CHECK(result.record.rfind("{\"id\":\"cmp.vadd\"", 0) == 0);
    CHECK_FALSE(result.record_cut);
    CHECK(run_process(fake("silent:77")).exit_code == 77);
    CHECK(run_process(fake("no such word")).err.rfind("fake_suite_test: unknown word", 0) == 0);
}

TEST_CASE("a program that is not there or cannot be executed is said, not waited for") {
    ProcessSpec spec;
    CHECK(run_process(spec).start_error == "no program named");
    spec.argv = {"/no/such/program"};
    CHECK(run_process(spec).start_error == "/no/such/program: no such program");
    spec.argv = {"no-such-program-on-the-path"};
    CHECK(run_process(spec).start_error == "no-such-program-on-the-path: no such program");
    const scratch::Folder folder;
    spec.argv = {folder.write("text", "no program")};
    CHECK(run_process(spec).start_error != "");
    CHECK(find_program("") == "");
    CHECK(find_program("env") != "");
}

TEST_CASE("a crash is its signal") {
    const ProcessResult result = run_process(fake("segv"));
    CHECK(result.signal == SIGSEGV);
    CHECK(result.exit_code == -1);
    CHECK_FALSE(result.timed_out);
}

TEST_CASE("a hanging process is told to stop, a stubborn one is killed") {
    const ProcessResult hang = run_process(fake("hang", 0.3));
    CHECK(hang.timed_out);
    CHECK(hang.signal == SIGTERM);
    CHECK(hang.wall_s < 5);
    CHECK(hang.cpu_s < 0.3);
    const ProcessResult stubborn = run_process(fake("stubborn", 0.3, 0.3));
    CHECK(stubborn.timed_out);
    CHECK(stubborn.signal == SIGKILL);
    CHECK_FALSE(stubborn.unkillable);
}

TEST_CASE("what a process leaves behind in its group is killed and does not keep us waiting") {
    const ProcessResult result = run_process(fake("orphan"));
    CHECK(result.exit_code == 0);
    CHECK(result.wall_s < 5);
    CHECK(result.record != "");
}

TEST_CASE("long streams keep their end, long records their beginning") {
    const ProcessResult noisy = run_process(fake("noisy"));
    CHECK(noisy.exit_code == 0);
    CHECK(noisy.err.size() == kTailLimit);
    CHECK(noisy.err.substr(noisy.err.size() - 16) == "line      12799\n");
    const ProcessResult flood = run_process(fake("flood"));
    CHECK(flood.record.size() == kRecordLimit);
    CHECK(flood.record_cut);
    ProcessSpec counting;  // 168894 bytes
    counting.argv = {"seq", "30000"};
    CHECK(run_process(counting).out.size() == kTailLimit);
    counting.out_limit = 1 << 20;
    CHECK(run_process(counting).out.size() == 168894);
}

TEST_CASE("variables are replaced or added, the rest is inherited") {
    const scratch::Environment environment{{"KEPT", "1"}, {"REPLACED", "old"}};
    ProcessSpec spec;
    spec.argv = {"env"};
    spec.env = {{"REPLACED", "new"}, {"ADDED", "x y"}};
    std::string out = "\n";
    out += run_process(spec).out;
    CHECK(out.find("\nKEPT=1\n") != std::string::npos);
    CHECK(out.find("\nREPLACED=new\n") != std::string::npos);
    CHECK(out.find("\nADDED=x y\n") != std::string::npos);
    CHECK(out.find("REPLACED=old") == std::string::npos);
}

TEST_CASE("several run side by side and answer in order") {
    std::vector<ProcessSpec> specs;
    for (int i = 0; i < 12; ++i)
        specs.push_back(fake("silent:" + std::to_string(i)));
    const auto results = run_processes(specs, 4);
    REQUIRE(results.size() == 12);
    for (int i = 0; i < 12; ++i)
        CHECK(results[static_cast<std::size_t>(i)].exit_code == i);
}
