#include "kernels/fault/assertion.hpp"

#include <map>
#include <sstream>

#include "kernels/fault/child.hpp"

namespace cudamatrix::suite {
namespace {

/// Each thread's line must be there once, in any order. Other lines are not ours: drivers and tools print,
/// too.
std::string why_not_printed(const std::string& out) {
    std::map<std::string, unsigned> found;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
        ++found[line];
    for (unsigned t = 0; t < kAssertThreads; ++t) {
        const auto known = found.find(assert_line(t));
        const unsigned times = known != found.end() ? known->second : 0;
        if (times != 1)
            return "\"" + assert_line(t) + "\" was printed " + std::to_string(times) + " times instead of 1";
    }
    return "";
}

}  // namespace

std::string assert_line(unsigned t) {
    return "cudamatrix thread " + std::to_string(t) + ": " + std::to_string(assert_number(t));
}

Record assert_check(const ProcessResult& child, const char* backend) {
    Record record;
    check_why(record, "child_ended", why_not_ended(child));
    check_why(record, "reported", why_not_reported(read_said(child.record), kAssertCode));
    check_why(record, "printed", why_not_printed(child.out));
    return judge(record, "assertion",
                 "reported as 710, and all " + std::to_string(kAssertThreads) + " lines were printed (" +
                     backend + ")");
}

}  // namespace cudamatrix::suite
