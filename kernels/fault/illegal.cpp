#include "kernels/fault/illegal.hpp"

#include "kernels/fault/child.hpp"

namespace cudamatrix::suite {
namespace {

/// Every later call gives the same error: nothing that the process computes can be trusted any more.
std::string why_not_sticky(const Said& said) {
    const std::vector<SaidCall> later = said.of(kLater);
    for (const SaidCall& call : later) {
        if (call.code != kIllegalAddress)
            return call.call + " gave " + std::to_string(call.code) + " after that";
    }
    if (later.size() == kIllegalLater) return "";
    return std::to_string(later.size()) + " of " + std::to_string(kIllegalLater) + " later calls were made";
}

/// All calls of a process that comes after it work, and its sums are right.
std::string why_not_clean(const ProcessResult& following) {
    const Said said = read_said(following.record);
    for (const SaidCall& call : said.calls) {
        if (call.code != 0) return call.call + " gave " + std::to_string(call.code);
    }
    const std::string ended = why_not_ended(following);
    if (!ended.empty()) return ended;
    const std::vector<SaidCall> sums = said.of(kSums);
    if (sums.size() != 1) return "it added nothing";
    return sums[0].call == kRight ? "" : "its sums are wrong: " + sums[0].call;
}

}  // namespace

Record illegal_check(const ProcessResult& faulting, const ProcessResult& following, const char* backend) {
    Record record;
    const Said said = read_said(faulting.record);
    check_why(record, "child_ended", why_not_ended(faulting));
    check_why(record, "reported", why_not_reported(said, kIllegalAddress));
    check_why(record, "sticky", why_not_sticky(said));
    check_why(record, "next_process", why_not_clean(following));
    record =
        judge(record, "illegal_access",
              "reported as 700 by all calls, and the next process is clean (" + std::string(backend) + ")");
    // A child that never came to the launch says nothing about faults.
    if (record.status == Status::fail && was_launched(said)) record.fault = "F18";
    return record;
}

}  // namespace cudamatrix::suite
