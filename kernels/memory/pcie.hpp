#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/memory/pcie_link.hpp"
#include "kernels/support/record.hpp"

/// mem.pcie: data passes between host and device unharmed, from pageable and from pinned memory, one way and
/// both ways at once.
namespace cudamatrix::suite {

inline constexpr const char* kPcieId = "mem.pcie";
inline constexpr int kPcieThreads = 256;
inline constexpr int kPcieBlocks = 256;
inline constexpr int kPcieLaunches = 3;
inline constexpr std::size_t kPcieLarge = (std::size_t{64} << 20) + 3;   ///< words; 256 MiB
inline constexpr std::size_t kPcieSmall = (std::size_t{256} << 10) + 3;  ///< on the interpreter
inline constexpr std::size_t kPciePageableShare = 8;                     ///< of them, from pageable memory

/// Each round sends other words, so that what an earlier one left is wrong.
enum class PcieRound : std::uint32_t { pageable, pinned, both_ways };

/// What came down in one transfer, against what must.
struct PcieTally {
    std::size_t words = 0;  ///< compared; 0: the transfer was never made
    std::size_t wrong = 0;
    std::size_t first = 0;   ///< of the wrong ones
    std::size_t beyond = 0;  ///< words behind the end that were written
};

struct PcieOutputs {
    PcieTally pageable;
    PcieTally pinned;
    PcieTally down;  ///< while other words went up
    PcieTally up;    ///< what went up meanwhile, brought down afterwards
    std::vector<std::uint32_t> device_guard;
    RunFlag flag;
};

/// Seconds of the transfers from and to pinned memory; 0 = not measured.
struct PcieTimes {
    double up = 0;
    double down = 0;
    double both = 0;
};

[[nodiscard]] std::vector<std::uint32_t> pcie_inputs(std::size_t words);
/// What is sent up in a round: the first `words` of the inputs, changed.
void pcie_fill(const std::vector<std::uint32_t>& inputs, PcieRound round, std::size_t words,
               std::uint32_t* to);
/// Blanks `words` and the guard behind.
void pcie_blank(std::size_t words, std::uint32_t* out);
/// Compares `words` and the guard behind with what the kernel must have made of that round's.
[[nodiscard]] PcieTally pcie_tally(const std::vector<std::uint32_t>& inputs, PcieRound round,
                                   std::size_t words, const std::uint32_t* out);
[[nodiscard]] Record pcie_check(std::size_t words, const PcieOutputs& outputs, const std::string& backend);
/// Adds rates and link to the evidence. A link that is slower than it could be is a warning (F17), never a
/// failure.
void pcie_tell(Record& record, std::size_t words, const PcieTimes& times, const PcieLink& link);

}  // namespace cudamatrix::suite
