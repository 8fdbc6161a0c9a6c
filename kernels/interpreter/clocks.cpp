#include "kernels/interpreter/clocks.hpp"

#include <algorithm>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/gang.hpp"

namespace cudamatrix::suite::ptx {

void Clocks::start(std::size_t warps) {
    count_ = warps;
    clocks_.assign(warps * warps, 0);
    for (std::size_t w = 0; w < warps; ++w)
        clocks_[w * warps + w] = 1;
    heard_.clear();
    published_.clear();
}

void Clocks::join(std::vector<std::uint32_t>& into, std::size_t warp) const {
    into.resize(count_, 0);
    for (std::size_t i = 0; i < count_; ++i)
        into[i] = std::max(into[i], clocks_[warp * count_ + i]);
}

void Clocks::adopt(std::size_t warp, const std::vector<std::uint32_t>& from) {
    for (std::size_t i = 0; i < from.size(); ++i)
        clocks_[warp * count_ + i] = std::max(clocks_[warp * count_ + i], from[i]);
}

bool Clocks::heard_of(std::uint32_t block) const {
    return std::find(heard_.begin(), heard_.end(), block) != heard_.end();
}

void Clocks::hear_of(const std::vector<std::uint32_t>& blocks) {
    merge(heard_, blocks);
}

void merge(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& more) {
    for (const std::uint32_t one : more) {
        if (std::find(into.begin(), into.end(), one) == into.end()) into.push_back(one);
    }
}

void Block::tick(std::uint32_t warp) {
    gang_.clocks().tick(first_warp_ + warp);
}

std::uint32_t Block::clock(std::uint32_t warp) const {
    return gang_.clocks().at(first_warp_ + warp, first_warp_ + warp);
}

void Block::visit(std::size_t warp_of_gang, std::uint32_t step) {
    std::uint32_t& last = visits_[warp_of_gang];
    last = std::max(last, step);
}

/// Shared memory is there as long as one warp is that nothing orders before the access.
void Block::check_visits() const {
    for (const auto& [visitor, step] : visits_) {
        bool stays = false;
        for (std::uint32_t w = 0; w < warps_of_block(); ++w)
            stays = stays || gang_.clocks().at(first_warp_ + w, visitor) >= step;
        if (stays) continue;
        throw Fault(FaultCode::launch_failure,
                    "kernel " + launch_.request.function->name + ", block " + text_of(id_) +
                        ": race: ends, and nothing orders that behind what block " +
                        text_of(gang_.at(visitor / warps_of_block()).id()) + " does in its shared memory");
    }
}

void Block::publish(Warp& warp, const Place& place) {
    gang_.clocks().join(gang_.clocks().published(key_of(place)), first_warp_ + warp.index());
}

void Block::synchronise(Warp& warp, const Place& place, bool releases) {
    // A fence makes what was written before it visible to whoever sees the atomic operation. Whether the
    // other side has a fence, too, is not looked at.
    const bool publishes = releases || warp.fenced();
    Clocks& clocks = gang_.clocks();
    const std::uint64_t key = key_of(place);
    std::vector<std::uint32_t>& here = clocks.published(key);
    clocks.adopt(first_warp_ + warp.index(), here);
    if (publishes) {
        clocks.join(here, first_warp_ + warp.index());
        tick(warp.index());
    }
    if (place.allocation == nullptr || gang_.is_whole_grid() || (!publishes && !launch_.published)) return;
    const std::lock_guard<std::mutex> hold(launch_.lock);
    std::vector<std::uint32_t>& blocks = launch_.heard[key];
    clocks.hear_of(blocks);
    if (!publishes) return;
    launch_.published = true;
    merge(blocks, clocks.heard());
    // Which of the gang's blocks this one is ordered behind is not looked at: all are passed on.
    merge(blocks, gang_.numbers());
}

}  // namespace cudamatrix::suite::ptx
