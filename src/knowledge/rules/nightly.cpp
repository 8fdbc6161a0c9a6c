#include "knowledge/rules/nightly.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

std::string text_of(const Nightly& nightly) {
    return fmt::format("{}.dev{}{}", nightly.number, nightly.day, nightly.variant);
}

void judge_as(Ask& ask, const std::string& torch, const std::function<void(Ask&)>& judge, Findings& found,
              Acceptances* passes) {
    const Value value{torch, {}, {}};
    const auto cell = ask.cell.with(Field::torch, &value);
    auto other = ask.on(cell).into(found, passes);
    judge(other);
}

bool is_about_torch(const std::vector<Field>& about) {
    return std::find(about.begin(), about.end(), Field::torch) != about.end();
}

std::string judged_as(const Nightly& nightly) {
    return fmt::format(" (torch {} is judged as {})", text_of(nightly), nightly.number);
}

// The worse side's finding, of which it is not known whether it holds.
Finding between(const Around& around, const Nightly& nightly, const std::string& aspect) {
    const auto release = worst_of(around.of_release, aspect), before = worst_of(around.of_before, aspect);
    const auto& worse = release > before ? around.of_release : around.of_before;
    const auto found = std::ranges::find_if(worse, [&](const Finding& each) {
        return each.aspect == aspect && each.verdict() == std::max(release, before);
    });
    auto out = *found;
    out.severity = Severity::unknown;
    out.message += fmt::format("; so torch {} is {} and {} {}, and {} is between the two", around.before,
                               to_string(before), around.release, to_string(release), text_of(nightly));
    Answer(out).fix(Field::torch, release > before ? around.before : around.release);
    return out;
}

void judge_between(Ask& ask, const Nightly& nightly, const std::function<void(Ask&)>& judge) {
    auto around = ask_around(ask, nightly, judge);
    std::vector<std::string> aspects, open;
    for (const auto* side : {&around.of_release, &around.of_before}) {
        for (const auto& each : *side) {
            if (std::ranges::find(aspects, each.aspect) == aspects.end()) aspects.push_back(each.aspect);
        }
    }
    for (const auto& aspect : aspects) {
        if (!around.before.empty() &&
            worst_of(around.of_release, aspect) != worst_of(around.of_before, aspect)) {
            ask.out().push_back(between(around, nightly, aspect));
            open.push_back(aspect);
            continue;
        }
        for (auto& each : around.of_release) {
            if (each.aspect != aspect) continue;
            say_of_nightly(each, nightly);
            ask.out().push_back(std::move(each));
        }
    }
    for (auto& each : around.passes) {
        if (std::ranges::find(open, each.aspect) != open.end()) continue;
        if (is_about_torch(each.about)) each.sentence += judged_as(nightly);
        ask.accepted->push_back(std::move(each));
    }
}

}  // namespace

Around ask_around(Ask& ask, const Nightly& nightly, const std::function<void(Ask&)>& judge) {
    Around out;
    out.release = nightly.release();
    judge_as(ask, out.release, judge, out.of_release, ask.accepted == nullptr ? nullptr : &out.passes);
    const auto release = ask.facts.row("torch-" + nightly.number);
    const auto before = release ? minor_before(ask.facts, Version::parse(nightly.number)) : std::nullopt;
    if (!before) return out;
    out.before = before->text() + nightly.variant;
    judge_as(ask, out.before, judge, out.of_before, nullptr);
    return out;
}

Verdict worst_of(const Findings& findings, std::string_view aspect) {
    auto out = Verdict::accepted;
    for (const auto& each : findings) {
        if (each.aspect == aspect) out = std::max(out, each.verdict());
    }
    return out;
}

void say_of_nightly(Finding& finding, const Nightly& nightly) {
    if (is_about_torch(finding.about)) finding.message += judged_as(nightly);
}

Rule with_nightlies(Rule rule) {
    for (auto& question : rule.questions)
        question = with_nightlies(std::move(question));
    if (rule.judges_nightlies || !rule.reads.contains(Field::torch) || !rule.judge) return rule;
    rule.judge = [judge = std::move(rule.judge)](Ask& ask) {
        const auto* torch = ask.cell.peek(Field::torch);
        const auto nightly = torch == nullptr ? std::nullopt : nightly_of(torch->text);
        if (!nightly) return judge(ask);
        judge_between(ask, *nightly, judge);
    };
    return rule;
}

std::optional<Value> release_in_place(const ProjectedCell& cell) {
    const auto* torch = cell.peek(Field::torch);
    const auto nightly = torch == nullptr ? std::nullopt : nightly_of(torch->text);
    if (!nightly) return std::nullopt;
    return Value{nightly->release(), torch->where, {}};
}

}  // namespace cudamatrix::rules
