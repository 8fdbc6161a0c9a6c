#pragma once

#include <cstdint>
#include <vector>

#include "kernels/interpreter/matrix_descriptor.hpp"
#include "kernels/interpreter/module.hpp"

namespace cudamatrix::suite::ptx {

struct Frame;
class Warp;

inline constexpr std::uint32_t kWarpgroup = 4;  ///< warps

/// What is known of the registers of a call in which wgmma is used, for each row.
struct RegisterMarks {
    // In `in_flight`:
    static constexpr std::uint8_t kFragment = 255;  ///< holds a part of A
    static constexpr std::uint8_t kLoading = 254;   ///< tcgen05.ld writes it

    std::vector<std::uint8_t> touched;    ///< since the last wgmma.fence, by other instructions
    std::vector<std::uint8_t> shape;      ///< n / 8 of the wgmma that summed into it since then; 0: none
    std::vector<std::uint8_t> in_flight;  ///< n / 8 of a wgmma that was not waited for; 0: none
};

/// An operand of wgmma that lies in shared memory: `extent` rows of A or columns of B, 32 bytes of K.
struct SharedMatrix {
    MatrixDescriptor descriptor;
    bool k_major = true;
    bool is_a = false;
    unsigned extent = 0;
    unsigned k = 0;
};

/// A wgmma.mma_async that nobody has waited for.
struct Wgmma {
    std::uint32_t line = 0;
    std::uint64_t group = 0;
    Frame* frames[kWarpgroup] = {};
    std::vector<Slot> registers;  ///< those that must not be used: sums, and A
    std::vector<std::uint8_t> marks;
    std::vector<SharedMatrix> reads;
    std::uint64_t checksum = 0;  ///< of what it reads
};

/// Four warps that multiply together.
struct Warpgroup {
    std::uint32_t come = 0;  ///< a bit for each that waits for the others at an instruction
    std::uint64_t open = 0;  ///< number of the group that is not committed
    std::vector<Wgmma> pending;
};

}  // namespace cudamatrix::suite::ptx
