#include "knowledge/solve/ranking.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "knowledge/solve/conflict.hpp"

namespace cudamatrix::solve {
namespace {

// The rules whose "degraded" says that pip builds a package from its source.
constexpr std::array<std::string_view, 2> kSourceRules{"package-has-wheel", "package-supports-python"};
constexpr std::string_view kEndOfLife = "end-of-life";

// "2.9.1" of "2.9.1+cu128".
std::string_view release_of(std::string_view build) {
    return build.substr(0, build.find('+'));
}

// What stands once: a build of torch; a toolkit where no torch is wanted.
std::size_t group_variable(const std::vector<Variable>& variables, const Domains& domains) {
    const auto variable_with = [&](Field field) {
        return static_cast<std::size_t>(
            std::find_if(variables.begin(), variables.end(),
                         [&](const Variable& variable) { return variable.field == field; }) -
            variables.begin());
    };
    const auto torch = variable_with(Field::torch), cuda = variable_with(Field::cuda);
    const bool none =
        domains[torch].size() == 1 && variables[torch].values[domains[torch].front()]->text == "none";
    return none && cuda != variables.size() ? cuda : torch;
}

}  // namespace

Ranking::Ranking(RuleCache& cache, Domains domains)
    : cache_(cache), domains_(std::move(domains)), group_(group_variable(cache.variables(), domains_)) {
    const auto& variables = cache_.variables();
    for (std::size_t i = 0; i < variables.size(); ++i) {
        ended_.emplace_back(variables[i].values.size());
        if (!variables[i].package.empty()) packages_.push_back(i);
    }
    order_ = packages_;
    order_.push_back(group_);
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (i != group_ && variables[i].package.empty()) order_.push_back(i);
    }
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        const auto id = cache_.rule(rule).id;
        source_rules_.push_back(std::ranges::find(kSourceRules, id) != kSourceRules.end());
        if (id == kEndOfLife) end_rule_ = rule;
    }
    search_.emplace(search(builds_));
}

Search Ranking::search(bool builds) const {
    Search out(cache_, domains_, kGoodEnough, order_);
    for (std::size_t rule = 0; !builds && rule < cache_.size(); ++rule) {
        if (source_rules_[rule]) out.demand(rule, Verdict::accepted);
    }
    return out;
}

std::optional<Assignment> Ranking::next_build() {
    while (!domains_[group_].empty()) {
        if (auto found = search_->first()) {
            std::erase(domains_[group_], (*found)[group_]);
            search_->narrow(group_, domains_[group_]);
            return found;
        }
        if (builds_ || packages_.empty()) break;
        builds_ = true;
        search_.emplace(search(builds_));
    }
    return std::nullopt;
}

bool Ranking::same_release(const Assignment& a, const Assignment& b) const {
    const auto& values = cache_.variables()[group_].values;
    return std::ranges::all_of(packages_, [&](std::size_t package) { return a[package] == b[package]; }) &&
           release_of(values[a[group_]]->text) == release_of(values[b[group_]]->text);
}

std::vector<Ranked> Ranking::next() {
    std::vector<Ranked> out;
    auto found = pending_ ? std::exchange(pending_, std::nullopt) : next_build();
    if (!found) return out;
    const auto first = *found;
    const bool builds = builds_;
    out.push_back(refined(first));
    for (found = next_build(); found; found = next_build()) {
        if (builds_ != builds || !same_release(first, *found)) {
            pending_ = std::move(found);
            break;
        }
        out.push_back(refined(*found));
    }
    std::ranges::stable_sort(
        out, {}, [](const Ranked& stack) { return std::tuple(stack.limits, stack.ended.size()); });
    return out;
}

