#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudamatrix::suite::ptx {

/// Who is ordered with whom: vector clocks of the warps of a gang (Mattern, "Virtual Time and Global States
/// of Distributed Systems"), and which other blocks the gang has heard of through atomic operations.
class Clocks {
  public:
    void start(std::size_t warps);

    /// The latest step of warp `other` that `warp` is ordered behind; its own step.
    [[nodiscard]] std::uint32_t at(std::size_t warp, std::size_t other) const {
        return clocks_[warp * count_ + other];
    }
    /// A new step of a warp: what it did before is before what comes now, for all its lanes.
    void tick(std::size_t warp) { ++clocks_[warp * count_ + warp]; }
    /// Whoever adopts `into` is ordered behind what the warp did.
    void join(std::vector<std::uint32_t>& into, std::size_t warp) const;
    void adopt(std::size_t warp, const std::vector<std::uint32_t>& from);
    /// What was joined at a place; `key` names it.
    [[nodiscard]] std::vector<std::uint32_t>& published(std::uint64_t key) { return published_[key]; }

    /// Has a block of another gang done something before an atomic operation of which this gang has seen the
    /// result?
    [[nodiscard]] bool heard_of(std::uint32_t block) const;
    void hear_of(const std::vector<std::uint32_t>& blocks);
    [[nodiscard]] const std::vector<std::uint32_t>& heard() const { return heard_; }

  private:
    std::size_t count_ = 0;
    std::vector<std::uint32_t> clocks_;  // [warp][other]
    std::vector<std::uint32_t> heard_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> published_;
};

/// Adds the numbers that are not there yet.
void merge(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& more);

}  // namespace cudamatrix::suite::ptx
