#include "knowledge/solve/rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "knowledge/rules/rule.hpp"

namespace cudamatrix::solve {
namespace {

constexpr std::uint32_t kAnswer = 1U << 31;

bool is_among(const std::vector<std::size_t>& variables, std::size_t variable) {
    return std::find(variables.begin(), variables.end(), variable) != variables.end();
}

}  // namespace

// Most nodes are of few values: what is far apart in memory is slow to walk.
void Rows::Node::set(std::uint32_t value, std::uint32_t entry) {
    if (next.empty()) first = value;
    if (value < first) {
        next.insert(next.begin(), first - value, 0);
        first = value;
    }
    if (value - first >= next.size()) next.resize(value - first + 1, 0);
    next[value - first] = entry;
}

Rows::Rows(RuleCache& cache, Answer answer, bool of_cache)
    : cache_(cache),
      answer_(std::move(answer)),
      by_variable_(cache.variables().size()),
      of_cache_(of_cache),
      asked_(cache.variables().size(), kUnassigned) {
    for (std::size_t rule = 0; rule < cache_.size(); ++rule)
        add_checks(rule);
    // What rests on less says more: it is asked first.
    std::stable_sort(checks_.begin(), checks_.end(),
                     [](const Check& a, const Check& b) { return a.variables.size() < b.variables.size(); });
    for (std::size_t check = 0; check < checks_.size(); ++check) {
        for (const auto variable : checks_[check].variables)
            by_variable_[variable].push_back(check);
    }
    rows_.resize(checks_.size());
    worst_of_.assign(cache_.size(), Verdict::rejected);
    if (of_cache_) {
        for (std::size_t rule = 0; rule < cache_.size(); ++rule)
            worst_of_[rule] = cache_.worst_of(rule);
    }
    if (of_cache_ && cache_.gpu_variable()) compare_gpus();
    trees_.assign(checks_.size(), {Node()});
}

void Rows::compare_gpus() {
    same_gpus_.resize(cache_.size());
    for (std::size_t rule = 0; rule < cache_.size(); ++rule) {
        if (is_among(cache_.reads(rule), *cache_.gpu_variable())) same_gpus_[rule] = cache_.same_gpus(rule);
    }
    const auto count = cache_.variables()[*cache_.gpu_variable()].values.size();
    std::map<std::vector<std::uint32_t>, std::uint32_t> first;
    for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
        std::vector<std::uint32_t> key;
        for (const auto& same : same_gpus_) {
            if (!same.empty()) key.push_back(same[gpu]);
        }
        same_to_all_.push_back(first.emplace(std::move(key), gpu).first->second);
    }
}

// Of what is judged apart one at a time.
void Rows::add_checks(std::size_t rule) {
    std::vector<std::size_t> apart;
    // Which release `any` stands for follows from the whole cell.
    if (of_cache_ && !cache_.has_unpinned()) {
        for (const auto variable : cache_.reads(rule)) {
            if (cache_.rule(rule).apart.contains(cache_.variables()[variable].field))
                apart.push_back(variable);
        }
    }
    if (apart.size() < 2) return add_checks(rule, {});
    for (const auto one : apart) {
        auto others = apart;
        std::erase(others, one);
        add_checks(rule, others);
    }
}

// One or two packages, with every part of the other fields that add up.
void Rows::add_checks(std::size_t rule, const std::vector<std::size_t>& left_out) {
    const auto monotone = cache_.rule(rule).monotone;
    std::vector<std::size_t> packages, fields;
    for (const auto variable : cache_.reads(rule)) {
        const auto& about = cache_.variables()[variable];
        if (!monotone.contains(about.field) || is_among(left_out, variable)) continue;
        (about.package.empty() ? fields : packages).push_back(variable);
    }
    for (std::size_t part = 0; part < std::size_t{1} << fields.size(); ++part) {
        auto smaller = left_out;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if ((part >> i & 1U) != 0) smaller.push_back(fields[i]);
        }
        for (std::size_t a = 0; a < packages.size(); ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                auto others = smaller;
                for (std::size_t other = 0; other < packages.size(); ++other) {
                    if (other != a && other != b) others.push_back(packages[other]);
                }
                if (others.size() > left_out.size()) add_check(rule, others);
            }
        }
    }
    add_check(rule, left_out);
}

void Rows::add_check(std::size_t rule, const std::vector<std::size_t>& left_out) {
    Check check{rule, {}, {}};
    for (const auto variable : cache_.reads(rule)) {
        if (!is_among(left_out, variable)) check.variables.push_back(variable);
    }
    for (const auto& need : cache_.rule(rule).needs) {
        auto& variables = check.needs.emplace_back();
        for (const auto variable : check.variables) {
            if (need.contains(cache_.variables()[variable].field)) variables.push_back(variable);
        }
        if (variables.empty() && of_cache_) return;  // it never fires
    }
    checks_.push_back(std::move(check));
}

