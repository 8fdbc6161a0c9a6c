#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/clocks.hpp"
#include "kernels/interpreter/launch.hpp"

namespace cudamatrix::suite::ptx {

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

  private:
    void start(std::uint64_t number);
    [[nodiscard]] std::uint64_t block_number(std::uint64_t number, std::uint32_t rank) const;
    bool turn();
    bool wake();
    [[nodiscard]] std::uint32_t barrier_word() const;
    [[noreturn]] void deadlock();

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
};

}  // namespace cudamatrix::suite::ptx
