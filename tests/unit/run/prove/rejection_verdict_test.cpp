// What the answers of an attempt prove: every way in which they can fall short of a proof.
#include "run/prove/rejection_verdict.hpp"

#include <doctest/doctest.h>

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
    Answers answers;
    SUBCASE("other words") {
        answers.list[1].said = "nvcc fatal   : Unsupported gpu architecture 'compute_90'\n";
        CHECK(answers.said() ==
              "inconclusive: it failed with other words than the rule's: nvcc fatal   : Unsupported gpu "
              "architecture 'compute_90'");
    }
    SUBCASE("no words") {
        answers.list[1].said = "";
        CHECK(answers.said() == "inconclusive: it failed with other words than the rule's: exit code 1");
    }
    SUBCASE("the control fails") {
        answers.list[2] = {"control", 1, "cc1plus: error: out of memory\n"};
        CHECK(answers.said() == "inconclusive: its control failed too: cc1plus: error: out of memory");
        CHECK(answers.judged().seen == kRefusal);
    }
    SUBCASE("the control left nothing") {
        answers.list.pop_back();
        CHECK(answers.said() == "inconclusive: the attempt left no answer");
    }
    SUBCASE("the control's exit code cannot be read") {
        answers.list[2].exit_code.reset();
        CHECK(answers.said() ==
              "inconclusive: its control failed too: it left no exit code that can be read");
    }
    SUBCASE("an index that was not read") {
        answers.list[1].said =
            "ERROR: Could not find a version that satisfies the requirement torch==1 (from versions: "
            "none)\n" +
            kRefusal + "\n";
        CHECK(answers.said() ==
              "inconclusive: the attempt shows nothing: ERROR: Could not find a version that satisfies the "
              "requirement torch==1 (from versions: none)");
    }
    SUBCASE("the attempt is ended by its time limit, with the signature already said") {
        for (const int code : {124, 137}) {
            answers.list[1].exit_code = code;
            CHECK(answers.said() ==
                  "inconclusive: the attempt shows nothing: it was ended by its time limit");
        }
    }
    SUBCASE("the attempt's exit code cannot be read") {
        answers.list[1].exit_code.reset();
        CHECK(answers.said() ==
              "inconclusive: the attempt shows nothing: it left no exit code that can be read");
    }
    SUBCASE("a step before it fails") {
        answers.list[0] = {"program", 2, "start.cu(1): error: no such file\n"};
        CHECK(answers.said() ==
              "inconclusive: it could not be prepared: program: start.cu(1): error: no such file");
    }
    SUBCASE("a step before it fails, and the attempt seems to work") {
        answers.list[0].exit_code = 2;
        answers.list[1].exit_code = 0;
        CHECK(answers.said() == "inconclusive: it could not be prepared: program: exit code 2");
    }
    SUBCASE("a step before it left nothing") {
        answers.list.erase(answers.list.begin());
        CHECK(answers.said() == "inconclusive: step program left no answer");
    }
    SUBCASE("nothing at all") {
        answers.list.clear();
        CHECK(answers.said() == "inconclusive: step program left no answer");
    }
    SUBCASE("the signature in the control only") {
        answers.list[2].said = kRefusal;
        answers.list[1].said = "Killed\n";
        CHECK(answers.said() == "inconclusive: it failed with other words than the rule's: Killed");
    }
    CHECK(answers.judged().outcome == RejectionOutcome::inconclusive);
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