const Bits& Rows::allowed(std::size_t check, std::size_t variable, const Assignment& assignment,
                          const Bits& wanted, Verdict worst) {
    std::u32string key{static_cast<char32_t>(variable)};
    for (const auto other : checks_[check].variables) {
        if (other != variable)
            key.push_back(static_cast<char32_t>(same(checks_[check].rule, other, assignment[other])));
    }
    auto& rows = rows_[check];
    auto entry = rows.find(key);
    if (entry == rows.end()) {
        const Bits none(cache_.variables()[variable].values.size());
        entry = rows.emplace(std::move(key), Row{none, {none, none, none}}).first;
    }
    fill(entry->second, check, variable, assignment, wanted);
    return entry->second.good[static_cast<std::size_t>(worst)];
}

void Rows::fill(Row& row, std::size_t check, std::size_t variable, const Assignment& assignment,
                const Bits& wanted) {
    auto open = wanted;
    open -= row.known;
    if (open.none()) return;
    put(check, assignment);
    open.for_each([&](std::size_t value) {
        asked_[variable] = static_cast<std::uint32_t>(value);
        row.known.add(value);
        for (auto worst = static_cast<std::size_t>(find(check, asked_, nullptr)); worst < row.good.size();
             ++worst)
            row.good[worst].add(value);
    });
}

// No variable has a value that the check is not asked of; those that its rule never reads mean nothing.
void Rows::put(std::size_t check, const Assignment& assignment) {
    asked_.assign(asked_.size(), of_cache_ ? kUnassigned : 0);
    for (const auto other : cache_.reads(checks_[check].rule))
        asked_[other] = kUnassigned;
    for (const auto other : checks_[check].variables)
        asked_[other] = assignment[other];
}

void Rows::add_looks(std::size_t check, std::size_t variable, std::uint32_t value,
                     const Assignment& assignment, Bits& others) {
    put(check, assignment);
    asked_[variable] = value;
    static_cast<void>(find(check, asked_, &others));
    others.drop(variable);
}

Verdict Rows::find(std::size_t check, const Assignment& assignment, Bits* others) {
    if (!applies(check, assignment)) return Verdict::accepted;
    auto& tree = trees_[check];
    auto entry = tree.front().at(0);
    while (entry != 0 && entry < kAnswer) {
        const auto& node = tree[entry];
        if (others != nullptr) others->add(node.look.variable);
        entry = node.at(place(check, node.look, assignment));
    }
    if (entry == 0) {
        entry = ask(check, assignment);
        if (others != nullptr) return find(check, assignment, others);
    }
    return static_cast<Verdict>(entry - kAnswer);
}

// The answer goes to the end of a path of what the rule looked at.
std::uint32_t Rows::ask(std::size_t check, const Assignment& assignment) {
    looks_.clear();
    const auto answer =
        kAnswer + static_cast<std::uint32_t>(answer_(checks_[check].rule, assignment, looks_));
    auto& tree = trees_[check];
    auto look = looks_.begin();
    std::size_t node = 0;
    std::uint32_t at = 0;
    for (;;) {
        auto entry = tree[node].at(at);
        if (entry == 0) {
            // What is on the way was looked at before.
            const auto is_known = [&](const RuleCache::Look& other) {
                return !is_among(checks_[check].variables, other.variable) ||
                       is_on_way(check, assignment, other);
            };
            while (look != looks_.end() && is_known(*look))
                ++look;
            if (look == looks_.end()) break;
            entry = static_cast<std::uint32_t>(tree.size());
            tree.push_back({*look, 0, {}});
            tree[node].set(at, entry);
        }
        node = entry;
        at = place(check, tree[node].look, assignment);
    }
    tree[node].set(at, answer);
    return answer;
}

bool Rows::is_on_way(std::size_t check, const Assignment& assignment, const RuleCache::Look& look) const {
    const auto& tree = trees_[check];
    auto entry = tree.front().at(0);
    while (entry != 0 && entry < kAnswer) {
        const auto& node = tree[entry];
        if (node.look.variable == look.variable && (!node.look.host_only || look.host_only)) return true;
        entry = node.at(place(check, node.look, assignment));
    }
    return false;
}

std::uint32_t Rows::place(std::size_t check, const RuleCache::Look& look,
                          const Assignment& assignment) const {
    const auto value = assignment[look.variable];
    return look.host_only ? cache_.same_host(value) : same(checks_[check].rule, look.variable, value);
}

bool Rows::applies(std::size_t check, const Assignment& assignment) const {
    if (!of_cache_) return true;
    const auto& needs = checks_[check].needs;
    return std::all_of(needs.begin(), needs.end(), [&](const std::vector<std::size_t>& need) {
        return std::any_of(need.begin(), need.end(), [&](std::size_t variable) {
            return cache_.variables()[variable].values[assignment[variable]].has_value();
        });
    });
}

}  // namespace cudamatrix::solve
