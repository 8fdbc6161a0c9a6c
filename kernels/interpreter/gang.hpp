#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/clocks.hpp"
#include "kernels/interpreter/launch.hpp"

namespace cudamatrix::suite::ptx {

/// barrier.cluster of a gang (cluster.cpp).
struct ClusterBarrier {
    static constexpr std::uint64_t kNot = ~std::uint64_t{0};

    std::uint64_t phase = 0;
    std::vector<std::uint64_t> came;    ///< by warp: the phase it has come in and not waited for, or kNot
    std::vector<std::uint32_t> coming;  ///< clocks of those that have come in this phase
    std::vector<std::uint32_t> passed;  ///< and of the phase before
    void start(std::size_t warps);
};

/// Blocks that are on the device at the same time: all of a cooperative launch, a cluster, otherwise one
/// block. They take turns in one thread of the host.
class Gang {
  public:
    explicit Gang(Launch& launch) : launch_(launch) {}

    /// How many there are in a launch.
    [[nodiscard]] static std::uint64_t count(const LaunchRequest& request);
    /// Runs the blocks of gang `number` from begin to end. Throws Fault.
    void run(std::uint64_t number);

    /// Number of the block whose turn it is.
    [[nodiscard]] std::uint64_t current() const { return current_; }
    [[nodiscard]] bool is_whole_grid() const { return launch_.request.cooperative; }
    [[nodiscard]] Clocks& clocks() { return clocks_; }
    [[nodiscard]] const Clocks& clocks() const { return clocks_; }
    /// The 20 low bits of the numbers of its blocks, as races.hpp keeps them.
    [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return numbers_; }
    /// The block with these 20 bits; null when it is in another gang.
    [[nodiscard]] const Block* member(std::uint32_t number) const;

    /// The block of the cluster with this rank, which is below numbers().size().
    [[nodiscard]] Block& at(std::uint64_t rank) const { return *blocks_[rank]; }

    /// A warp comes to the cluster's barrier. Throws Fault when it has not waited since it came last.
    void arrive(Warp& warp, bool releases);
    /// True when all have come; otherwise the warp waits. Throws Fault when it has not come itself.
    bool wait(Warp& warp);
    /// A warp that waited goes on; clocks only.
    void pass_cluster(std::size_t warp);

  private:
    void check_cluster();
    void start(std::uint64_t number);
    [[nodiscard]] std::uint64_t block_number(std::uint64_t number, std::uint32_t rank) const;
    bool turn();
    bool wake();
    [[nodiscard]] std::uint32_t barrier_word() const;
    [[noreturn]] void deadlock();
    [[noreturn]] void cluster_deadlock();

    Launch& launch_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::size_t live_ = 0;
    std::vector<std::uint32_t> numbers_;
    std::uint64_t current_ = 0;
    std::size_t turn_ = 0;
    unsigned idle_ = 0;  ///< how often all were woken with nothing done since
    std::uint32_t word_ = 0;
    Random random_;
    Clocks clocks_;
    ClusterBarrier cluster_;
};

}  // namespace cudamatrix::suite::ptx
