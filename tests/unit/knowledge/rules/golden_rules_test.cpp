// The folders of tests/golden hold, for every rule, a case in which it finds something and one that it
// accepts, and the same for the rules and waivers of a matrix file. A new rule without them fails here.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "folders.hpp"
#include "golden_case.hpp"
#include "knowledge/judge/evaluate.hpp"
#include "knowledge/rules/all_rules.hpp"

using namespace cudamatrix;
using namespace cudamatrix::golden;

namespace {

struct Seen {
    std::set<std::string, std::less<>> finds, accepts;
    bool own_finds = false, own_met = false, waived = false, ended = false;
};

bool finds(const Judgement& judgement, const JudgedCell& cell, std::string_view rule) {
    return std::any_of(cell.findings.begin(), cell.findings.end(), [&](auto id) {
        const auto& finding = judgement.findings[id].finding;
        return finding.rule == rule && finding.severity != Severity::note;
    });
}

void look_at(const Matrix& matrix, Seen& seen) {
    const auto judgement = judged(matrix);
    for (const auto& group : judgement.findings) {
        if (group.finding.severity == Severity::note) continue;
        seen.finds.insert(std::string(group.finding.rule));
        seen.waived = seen.waived || group.waived.has_value();
        seen.ended = seen.ended || group.finding.rule == kWaiverExpired;
    }
    for (const auto& cell : judgement.cells) {
        for (const auto& rule : rules::all_rules()) {
            if (rules::applies(rule, cell.cell) && !finds(judgement, cell, rule.id))
                seen.accepts.insert(std::string(rule.id));
        }
        for (const auto& own : matrix.rules)
            (finds(judgement, cell, own.id) ? seen.own_finds : seen.own_met) = true;
    }
}

}  // namespace

TEST_CASE("golden: every rule has a case in which it finds something and one that it accepts") {
    Seen seen;
    for (const auto* kind : {"accept", "reject"}) {
        for (const auto& folder : cases(fs::path(tests_dir()) / "golden" / kind))
            look_at(read_case(folder), seen);
    }
    for (const auto& rule : rules::all_rules()) {
        CHECK_MESSAGE(seen.finds.contains(rule.id), "no case of tests/golden has a finding of " << rule.id);
        CHECK_MESSAGE(seen.accepts.contains(rule.id), "no case of tests/golden is accepted by " << rule.id);
    }
    CHECK_MESSAGE(seen.own_finds, "no case breaks a rule of its own");
    CHECK_MESSAGE(seen.own_met, "no case meets a rule of its own");
    CHECK_MESSAGE(seen.waived, "no case has a waiver");
    CHECK_MESSAGE(seen.ended, "no case has a waiver that ended");
}
