#include "solve/search.hpp"

#include <algorithm>
#include <numeric>

namespace cudamatrix::solve {

Domains everything(const std::vector<Slot>& slots) {
    Domains out;
    for (const auto& slot : slots) {
        auto& all = out.emplace_back(slot.values.size());
        std::iota(all.begin(), all.end(), 0u);
    }
    return out;
}

Search::Search(Oracle& oracle, Domains domains, std::vector<std::size_t> order)
    : oracle_(oracle), domains_(std::move(domains)), order_(std::move(order)), picks_(domains_.size(), 0) {
    if (order_.empty()) {
        order_.resize(domains_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }
    std::stable_partition(order_.begin(), order_.end(),
                          [&](std::size_t slot) { return domains_[slot].size() <= 1; });
    std::vector<std::size_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i)
        place[order_[i]] = i;
    ready_.resize(order_.size());
    for (std::size_t rule = 0; rule < oracle_.size(); ++rule) {
        std::size_t last = 0;
        for (const auto slot : oracle_.reads(rule))
            last = std::max(last, place[slot]);
        ready_[last].push_back(rule);
    }
}

std::optional<Picks> Search::first(Verdict worst, const OnClosed& closed) {
    if (!walk(0, worst, closed)) return std::nullopt;
    return picks_;
}

bool Search::walk(std::size_t depth, Verdict worst, const OnClosed& closed) {
    if (depth == order_.size()) return true;
    const auto slot = order_[depth];
    return std::any_of(domains_[slot].begin(), domains_[slot].end(), [&](std::uint32_t value) {
        picks_[slot] = value;
        if (budget_ == 0) return false;
        --budget_;
        return is_open(depth, worst, closed) && walk(depth + 1, worst, closed);
    });
}

bool Search::is_open(std::size_t depth, Verdict worst, const OnClosed& closed) {
    for (const auto rule : ready_[depth]) {
        if (oracle_.verdict(rule, picks_) <= worst) continue;
        if (closed) closed(rule, picks_);
        return false;
    }
    return true;
}

}  // namespace cudamatrix::solve