// Packages and torch stay; of the rest the values with which the fewest rules find a limit, and then those
// that are still repaired, where there are such.
Ranked Ranking::refined(const Assignment& found) {
    auto domains = domains_;
    for (const auto variable : packages_)
        domains[variable] = {found[variable]};
    domains[group_] = {found[group_]};
    auto best = found;
    auto limits = limits_of(best);
    std::optional<Search> fewest(std::in_place, cache_, domains, kGoodEnough, order_);
    auto untried = limits;
    while (!untried.empty()) {
        auto trial = *fewest;
        trial.demand(untried.back(), Verdict::accepted);
        const auto other = trial.first();
        const auto left = other ? limits_of(*other) : limits;
        untried.pop_back();
        if (!other || left.size() >= limits.size()) continue;
        fewest.emplace(std::move(trial));
        best = *other;
        limits = left;
        untried = left;
    }
    auto living = domains;
    for (std::size_t variable = 0; variable < living.size(); ++variable) {
        auto kept = living[variable];
        if (kept.size() < 2) continue;
        std::erase_if(kept, [&](std::uint32_t value) { return has_ended(variable, value); });
        if (!kept.empty()) living[variable] = std::move(kept);
    }
    if (living != domains) {
        Search repaired(cache_, living, kGoodEnough, order_);
        for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
            if (std::ranges::find(limits, rule) == limits.end()) repaired.demand(rule, Verdict::accepted);
        }
        if (const auto other = repaired.first()) best = *other;
    }
    Ranked out{best, false, limits.size(), {}};
    out.builds = std::ranges::any_of(limits, [&](std::size_t rule) { return source_rules_[rule]; });
    for (std::size_t variable = 0; variable < best.size(); ++variable) {
        if (has_ended(variable, best[variable]))
            out.ended.push_back(
                fmt::format("{} {}", cache_.variables()[variable].name(), text(out, variable)));
    }
    return out;
}

std::vector<std::size_t> Ranking::limits_of(const Assignment& values) const {
    std::vector<std::size_t> out;
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        if (cache_.verdict(rule, values) != Verdict::accepted) out.push_back(rule);
    }
    return out;
}

bool Ranking::has_ended(std::size_t variable, std::uint32_t value) {
    auto& known = ended_[variable][value];
    if (known) return *known;
    Assignment alone(ended_.size(), kUnassigned);
    alone[variable] = value;
    known = end_rule_ && std::ranges::any_of(cache_.findings(*end_rule_, alone), [](const Finding& finding) {
                return finding.severity == Severity::notice;
            });
    return *known;
}

std::string Ranking::text(const Ranked& stack, std::size_t variable) const {
    const auto& value = cache_.variables()[variable].values[stack.values[variable]];
    return value ? value->text : "none";
}

std::string Ranking::difference(const Ranked& better, const Ranked& other) const {
    if (better.builds != other.builds) return "something of it is built from its source";
    const auto older = [&](std::size_t variable, std::string_view a, std::string_view b) {
        return fmt::format("{} {} is older than {}", cache_.variables()[variable].name(), b, a);
    };
    for (const auto package : packages_) {
        if (better.values[package] != other.values[package])
            return older(package, text(better, package), text(other, package));
    }
    const auto a = text(better, group_), b = text(other, group_);
    if (release_of(a) != release_of(b)) return older(group_, release_of(a), release_of(b));
    if (better.limits != other.limits)
        return fmt::format("{} instead of {}", text::count(other.limits, "limit"),
                           better.limits == 0 ? "none" : std::to_string(better.limits));
    if (better.ended.size() != other.ended.size())
        return fmt::format("past its end of life: {}", text::join(other.ended, ", "));
    return fmt::format("torch {} is built for an older CUDA than {}", b, a);
}

std::string Ranking::merits(const Ranked& first) const {
    std::vector<std::string> newest;
    for (const auto package : packages_)
        newest.push_back(fmt::format("the newest {}", cache_.variables()[package].name()));
    newest.push_back(fmt::format("the newest {}", cache_.variables()[group_].name()));
    auto out = text::join(newest, ", then ") + (newest.size() == 1 ? " that fits" : " that fit");
    if (!packages_.empty()) out += first.builds ? "; not all of it has wheels" : ", all from wheels";
    return out;
}

}  // namespace cudamatrix::solve
