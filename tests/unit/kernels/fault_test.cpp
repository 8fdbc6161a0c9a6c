// What the tests of faults make of what their children said.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/fault/assertion.hpp"
#include "kernels/fault/child.hpp"
#include "kernels/fault/illegal.hpp"

using namespace cudamatrix::suite;

namespace {

ProcessResult ended(std::string record, std::string out = "") {
    ProcessResult result;
    result.exit_code = 0;
    result.record = std::move(record);
    result.out = std::move(out);
    return result;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    REQUIRE_MESSAGE(at != std::string::npos, old);
    return text.replace(at, old.size(), with);
}

ProcessResult killed(ProcessResult child, int signal, const std::string& record) {
    child.exit_code = -1;
    child.signal = signal;
    child.record = record;
    return child;
}

// "status fault: summary".
std::string text_of(const Record& record) {
    const char* status = record.status == Status::pass   ? "pass"
                         : record.status == Status::fail ? "fail"
                                                         : "other";
    return status + (record.fault.empty() ? "" : " " + record.fault) + ": " + record.summary;
}

const std::string kLaunched = "before cudaMalloc 0\nbefore cudaMemset 0\nbefore launch 0\n";
const std::string kFaulted = kLaunched +
                             "first cudaDeviceSynchronize 700\n"
                             "later cudaDeviceSynchronize 700\n"
                             "later cudaMemcpy 700\n"
                             "later cudaMalloc 700\n"
                             "later launch 700\n"
                             "end\n";
const std::string kAdded = "sums right 0\nend\n";

std::string illegal_text(const ProcessResult& faulting, const ProcessResult& following) {
    return text_of(illegal_check(faulting, following, "GPU"));
}

std::string all_lines() {
    std::string lines;
    for (unsigned t = 0; t < kAssertThreads; ++t)
        lines += assert_line(t) + "\n";
    return lines;
}

const std::string kAsserted = "before launch 0\nfirst cudaDeviceSynchronize 710\nend\n";

std::string assert_text(const ProcessResult& child) {
    return text_of(assert_check(child, "GPU"));
}

}  // namespace

TEST_CASE("children of the fault tests: what they say is read whole or not at all") {
    CHECK(read_said(kFaulted).whole);
    CHECK(read_said("end\n").whole);
    CHECK(read_said(kFaulted).of("later").size() == 4);
    for (const char* text :
         {"", "\n", "end\nend\n", "end\nfirst x 700\n", "end\n\n", "END\n", " end\n", "first x 700\n",
          "first x\nend\n", "first x 700 more\nend\n", "first x seven\nend\n", "first x 99999999999\nend\n",
          "{\"status\": \"pass\"}\nend\n"})
        CHECK_MESSAGE(!read_said(text).whole, text);
    // A killed child leaves the begin, perhaps half a line.
    CHECK(read_said(kLaunched + "first cudaDev").calls.size() == 3);
    CHECK(was_launched(read_said(kLaunched + "first cudaDev")));
    for (const char* text : {"", "before cudaMalloc 0\n", "before launch 209\n", "first launch 0\n", "end\n"})
        CHECK_MESSAGE(!was_launched(read_said(text)), text);
}

TEST_CASE("children of the fault tests: what failed before is no fault of theirs") {
    CHECK(!failed_before(ended(kFaulted)));
    CHECK(!failed_before(ended("")));
    CHECK(!failed_before(ended("first cudaDeviceSynchronize 719\n")));
    const auto failed = failed_before(ended("before cudaMalloc 46\nend\n"));
    REQUIRE(failed);
    CHECK(failed->call == "cudaMalloc");
    CHECK(failed->code == 46);
    CHECK(failed_before(ended("before cudaMalloc 0\nbefore launch 209\nend\n"))->code == 209);
}

TEST_CASE("children of the fault tests: a program is a child only when it is started as one") {
    const std::vector<std::vector<std::string>> rows = {{"p"},
                                                        {"p", "child"},
                                                        {"p", "child", "1"},
                                                        {"p", "child", "1", "adds", "more"},
                                                        {"p", "--part", "gpu", "adds"},
                                                        {"p", "Child", "1", "adds"}};
    for (std::vector<std::string> row : rows) {
        std::vector<char*> argv;
        for (std::string& arg : row)
            argv.push_back(arg.data());
        CHECK(child_role(static_cast<int>(argv.size()), argv.data()) == nullptr);
    }
}

