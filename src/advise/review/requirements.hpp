// What each stack of a matrix asks of a machine, as the rules answer: by trying drivers and GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "advise/upgrade/fleet.hpp"

namespace cudamatrix::review {

/// Cells that work and differ in nothing but the machine.
struct Requirement {
    std::vector<std::pair<std::string, std::string>> stack;  ///< field or package, value
    std::uint64_t cells = 0;
    /// The oldest driver with which all of them still work, and the one that is supported longest; empty: the
    /// cells name none.
    std::string oldest_driver, best_driver;
    /// Of the GPUs that facts know, with one of these drivers; empty: the cells name no GPU, or none works.
    std::string least_compute, most_compute;
    std::string vram_gb;            ///< the most that a cell asks for; empty: none does
    std::vector<std::string> gpus;  ///< of the cells
};

/// Values that the fleet has to know for that: every driver and every GPU.
[[nodiscard]] upgrade::Wanted values_to_try(const Facts& facts);

/// In the order of their first cells.
[[nodiscard]] std::vector<Requirement> requirements_of(upgrade::Fleet& fleet);

}  // namespace cudamatrix::review
