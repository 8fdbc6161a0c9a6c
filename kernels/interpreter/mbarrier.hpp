#pragma once

#include <cstdint>

#include "kernels/interpreter/access.hpp"

namespace cudamatrix::suite::ptx {

/// An mbarrier object, which programs see as 64 bits of no meaning (PTX ISA, "mbarrier").
struct Mbarrier {
    static constexpr std::uint64_t kMost = (1U << 20) - 1;  ///< arrivals

    std::uint64_t pending = 0;   ///< arrivals until the phase is complete
    std::uint64_t expected = 0;  ///< of the next phase
    std::uint64_t phase = 0;

    [[nodiscard]] static Mbarrier unpack(std::uint64_t bits);
    [[nodiscard]] std::uint64_t pack() const;
};

/// The place of the mbarrier at the address in from[0]. Throws Fault when it is none.
[[nodiscard]] Place locate_mbarrier(Warp& warp, const Instruction& in, int lane);
/// Throws Fault when there is none; `address`: what the program calls the place.
void check_mbarrier(Warp& warp, int lane, const Place& place, std::uint64_t address);
/// `count` arrivals, which may complete the phase. Throws Fault when fewer are pending.
void arrive_at(Warp& warp, int lane, const Place& place, std::uint64_t count);
/// The phase waits for `bytes` more, or, when it is negative, for fewer, which may complete it. Throws Fault
/// when that are too many.
void change_transactions(Warp& warp, int lane, const Place& place, std::int64_t bytes);

}  // namespace cudamatrix::suite::ptx
