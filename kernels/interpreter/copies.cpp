#include "kernels/interpreter/copies.hpp"

#include <algorithm>
#include <iterator>

namespace cudamatrix::suite::ptx {
namespace {

/// Moves the copies for which `taken` holds out of `copies`.
template <typename F>
std::vector<Copy> take_if(std::vector<Copy>& copies, F taken) {
    std::vector<Copy> result;
    std::copy_if(copies.begin(), copies.end(), std::back_inserter(result), taken);
    copies.erase(std::remove_if(copies.begin(), copies.end(), taken), copies.end());
    return result;
}

}  // namespace

void Copies::start(std::uint32_t threads) {
    copies_.clear();
    open_.assign(threads, 0);
}

void Copies::add(Copy copy) {
    copy.group = open_[copy.thread];
    copies_.push_back(copy);
}

std::vector<Copy> Copies::wait(std::uint32_t thread, std::uint64_t pending) {
    const std::uint64_t open = open_[thread];
    return take_if(copies_,
                   [&](const Copy& copy) { return copy.thread == thread && copy.group + pending < open; });
}

std::vector<Copy> Copies::wait_all(std::uint32_t thread) {
    return take_if(copies_, [&](const Copy& copy) { return copy.thread == thread; });
}

void Copies::attach(std::uint32_t thread, std::uint64_t mbarrier, std::uint64_t phase) {
    for (Copy& copy : copies_) {
        if (copy.thread != thread || copy.mbarrier != kNoMbarrier) continue;
        copy.mbarrier = mbarrier;
        copy.phase = phase;
    }
}

std::vector<Copy> Copies::wait_mbarrier(std::uint64_t mbarrier, std::uint64_t phase) {
    return take_if(copies_,
                   [&](const Copy& copy) { return copy.mbarrier == mbarrier && copy.phase < phase; });
}

const Copy* Copies::find(std::uint64_t at, std::uint64_t size) const {
    for (const Copy& copy : copies_) {
        if (at < copy.to + copy.size && copy.to < at + size) return &copy;
    }
    return nullptr;
}

}  // namespace cudamatrix::suite::ptx
