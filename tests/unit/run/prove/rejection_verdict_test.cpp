// What the answers of an attempt prove: every way in which they can fall short of a proof.
#include "run/prove/rejection_attempt.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace cudamatrix;
using namespace cudamatrix::job;

namespace {

const std::string kRefusal = "nvcc fatal   : Unsupported gpu architecture 'compute_100'";

PlannedAttempt planned() {
    PlannedAttempt out;
    for (const char* name : {"program", "attempt", "control"})
        out.request.steps.push_back({name, {}, {"true"}, 60});
    out.signatures = {"nvcc fatal*Unsupported gpu architecture 'compute_100'*", "another *"};
    out.doubts = {"*(from versions: none)*"};
    return out;
}

struct Answers {
    std::vector<StepAnswer> list{{"program", 0, ""}, {"attempt", 1, kRefusal + "\n"}, {"control", 0, ""}};

    Rejection judged() const {
        Rejection out;
        judge_attempt(planned(), list, out);
        return out;
    }
    // "outcome: reason"
    std::string said() const {
        const auto out = judged();
        return std::string(to_string(out.outcome)) + ": " + out.reason;
    }
};

}  // namespace

TEST_CASE("rejection verdict: a refusal with its signature beside a passing control is a proof") {
    const auto got = Answers().judged();
    CHECK(got.outcome == RejectionOutcome::proven);
    CHECK(got.seen == kRefusal);
    CHECK(got.reason.empty());
}

TEST_CASE("rejection verdict: what works after all refutes the rule, whatever the control did") {
    Answers answers;
    answers.list[1] = {"attempt", 0, "first line\ncompiled\n\n"};
    CHECK(answers.said() == "refuted: it works after all: the rule is wrong here");
    CHECK(answers.judged().seen == "compiled");
    answers.list[2].exit_code = 1;
    CHECK(answers.judged().outcome == RejectionOutcome::refuted);
}

TEST_CASE("rejection verdict: everything else is inconclusive and says why") {
    const std::string no_versions =
        "ERROR: Could not find a version that satisfies the requirement torch==1 (from versions: none)";
    const std::string other_words = "it failed with other words than the rule's: ";
    const std::string control = "its control failed too: ", shows_nothing = "the attempt shows nothing: ";
    const std::string unprepared = "it could not be prepared: program: ";
    using List = std::vector<StepAnswer>;
    struct Row {
        std::function<void(List&)> spoil;
        std::string why;
    };
    const std::vector<Row> rows{
        {[](List& list) { list[1].said = "nvcc fatal   : Unsupported gpu architecture 'compute_90'\n"; },
         other_words + "nvcc fatal   : Unsupported gpu architecture 'compute_90'"},
        {[](List& list) { list[1].said = ""; }, other_words + "exit code 1"},
        {[](List& list) {
             list[2] = {"control", 1, "cc1plus: error: out of memory\n"};
         },
         control + "cc1plus: error: out of memory"},
        {[](List& list) { list.pop_back(); }, "the attempt left no answer"},
        {[](List& list) { list[2].exit_code.reset(); }, control + "it left no exit code that can be read"},
        // An index that was not read.
        {[&](List& list) { list[1].said = no_versions + "\n" + kRefusal + "\n"; },
         shows_nothing + no_versions},
        // It is ended by its time limit, with the signature already said.
        {[](List& list) { list[1].exit_code = 124; }, shows_nothing + "it was ended by its time limit"},
        {[](List& list) { list[1].exit_code = 137; }, shows_nothing + "it was ended by its time limit"},
        {[](List& list) { list[1].exit_code.reset(); },
         shows_nothing + "it left no exit code that can be read"},
        // A step before it fails; the attempt seems to work.
        {[](List& list) {
             list[0] = {"program", 2, "start.cu(1): error: no such file\n"};
         },
         unprepared + "start.cu(1): error: no such file"},
        {[](List& list) { list[0].exit_code = 2, list[1].exit_code = 0; }, unprepared + "exit code 2"},
        {[](List& list) { list.erase(list.begin()); }, "step program left no answer"},
        {[](List& list) { list.clear(); }, "step program left no answer"},
        // The signature in the control only.
        {[](List& list) { list[2].said = kRefusal, list[1].said = "Killed\n"; }, other_words + "Killed"}};
    for (const auto& [spoil, why] : rows) {
        Answers answers;
        spoil(answers.list);
        CHECK(answers.said() == "inconclusive: " + why);
        CHECK(answers.judged().outcome == RejectionOutcome::inconclusive);
    }
    Answers control_fails;
    control_fails.list[2] = {"control", 1, "cc1plus: error: out of memory\n"};
    CHECK(control_fails.judged().seen == kRefusal);
}

TEST_CASE("rejection verdict: hostile words stay words") {
    Answers answers;
    answers.list[1].said = "\x1b[2J\xff\xfe]]>\n" + kRefusal + "\x1b[31m" + std::string(100'000, '*') + "\n";
    const auto got = answers.judged();
    CHECK(got.outcome == RejectionOutcome::proven);
    CHECK(got.seen.find('\x1b') == std::string::npos);
    CHECK(got.seen.size() <= 300);
    answers.list[1] = {"attempt", 1, "\x1b[2J\xff\n"};
    CHECK(answers.said() == "inconclusive: it failed with other words than the rule's: ?[2J?");
}

TEST_CASE("rejection verdict: an exit code is a number and nothing else") {
    CHECK(read_exit_code("0\n") == 0);
    CHECK(read_exit_code("255\n") == 255);
    for (const char* text : {"", "\n", "-1", "+1", "256", "0x0", "1 2", "0\n0", "1e2", "99999999999", "true"})
        CHECK_FALSE(read_exit_code(text).has_value());
}
