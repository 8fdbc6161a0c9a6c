// Who is ordered with whom: vector clocks of a block's warps (Mattern, "Virtual Time and Global States of
// Distributed Systems"), and which blocks a block has heard of through atomic operations.
#include <algorithm>

#include "kernels/interpreter/block.hpp"

namespace cudamatrix::suite::ptx {

void Block::start_clocks() {
    const std::size_t count = warps_.size();
    clocks_.assign(count * count, 0);
    for (std::size_t w = 0; w < count; ++w)
        clocks_[w * count + w] = 1;
    heard_.clear();
    published_.clear();
    const std::size_t words = launch_.options.races ? (shared_.size() + 7) / 4 : 0;
    last_writes_.assign(words, 0);
    last_reads_.assign(words, 0);
}

void Block::tick(std::uint32_t warp) {
    ++clocks_[warp * warps_.size() + warp];
}

void Block::join(std::vector<std::uint32_t>& into, std::uint32_t warp) const {
    into.resize(warps_.size(), 0);
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = std::max(into[i], clocks_[warp * warps_.size() + i]);
}

void Block::adopt(std::uint32_t warp, const std::vector<std::uint32_t>& from) {
    for (std::size_t i = 0; i < from.size(); ++i)
        clocks_[warp * warps_.size() + i] = std::max(clocks_[warp * warps_.size() + i], from[i]);
}

bool Block::heard_of(std::uint32_t block) const {
    return std::find(heard_.begin(), heard_.end(), block) != heard_.end();
}

void Block::publish(Warp& warp, const Place& place) {
    join(published_[place.offset], warp.index());
}

void Block::synchronise(Warp& warp, const Place& place) {
    // A fence makes what was written before it visible to whoever sees the atomic operation. Whether the
    // other side has a fence, too, is not looked at.
    const std::uint64_t key =
        place.allocation == nullptr ? place.offset : place.allocation->address + place.offset;
    std::vector<std::uint32_t>& here = published_[key];
    adopt(warp.index(), here);
    if (warp.fenced()) {
        join(here, warp.index());
        tick(warp.index());
    }
    if (place.allocation == nullptr || (!warp.fenced() && !launch_.published)) return;
    const std::lock_guard<std::mutex> hold(launch_.lock);
    std::vector<std::uint32_t>& blocks = launch_.heard[key];
    for (const std::uint32_t block : blocks) {
        if (!heard_of(block)) heard_.push_back(block);
    }
    if (!warp.fenced()) return;
    launch_.published = true;
    for (const std::uint32_t block : heard_) {
        if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) blocks.push_back(block);
    }
    const auto own = static_cast<std::uint32_t>(number_ & 0xfffff);
    if (std::find(blocks.begin(), blocks.end(), own) == blocks.end()) blocks.push_back(own);
}

}  // namespace cudamatrix::suite::ptx
