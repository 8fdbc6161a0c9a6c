#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/support/context.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/record.hpp"

/// A fault on the device spoils the process for good, so a process of its own makes it: the test's program,
/// started again as `PROGRAM child PARENT ROLE`. On descriptor 3 it says what each call gave, a line each,
/// "PHASE CALL CODE", then "end".
namespace cudamatrix::suite {

inline constexpr const char* kBefore = "before";  ///< phase: all that must work for the fault to come about
inline constexpr const char* kFirst = "first";    ///< phase: the first call that has to report the fault
inline constexpr const char* kLater = "later";    ///< phase: what follows that
inline constexpr const char* kLaunch = "launch";  ///< call: the launch of the kernel that faults

struct SaidCall {
    std::string phase;
    std::string call;
    int code = 0;
};

struct Said {
    std::vector<SaidCall> calls;
    bool whole = false;  ///< every line can be read, and "end" is the last

    [[nodiscard]] std::vector<SaidCall> of(const std::string& phase) const {
        std::vector<SaidCall> found;
        for (const SaidCall& call : calls) {
            if (call.phase == phase) found.push_back(call);
        }
        return found;
    }
};

/// What can be read of it: a child that was killed leaves the begin.
inline Said read_said(const std::string& text) {
    Said said;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (said.whole) return {said.calls, false};  // nothing follows "end"
        said.whole = line == "end";
        if (said.whole) continue;
        std::istringstream words(line);
        SaidCall call;
        std::string more;
        if (!(words >> call.phase >> call.call >> call.code) || words >> more) return said;
        said.calls.push_back(call);
    }
    return said;
}

/// The call that failed before there could be a fault: then there is nothing to say about faults.
inline std::optional<SaidCall> failed_before(const ProcessResult& child) {
    for (const SaidCall& call : read_said(child.record).of(kBefore)) {
        if (call.code != 0) return call;
    }
    return std::nullopt;
}

/// Whether the kernel that faults was started.
inline bool was_launched(const Said& said) {
    const std::vector<SaidCall> before = said.of(kBefore);
    return !before.empty() && before.back().call == kLaunch && before.back().code == 0;
}

/// Why the child did not come to its end as it should; "" when it did.
inline std::string why_not_ended(const ProcessResult& child) {
    if (!child.start_error.empty()) return child.start_error;
    if (child.timed_out) return "no end in time";
    if (child.signal != 0) return "ended by signal " + std::to_string(child.signal);
    if (child.exit_code != 0) return "exit code " + std::to_string(child.exit_code);
    if (!read_said(child.record).whole) return "did not say all that it should";
    return "";
}

/// The one call of the phase `first` must have given `code`; otherwise what it gave instead, "" when it did.
inline std::string why_not_reported(const Said& said, int code) {
    const std::vector<SaidCall> first = said.of(kFirst);
    if (first.size() != 1) return std::to_string(first.size()) + " calls said what came of it";
    if (first[0].code == code) return "";
    return first[0].call + " gave " + std::to_string(first[0].code) + " instead of " + std::to_string(code);
}

/// A check that holds when there is no reason why not.
inline void check_why(Record& record, const char* name, const std::string& why) {
    record.check(name, why.empty(), why);
}

/// In the child.
inline void say(const char* phase, const char* call, int code) {
    ::dprintf(3, "%s %s %d\n", phase, call, code);
}
inline void say_end() {
    ::dprintf(3, "end\n");
}

/// The role of this process when it is a child, otherwise null.
inline const char* child_role(int argc, char** argv) {
    if (argc != 4 || std::strcmp(argv[1], "child") != 0) return nullptr;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before the line above.
    if (std::to_string(::getppid()) != argv[2]) std::_Exit(1);
    return argv[3];
}

/// Runs this program again in a role, to its end.
inline ProcessResult run_child(const Context& context, const char* role) {
    ProcessSpec spec;
    spec.argv = {"/proc/self/exe", "child", std::to_string(::getpid()), role};
    // Two of them, one after the other, stay below the limit of the test.
    spec.limit_s = context.part == "interpreted" ? 120 : 10;
    spec.grace_s = 2;
    // The interpreter shows what its last run of a kernel prints, and a fault ends the first.
    spec.env = {{"CUDAMATRIX_INTERPRETER_SCHEDULES", "1"}};
    return run_process(spec);
}

}  // namespace cudamatrix::suite