TEST_CASE("fault.illegal: green when all calls say 700 and the next process adds") {
    CHECK(illegal_text(ended(kFaulted), ended(kAdded)) ==
          "pass: reported as 700 by all calls, and the next process is clean (GPU)");
}

TEST_CASE("fault.illegal: red with each way that a fault is not reported or not left behind") {
    struct Row {
        const char* what;
        ProcessResult faulting;
        ProcessResult following;
        const char* text;
    };
    const auto said = [](const char* old, const char* with) { return ended(replaced(kFaulted, old, with)); };
    ProcessResult late = ended(kLaunched);
    late.timed_out = true;
    late.exit_code = -1;
    ProcessResult refused;
    refused.start_error = "/proc/self/exe: no such program";
    ProcessResult failing = ended(kFaulted);
    failing.exit_code = 1;
    ProcessResult failing_next = ended(kAdded);
    failing_next.exit_code = 1;
    ProcessResult late_next = ended("");
    late_next.timed_out = true;
    const Row rows[] = {
        {"not reported", said("first cudaDeviceSynchronize 700", "first cudaDeviceSynchronize 0"),
         ended(kAdded), "fail F18: reported: cudaDeviceSynchronize gave 0 instead of 700"},
        {"another error", said("first cudaDeviceSynchronize 700", "first cudaDeviceSynchronize 719"),
         ended(kAdded), "fail F18: reported: cudaDeviceSynchronize gave 719 instead of 700"},
        {"an assertion's error", said("first cudaDeviceSynchronize 700", "first cudaDeviceSynchronize 710"),
         ended(kAdded), "fail F18: reported: cudaDeviceSynchronize gave 710 instead of 700"},
        {"no call that reports", said("first cudaDeviceSynchronize 700\n", ""), ended(kAdded),
         "fail F18: reported: 0 calls said what came of it"},
        {"forgotten at once", said("later cudaDeviceSynchronize 700", "later cudaDeviceSynchronize 0"),
         ended(kAdded), "fail F18: sticky: cudaDeviceSynchronize gave 0 after that"},
        {"forgotten by a copy", said("later cudaMemcpy 700", "later cudaMemcpy 0"), ended(kAdded),
         "fail F18: sticky: cudaMemcpy gave 0 after that"},
        {"another error later", said("later cudaMalloc 700", "later cudaMalloc 2"), ended(kAdded),
         "fail F18: sticky: cudaMalloc gave 2 after that"},
        {"the last launch works", said("later launch 700", "later launch 0"), ended(kAdded),
         "fail F18: sticky: launch gave 0 after that"},
        {"a call left out", said("later cudaMalloc 700\n", ""), ended(kAdded),
         "fail F18: sticky: 3 of 4 later calls were made"},
        {"killed by the fault", killed(ended(""), 11, kLaunched), ended(kAdded),
         "fail F18: child_ended: ended by signal 11"},
        {"killed before there was one", killed(ended(""), 11, "before cudaMalloc 0\n"), ended(kAdded),
         "fail: child_ended: ended by signal 11"},
        {"hangs", late, ended(kAdded), "fail F18: child_ended: no end in time"},
        {"not started", refused, ended(kAdded), "fail: child_ended: /proc/self/exe: no such program"},
        {"says nothing", ended(""), ended(kAdded), "fail: child_ended: did not say all that it should"},
        {"fails at its end", failing, ended(kAdded), "fail F18: child_ended: exit code 1"},
        {"a record instead", ended("{\"status\": \"pass\"}"), ended(kAdded),
         "fail: child_ended: did not say all that it should"},
        {"the next has no memory", ended(kFaulted), ended("before cudaMalloc 2\nend\n"),
         "fail F18: next_process: cudaMalloc gave 2"},
        {"the next has the error, too", ended(kFaulted), ended("before cudaMalloc 700\nend\n"),
         "fail F18: next_process: cudaMalloc gave 700"},
        {"the next adds wrongly", ended(kFaulted), ended("sums exact 0\nend\n"),
         "fail F18: next_process: its sums are wrong: exact"},
        {"the next's kernel never ran", ended(kFaulted), ended("sums ran_flag 0\nend\n"),
         "fail F18: next_process: its sums are wrong: ran_flag"},
        {"the next adds nothing", ended(kFaulted), ended("end\n"),
         "fail F18: next_process: it added nothing"},
        {"the next stops half way", ended(kFaulted), ended("sums right 0\n"),
         "fail F18: next_process: did not say all that it should"},
        {"the next crashes", ended(kFaulted), killed(ended(""), 6, ""),
         "fail F18: next_process: ended by signal 6"},
        {"the next fails at its end", ended(kFaulted), failing_next, "fail F18: next_process: exit code 1"},
        {"the next hangs", ended(kFaulted), late_next, "fail F18: next_process: no end in time"},
        {"the next is not started", ended(kFaulted), refused,
         "fail F18: next_process: /proc/self/exe: no such program"},
        {"the next was the faulting one", ended(kFaulted), ended(kFaulted),
         "fail F18: next_process: cudaDeviceSynchronize gave 700"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(illegal_text(row.faulting, row.following) == row.text);
    }
}

TEST_CASE("fault.assert: green when 710 is said and every line is there, in any order") {
    CHECK(assert_line(0) == "cudamatrix thread 0: 2654435761");
    CHECK(assert_line(1) == "cudamatrix thread 1: 1013904226");
    const char* passed = "pass: reported as 710, and all 64 lines were printed (GPU)";
    CHECK(assert_text(ended(kAsserted, all_lines())) == passed);
    const std::string first = assert_line(0) + "\n";
    CHECK(assert_text(ended(kAsserted, "a tool's line\n" + replaced(all_lines(), first, "") + first)) ==
          passed);
}

TEST_CASE("fault.assert: red with each way that it is not reported or not printed") {
    struct Row {
        const char* what;
        ProcessResult child;
        const char* text;
    };
    const auto said = [](const char* code) { return ended(replaced(kAsserted, "710", code), all_lines()); };
    const auto printed = [](const char* old, const char* with) {
        return ended(kAsserted, replaced(all_lines(), old, with));
    };
    ProcessResult late = ended("before launch 0\n", all_lines());
    late.timed_out = true;
    ProcessResult failing = ended(kAsserted, all_lines());
    failing.exit_code = 134;
    const Row rows[] = {
        {"not reported: assert() was compiled away", said("0"),
         "fail: reported: cudaDeviceSynchronize gave 0 instead of 710"},
        {"another error", said("719"), "fail: reported: cudaDeviceSynchronize gave 719 instead of 710"},
        {"an illegal address", said("700"), "fail: reported: cudaDeviceSynchronize gave 700 instead of 710"},
        {"no call that reports", ended("before launch 0\nend\n", all_lines()),
         "fail: reported: 0 calls said what came of it"},
        {"two that do", ended("first a 710\nfirst b 710\nend\n", all_lines()),
         "fail: reported: 2 calls said what came of it"},
        {"nothing was flushed", ended(kAsserted),
         "fail: printed: \"cudamatrix thread 0: 2654435761\" was printed 0 times instead of 1"},
        {"the last line is cut", printed("thread 63: 2380164160\n", "thread 63: 238"),
         "fail: printed: \"cudamatrix thread 63: 2380164160\" was printed 0 times instead of 1"},
        {"a line is missing", printed("cudamatrix thread 0: 2654435761\n", ""),
         "fail: printed: \"cudamatrix thread 0: 2654435761\" was printed 0 times instead of 1"},
        {"a line is there twice",
         printed("cudamatrix thread 1: 1013904226\n",
                 "cudamatrix thread 1: 1013904226\ncudamatrix thread 1: 1013904226\n"),
         "fail: printed: \"cudamatrix thread 1: 1013904226\" was printed 2 times instead of 1"},
        {"a wrong number", printed("thread 1: 1013904226", "thread 1: 1013904227"),
         "fail: printed: \"cudamatrix thread 1: 1013904226\" was printed 0 times instead of 1"},
        {"two lines in one", printed("2654435761\n", "2654435761"),
         "fail: printed: \"cudamatrix thread 0: 2654435761\" was printed 0 times instead of 1"},
        {"killed by the assertion", killed(ended("", all_lines()), 6, "before launch 0\n"),
         "fail: child_ended: ended by signal 6"},
        {"hangs", late, "fail: child_ended: no end in time"},
        {"fails at its end", failing, "fail: child_ended: exit code 134"},
        {"says nothing", ended("", all_lines()), "fail: child_ended: did not say all that it should"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(assert_text(row.child) == row.text);
    }
}
