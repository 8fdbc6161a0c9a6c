// What `rules show` prints of each rule is true: its failing example fails by this very rule, citing facts,
// and its passing example is asked and accepted.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.hpp"
#include "entries.hpp"
#include "knowledge/rules/rule.hpp"

using namespace cudamatrix;
using namespace cudamatrix::rules;

TEST_CASE("every rule fails and passes its own examples") {
    std::set<std::string_view> ids;
    for (const auto& rule : all_rules()) {
        CAPTURE(rule.id);
        CHECK(ids.insert(rule.id).second);
        CHECK(!rule.summary.empty());
        CHECK(!rule.why.empty());
        const auto failing = asked_example(rule, rule.fails);
        CHECK(failing.asked);
        const auto tells = [](const Finding& finding) {
            return finding.verdict() == Verdict::rejected || finding.verdict() == Verdict::degraded ||
                   finding.severity == Severity::notice;
        };
        CHECK(std::any_of(failing.findings.begin(), failing.findings.end(), tells));
        for (const auto& finding : failing.findings) {
            CHECK_MESSAGE(!finding.facts.empty(), finding.message);
        }
        const auto passing = asked_example(rule, rule.passes);
        CHECK(passing.asked);
        for (const auto& finding : passing.findings)
            CHECK_MESSAGE(finding.severity == Severity::note, finding.message);
    }
    MESSAGE(fmt::format("{} rules", ids.size()));
}
