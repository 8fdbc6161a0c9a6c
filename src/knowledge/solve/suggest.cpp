#include "knowledge/solve/suggest.hpp"

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "knowledge/solve/row.hpp"

namespace cudamatrix::solve {
namespace {

// What an answer lists only once: a build of torch; a toolkit where no torch is wanted.
std::size_t group_slot(const std::vector<Slot>& slots, const Domains& domains) {
    const auto slot_with = [&](Field field) {
        return static_cast<std::size_t>(
            std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.field == field; }) -
            slots.begin());
    };
    const auto torch = slot_with(Field::torch), cuda = slot_with(Field::cuda);
    const bool none =
        domains[torch].size() == 1 && slots[torch].values[domains[torch].front()]->text == "none";
    return none && cuda != slots.size() ? cuda : torch;
}

// The first combination with each value of the slot, for at most `limit` of them.
std::vector<Picks> one_for_each(Oracle& oracle, const Domains& domains, std::size_t slot, Verdict worst,
                                std::size_t limit) {
    std::vector<std::size_t> order(domains.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(slot),
                order.begin() + static_cast<std::ptrdiff_t>(slot) + 1);
    Search search(oracle, domains, worst, std::move(order));
    std::vector<Picks> out;
    auto left = domains[slot];
    while (out.size() < limit) {
        auto found = search.first();
        if (!found) break;
        left.erase(left.begin(), std::next(std::find(left.begin(), left.end(), (*found)[slot])));
        search.narrow(slot, left);
        out.push_back(*std::move(found));
    }
    return out;
}

// The best stack of each value of the group: accepted ones first.
std::vector<Picks> best_of(Oracle& oracle, Domains domains, std::size_t limit) {
    const auto group = group_slot(oracle.slots(), domains);
    auto best = one_for_each(oracle, domains, group, Verdict::accepted, limit);
    for (const auto& picks : best)
        std::erase(domains[group], picks[group]);
    for (auto& picks : one_for_each(oracle, domains, group, kGoodEnough, limit - best.size()))
        best.push_back(std::move(picks));
    return best;
}

std::string demand_text(const Slot& slot, const Demand& demand) {
    return slot.package.empty() ? fmt::format("{} {}", slot.name(), demand.text)
                                : fmt::format("need {}", demand.text);
}

// The demand with its limit moved to the new value.
std::string change_text(const Slot& slot, const Demand& demand, const Change& change) {
    const auto& value = slot.values[change.value];
    if (!value) return fmt::format("without {}", slot.name());
    const auto plain =
        slot.field == Field::torch ? value->text.substr(0, value->text.find('+')) : value->text;
    if (!slot.ordered || slot.field == Field::gpu) return fmt::format("{} {}", slot.name(), plain);
    // One build was asked for: the other is one, too.
    if (slot.field == Field::torch && demand.text.find('+') != std::string::npos)
        return fmt::format("torch {}", value->text);
    // One value: it becomes a limit. A range: its limit on that side moves.
    const bool at_least = change.newer == demand.exact;
    return fmt::format("{} {} {}", slot.name(), at_least ? ">=" : "<=", plain);
}

void explain_nothing(const Problem& problem, Suggestion& out) {
    auto& oracle = problem.oracle;
    auto conflicts = conflicts_of(problem);
    out.all_clashes = conflicts.all_sets;
    out.all_remedies = conflicts.all_relaxations;
    for (auto& conflict : conflicts.sets) {
        Clash clash;
        for (const auto index : conflict.demands)
            clash.demands.push_back(out.demands[index]);
        for (auto& evidence : conflict.evidence)
            clash.reasons.push_back({oracle.rule(evidence.rule).id, std::move(evidence.example),
                                     evidence.closed, std::move(evidence.facts)});
        out.clashes.push_back(std::move(clash));
    }
    for (const auto& relaxation : conflicts.relaxations) {
        Remedy remedy{{}, stack_of(oracle, relaxation.witness)};
        for (const auto& change : relaxation.changes) {
            const auto& demand = problem.demands[change.demand];
            remedy.changes.push_back(change_text(oracle.slots()[demand.slot], demand, change));
        }
        out.remedies.push_back(std::move(remedy));
    }
}

}  // namespace

Cell Stack::cell() const {
    Cell cell;
    for (const auto& [field, value] : fields)
        cell.set(field, &value);
    return cell;
}

Stack stack_of(Oracle& oracle, const Picks& picks) {
    Stack stack;
    stack.verdict = oracle.verdict(picks);
    const auto cell = oracle.cell(picks);
    for (const auto& field : all_fields()) {
        if (const auto* value = cell.get(field.field)) stack.fields.emplace_back(field.field, *value);
    }
    for (std::size_t rule = 0; rule < oracle.size(); ++rule) {
        for (auto& finding : oracle.findings(rule, picks)) {
            if (finding.verdict() != Verdict::accepted) stack.limits.push_back(std::move(finding));
        }
    }
    stack.row = row_text(cell);
    return stack;
}

Result<Suggestion> suggest(const Facts& facts, const Wishes& wishes, const SuggestOptions& options) {
    auto wanted_slots = wanted(facts, wishes);
    if (!wanted_slots.ok()) return std::move(wanted_slots).failure();
    Setting setting;
    setting.go_on = options.go_on;
    Oracle oracle(facts, options.today, std::move(wanted_slots->slots), setting);
    const Problem problem{oracle, std::move(wanted_slots->demands)};
    Suggestion out;
    DemandSet all;
    for (const auto& demand : problem.demands) {
        all.push_back(all.size());
        out.demands.push_back(demand_text(oracle.slots()[demand.slot], demand));
    }
    const auto domains = domains_of(problem, all);
    for (std::size_t i = 0; i < domains.size(); ++i) {
        if (domains[i].size() > 1)
            out.free.push_back(fmt::format("{} ({} values)", oracle.slots()[i].name(), domains[i].size()));
    }
    const auto kept = without_yanked(oracle.slots(), domains);
    auto best = best_of(oracle, kept, options.limit);
    if (best.empty() && kept != domains) best = best_of(oracle, domains, options.limit);
    for (const auto& picks : best)
        out.stacks.push_back(stack_of(oracle, picks));
    if (out.stacks.empty() && !oracle.is_stopped()) explain_nothing(problem, out);
    if (oracle.is_stopped()) return Failure{ExitCode::interrupted, {}};
    return out;
}

std::string matrix_text(const Suggestion& suggestion) {
    std::string out = "version: 1\nname: suggested\ninclude:\n";
    for (const auto& stack : suggestion.stacks)
        out += "  - " + stack.row + "\n";
    return out;
}

}  // namespace cudamatrix::solve
