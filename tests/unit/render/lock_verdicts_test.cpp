#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "render/lock/lock_file.hpp"

using namespace cudamatrix;

namespace {

Lock with(RecordedVerdicts verdicts) {
    Lock lock;
    lock.verdicts = std::move(verdicts);
    return lock;
}

Lock judged() {
    return with({{"drv470-t4", {"rejected", {"driver-supports-cuda", "own_rule.1"}}},
                 {"drv550-t4", {"accepted", {}}},
                 {"drv560-t4", {"unknown", {}}}});
}

std::string refused_verdict(std::string_view from, std::string_view to) {
    const auto text = lock_text(judged());
    REQUIRE(text.find(from) != std::string::npos);
    const auto lock = parse_lock(text::replace_all(text, from, to), "l");
    REQUIRE_FALSE_MESSAGE(lock.ok(), to);
    CHECK(lock.failure().code == ExitCode::bad_input);
    return lock.failure().diagnostics.front().message;
}

}  // namespace

TEST_CASE("verdicts in a lock: one line for each cell, read back as they were written") {
    const auto text = lock_text(judged());
    CHECK(text.find("  \"verdicts\": [\n    \"drv470-t4 rejected driver-supports-cuda own_rule.1\",\n"
                    "    \"drv550-t4 accepted\",\n    \"drv560-t4 unknown\"\n  ]\n") != std::string::npos);
    const auto back = parse_lock(text, "l");
    REQUIRE(back.ok());
    CHECK(*back == judged());
    CHECK(lock_text(*back) == text);
}

TEST_CASE("verdicts in a lock: one of before has none, which is not the same as an empty list") {
    CHECK(lock_text(Lock{}).find("verdicts") == std::string::npos);
    const auto old = parse_lock(lock_text(Lock{}), "l");
    REQUIRE(old.ok());
    CHECK_FALSE(old->verdicts);
    const auto none = parse_lock(lock_text(with({})), "l");
    REQUIRE(none.ok());
    CHECK(none->verdicts == RecordedVerdicts{});
}

TEST_CASE("verdicts in a lock: what is no verdict is refused") {
    const std::string good = "\"drv550-t4 accepted\"";
    for (const char* bad :
         {"", "drv550-t4", "drv550-t4 ", " accepted", "drv550-t4 fine", "drv550-t4 Accepted",
          "drv550-t4 accepted driver-supports-cuda", "drv550-t4  accepted", "drv550-t4 unknown ",
          "drv550-t4 unknown a  b", "drv550-t4 unknown a,b", "drv550-t4 unknown \\u001b[31m",
          "drv550/t4 accepted", "drv550-t4\\taccepted", "drv550-t4 accepted\\n", "drv\xc3\xa9-t4 accepted"}) {
        CHECK(refused_verdict(good, "\"" + std::string(bad) + "\"")
                  .find("is not a cell, its verdict and the rules that decided it") != std::string::npos);
    }
    for (const char* bad : {"1", "null", "true", "[]", "{}", "[\"drv550-t4\", \"accepted\"]"})
        CHECK(refused_verdict(good, bad).find("\"\" is not a cell") != std::string::npos);
    CHECK(refused_verdict(good, "\"" + std::string(129, 'a') + " accepted\"").find("is not a cell") !=
          std::string::npos);
    CHECK(refused_verdict("\"verdicts\": [", "\"verdicts\": {}, \"x\": [")
              .ends_with("a list is missing: verdicts"));
    CHECK(refused_verdict("\"verdicts\": [", "\"verdicts\": null, \"x\": [")
              .ends_with("a list is missing: verdicts"));
    CHECK(refused_verdict(good, "\"drv470-t4 accepted\"").ends_with("it has two verdicts of drv470-t4"));
    CHECK(refused_verdict(good, good + ", " + good).ends_with("it has two verdicts of drv550-t4"));
}

TEST_CASE("verdicts in a lock: as many as a judgement lists, and not one more") {
    RecordedVerdicts most;
    for (std::size_t i = 0; i < kMostVerdicts; ++i)
        most.emplace("c" + std::to_string(i), RecordedVerdict{"accepted", {}});
    CHECK(parse_lock(lock_text(with(most)), "l").ok());
    most.emplace("more", RecordedVerdict{"accepted", {}});
    const auto refused_verdict = parse_lock(lock_text(with(most)), "l");
    REQUIRE_FALSE(refused_verdict.ok());
    CHECK(
        refused_verdict.failure().diagnostics.front().message.ends_with("100001 verdicts, more than 100000"));
}

TEST_CASE("verdicts in a lock: what changed is one line") {
    using Lines = std::vector<std::string>;
    CHECK(lock_changes(judged(), judged()).empty());
    CHECK(lock_changes(Lock{}, judged()) == Lines{"verdicts: 3 cells recorded"});
    CHECK(lock_changes(judged(), Lock{}) == Lines{"verdicts: no longer recorded"});
    auto now = *judged().verdicts;
    now["drv550-t4"] = {"degraded", {"a"}};
    now["drv470-t4"].rules = {"a"};
    now.erase("drv560-t4");
    now["new"] = {"accepted", {}};
    CHECK(lock_changes(judged(), with(now)) ==
          Lines{"verdicts: 1 cell moved, 1 cell decided by other rules, 1 cell new, 1 cell gone"});
}
