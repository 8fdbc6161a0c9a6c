#pragma once

#include <cstdint>

#include "kernels/interpreter/memory.hpp"
#include "kernels/interpreter/module.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {

/// Where an access goes: the bytes, and which of them were written (null: all).
struct Place {
    std::uint8_t* bytes = nullptr;
    std::uint8_t* written = nullptr;
    const Allocation* allocation = nullptr;  ///< global memory
    std::uint64_t offset = 0;                ///< in the allocation, or in shared memory
    Space space = Space::global;             ///< never generic
    Block* owner = nullptr;                  ///< shared memory: whose
};

/// The place of `size` bytes at `address` in the instruction's state space. Throws Fault when they are not
/// there, or not aligned to their size (PTX ISA, "Addresses as Operands").
[[nodiscard]] Place locate(Warp& warp, const Instruction& in, int lane, std::uint64_t address, unsigned size);
/// The same for instructions that take shared memory only, also by a generic address: that of the own block,
/// unless the state space is that of the cluster.
[[nodiscard]] Place locate_shared(Warp& warp, const Instruction& in, int lane, std::uint64_t address,
                                  unsigned size);
/// Blocks of the cluster. Throws Fault in a cooperative launch.
[[nodiscard]] std::uint64_t cluster_size(Warp& warp, int lane);
/// The block of the cluster with this rank, which is below the cluster's size. Throws Fault when it has
/// ended.
[[nodiscard]] Block& block_of_cluster(Warp& warp, int lane, std::uint64_t rank);
/// Throws Fault when the address is no multiple of `size`, which is a power of two.
void check_aligned(const Warp& warp, int lane, std::uint64_t address, unsigned size);

/// Has each byte been written, and landed? `written`: of a place.
[[nodiscard]] bool all_written(const std::uint8_t* written, unsigned size);

/// Throws Fault unless all bytes of the place were written, and have landed when cp.async copied them.
void check_written(Warp& warp, int lane, const Place& place, std::uint64_t address, unsigned size);

/// Throws Fault when cp.async still copies to one of the bytes, which are to be written.
void check_not_in_flight(Warp& warp, int lane, const Place& place, std::uint64_t address, unsigned size);

// Values of 1, 2, 4 or 8 bytes; other threads may access them meanwhile.
[[nodiscard]] std::uint64_t load_value(const std::uint8_t* bytes, unsigned size);
void store_value(std::uint8_t* bytes, std::uint64_t value, unsigned size);

}  // namespace cudamatrix::suite::ptx
