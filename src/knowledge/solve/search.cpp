#include "knowledge/solve/search.hpp"

#include <algorithm>
#include <numeric>

namespace cudamatrix::solve {

Domains everything(const std::vector<Variable>& variables) {
    Domains out;
    for (const auto& variable : variables) {
        auto& all = out.emplace_back(variable.values.size());
        std::iota(all.begin(), all.end(), 0u);
    }
    return out;
}

Search::Search(RuleCache& cache, Domains domains, Verdict worst, std::vector<std::size_t> order)
    : Search(
          cache, std::move(domains),
          [&cache, worst](std::size_t rule, const Assignment& assignment) {
              return cache.verdict(rule, assignment) <= worst;
          },
          std::move(order)) {}

Search::Search(RuleCache& cache, Domains domains, Allows allows, std::vector<std::size_t> order)
    : cache_(cache),
      domains_(std::move(domains)),
      allows_(std::move(allows)),
      order_(std::move(order)),
      place_(domains_.size()),
      checks_(domains_.size()),
      learned_(domains_.size()),
      assignment_(domains_.size(), 0) {
    if (order_.empty()) {
        order_.resize(domains_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }
    std::stable_partition(order_.begin(), order_.end(),
                          [&](std::size_t variable) { return domains_[variable].size() <= 1; });
    for (std::size_t i = 0; i < order_.size(); ++i)
        place_[order_[i]] = i;
    if (const auto gpu = cache_.gpu_variable()) {
        for (const auto value : domains_[*gpu]) {
            const auto host = cache_.same_host(value);
            const auto is_same = [&](std::uint32_t other) { return cache_.same_host(other) == host; };
            if (std::none_of(hosts_.begin(), hosts_.end(), is_same)) hosts_.push_back(value);
        }
    }
    for (std::size_t rule = 0; rule < cache_.size(); ++rule)
        add_checks(rule);
    // What rests on less says more: it is asked first.
    for (auto& checks : checks_) {
        std::stable_sort(checks.begin(), checks.end(), [](const Check& a, const Check& b) {
            return a.variables.size() < b.variables.size();
        });
    }
}

// One or two packages, with every part of the other fields that add up.
void Search::add_checks(std::size_t rule) {
    const auto monotone = cache_.rule(rule).monotone;
    std::vector<std::size_t> packages, fields;
    for (const auto variable : cache_.reads(rule)) {
        const auto& about = cache_.variables()[variable];
        if (!monotone.contains(about.field)) continue;
        (about.package.empty() ? fields : packages).push_back(variable);
    }
    for (std::size_t part = 0; part < std::size_t{1} << fields.size(); ++part) {
        std::vector<std::size_t> left_out;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if ((part >> i & 1U) != 0) left_out.push_back(fields[i]);
        }
        for (std::size_t a = 0; a < packages.size(); ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                auto others = left_out;
                for (std::size_t other = 0; other < packages.size(); ++other) {
                    if (other != a && other != b) others.push_back(packages[other]);
                }
                if (!others.empty()) add_check(rule, others);
            }
        }
    }
    add_check(rule, {});
}

void Search::add_check(std::size_t rule, const std::vector<std::size_t>& left_out) {
    Check check{rule, {}, left_out};
    for (const auto variable : cache_.reads(rule)) {
        if (std::find(left_out.begin(), left_out.end(), variable) == left_out.end())
            check.variables.push_back(variable);
    }
    // Few answers differ by the hosts of the GPU: most show before one is assigned.
    if (cache_.reads_host_of_gpu(rule) && domains_[*cache_.gpu_variable()].size() > 1) {
        auto of_any = check;
        of_any.any_host = true;
        std::erase(of_any.variables, *cache_.gpu_variable());
        add_check(std::move(of_any));
        if (hosts_.size() == 1) return;
    }
    add_check(std::move(check));
}

void Search::add_check(Check check) {
    std::size_t last = 0;
    for (const auto variable : check.variables)
        last = std::max(last, place_[variable]);
    checks_[last].push_back(std::move(check));
}

std::optional<Assignment> Search::first(const OnClosed& closed) {
    if (!walk(0, closed)) return std::nullopt;
    return assignment_;
}

bool Search::walk(std::size_t depth, const OnClosed& closed) {
    if (depth == order_.size()) return true;
    const auto variable = order_[depth];
    Blame blame(order_.size(), false);
    for (const auto value : domains_[variable]) {
        if (!may_go_on()) return false;
        assignment_[variable] = value;
        if (const auto* variables = closing(depth, closed)) {
            for (const auto other : *variables)
                blame[place_[other]] = true;
            continue;
        }
        if (walk(depth + 1, closed)) return true;
        // What failed below does not rest on this variable: another value of it changes nothing.
        if (!blame_[depth]) return false;
        for (std::size_t i = 0; i < depth; ++i)
            blame[i] = blame[i] || blame_[i];
    }
    blame[depth] = false;
    learn(blame, depth);
    blame_ = std::move(blame);
    return false;
}

const std::vector<std::size_t>* Search::closing(std::size_t depth, const OnClosed& closed) {
    for (const auto& learned : learned_[depth]) {
        if (learned.values.count(key_of(learned.variables)) != 0) return &learned.variables;
    }
    for (const auto& check : checks_[depth]) {
        if (!is_open(check, closed)) return &check.variables;
    }
    return nullptr;
}

bool Search::is_open(const Check& check, const OnClosed& closed) {
    auto asked = assignment_;
    for (const auto variable : check.left_out)
        asked[variable] = kUnassigned;
    if (!check.any_host) {
        if (allows_(check.rule, asked)) return true;
        if (closed) closed(check.rule, asked);
        return false;
    }
    for (const auto gpu : hosts_) {
        asked[*cache_.gpu_variable()] = gpu;
        if (allows_(check.rule, asked)) return true;
    }
    // What is said of one kind of host is said of all.
    if (closed) closed(check.rule, asked);
    return false;
}

// `blame`: what no value of the variable at `depth` gets on with.
void Search::learn(const Blame& blame, std::size_t depth) {
    std::vector<std::size_t> variables;
    bool met_again = false;  // the walk comes to each combination of all that is before only once
    for (std::size_t i = 0; i < depth; ++i) {
        if (blame[i]) variables.push_back(order_[i]);
        met_again = met_again || (!blame[i] && domains_[order_[i]].size() > 1);
    }
    if (variables.empty() || !met_again) return;
    auto& known = learned_[place_[variables.back()]];
    auto here = std::find_if(known.begin(), known.end(),
                             [&](const Learned& learned) { return learned.variables == variables; });
    const auto key = key_of(variables);
    if (here == known.end()) here = known.insert(known.end(), {std::move(variables), {}});
    here->values.insert(key);
}

std::u32string Search::key_of(const std::vector<std::size_t>& variables) const {
    std::u32string key;
    for (const auto variable : variables)
        key.push_back(static_cast<char32_t>(assignment_[variable]));
    return key;
}

// Where it may not, nothing above goes on either.
bool Search::may_go_on() {
    if (budget_ != 0 && cache_.may_go_on()) {
        --budget_;
        return true;
    }
    budget_ = 0;
    blame_.assign(order_.size(), false);
    return false;
}

}  // namespace cudamatrix::solve
