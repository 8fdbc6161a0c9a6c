#include "kernels/interpreter/copies.hpp"

#include <algorithm>
#include <iterator>

namespace cudamatrix::suite::ptx {

/// Moves the copies for which `taken` holds out of `copies`.
template <typename F>
std::vector<Copy> Copies::take_if(std::vector<Copy>& copies, F taken) {
    std::vector<Copy> result;
    std::copy_if(copies.begin(), copies.end(), std::back_inserter(result), taken);
    copies.erase(std::remove_if(copies.begin(), copies.end(), taken), copies.end());
    count_ -= result.size();
    return result;
}

void Copies::start(std::uint32_t threads) {
    count_ = 0;
    copies_.assign(threads, {});
    open_.assign(threads, 0);
}

void Copies::add(Copy copy) {
    copy.group = open_[copy.thread];
    copies_[copy.thread].push_back(copy);
    ++count_;
}

std::vector<Copy> Copies::wait(std::uint32_t thread, std::uint64_t pending) {
    const std::uint64_t open = open_[thread];
    return take_if(copies_[thread], [&](const Copy& copy) { return copy.group + pending < open; });
}

std::vector<Copy> Copies::wait_all(std::uint32_t thread) {
    return take_if(copies_[thread], [](const Copy&) { return true; });
}

void Copies::attach(std::uint32_t thread, std::uint64_t mbarrier, std::uint64_t phase) {
    for (Copy& copy : copies_[thread]) {
        if (copy.mbarrier != kNoMbarrier) continue;
        copy.mbarrier = mbarrier;
        copy.phase = phase;
    }
}

std::vector<Copy> Copies::wait_mbarrier(std::uint64_t mbarrier, std::uint64_t phase) {
    std::vector<Copy> all;
    if (count_ == 0) return all;
    for (std::vector<Copy>& copies : copies_) {
        const std::vector<Copy> taken = take_if(
            copies, [&](const Copy& copy) { return copy.mbarrier == mbarrier && copy.phase < phase; });
        all.insert(all.end(), taken.begin(), taken.end());
    }
    return all;
}

const Copy* Copies::find(std::uint64_t at, std::uint64_t size) const {
    for (const std::vector<Copy>& copies : copies_) {
        for (const Copy& copy : copies) {
            if (at < copy.to + copy.size && copy.to < at + size) return &copy;
        }
    }
    return nullptr;
}

}  // namespace cudamatrix::suite::ptx
