#include "run/prove/rejection_attempt.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "run/job/build_output.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::size_t kLongestLine = 300;
constexpr int kTimedOut = 124;  // of coreutils' timeout; 137 where it had to kill
constexpr int kKilled = 137;

const StepAnswer* named(const std::vector<StepAnswer>& answers, std::string_view name) {
    const auto found =
        std::ranges::find_if(answers, [&](const StepAnswer& answer) { return answer.name == name; });
    return found == answers.end() ? nullptr : &*found;
}

std::string shown(std::string_view line) {
    return text::printable(text::trim(line).substr(0, kLongestLine));
}

// The first line that one of the globs matches.
std::optional<std::string> matching_line(std::string_view said, const std::vector<std::string>& globs) {
    for (const auto& line : text::split(said, '\n')) {
        const auto trimmed = text::trim(line);
        if (std::ranges::any_of(globs,
                                [&](const std::string& glob) { return text::glob_match(glob, trimmed); }))
            return shown(trimmed);
    }
    return std::nullopt;
}

std::string last_line(std::string_view said) {
    std::string_view last;
    const auto lines = text::split(said, '\n');
    for (const auto& line : lines) {
        if (!text::trim(line).empty()) last = text::trim(line);
    }
    return shown(last);
}

// Why a step that had to succeed did not.
std::string failure_of(const StepAnswer& answer) {
    if (!answer.exit_code) return "it left no exit code that can be read";
    if (*answer.exit_code == kTimedOut || *answer.exit_code == kKilled)
        return "it was ended by its time limit";
    const auto line = build_error(answer.said);
    return line.empty() ? fmt::format("exit code {}", *answer.exit_code) : line;
}

bool succeeded(const StepAnswer& answer) {
    return answer.exit_code == 0;
}

std::string verdict(const PlannedAttempt& planned, const std::vector<StepAnswer>& answers,
                    Rejection& rejection) {
    for (const auto& step : planned.request.steps) {
        if (step.name == kAttemptStep || step.name == kControlStep) continue;
        const auto* answer = named(answers, step.name);
        if (answer == nullptr) return fmt::format("step {} left no answer", step.name);
        if (!succeeded(*answer))
            return fmt::format("it could not be prepared: {}: {}", step.name, failure_of(*answer));
    }
    const auto* attempt = named(answers, kAttemptStep);
    const auto* control = named(answers, kControlStep);
    if (attempt == nullptr || control == nullptr) return "the attempt left no answer";
    if (succeeded(*attempt)) {
        rejection.outcome = RejectionOutcome::refuted;
        rejection.seen = last_line(attempt->said);
        return "it works after all: the rule is wrong here";
    }
    if (!attempt->exit_code || *attempt->exit_code == kTimedOut || *attempt->exit_code == kKilled)
        return "the attempt shows nothing: " + failure_of(*attempt);
    if (const auto doubt = matching_line(attempt->said, planned.doubts))
        return "the attempt shows nothing: " + *doubt;
    const auto line = matching_line(attempt->said, planned.signatures);
    if (!line) return "it failed with other words than the rule's: " + failure_of(*attempt);
    rejection.seen = *line;
    if (!succeeded(*control)) return "its control failed too: " + failure_of(*control);
    rejection.outcome = RejectionOutcome::proven;
    return {};
}

}  // namespace

std::optional<int> read_exit_code(std::string_view text) {
    const auto digits = text::trim(text);
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    int value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value > 255 ? std::nullopt : std::optional(value);
}

void judge_attempt(const PlannedAttempt& planned, const std::vector<StepAnswer>& answers,
                   Rejection& rejection) {
    rejection.outcome = RejectionOutcome::inconclusive;
    rejection.reason = verdict(planned, answers, rejection);
}

}  // namespace cudamatrix::job
