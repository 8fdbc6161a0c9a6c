#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/interpreter/elements.hpp"
#include "kernels/interpreter/warpgroup.hpp"

namespace cudamatrix::suite::ptx {

class Block;

inline constexpr unsigned kWgmmaRows = 64;
inline constexpr unsigned kRowsOfWarp = kWgmmaRows / kWarpgroup;

/// A form of wgmma.mma_async as the list of an instruction holds it, before the registers of sums and of A.
struct WgmmaForm {
    static constexpr std::size_t kItems = 9;

    unsigned n = 0;
    unsigned k = 0;
    Element d = Element::f32;
    Element a = Element::f16;
    Element b = Element::f16;
    bool negate = false;  ///< one of imm-scale-a and imm-scale-b is -1
    bool a_k_major = true;
    bool b_k_major = true;
    bool a_in_registers = false;

    [[nodiscard]] static WgmmaForm unpack(const std::vector<std::int32_t>& items);
    [[nodiscard]] std::vector<std::int32_t> pack() const;
    [[nodiscard]] std::size_t sums() const { return n / (2 * per_register(d)); }
    [[nodiscard]] std::size_t fragments() const { return a_in_registers ? 4 : 0; }
};

/// f(address, chunk, row) for each 16 bytes of a matrix (MatrixDescriptor::address).
template <typename F>
void for_chunks(const SharedMatrix& matrix, F f) {
    const unsigned chunks = matrix.k_major ? 2 : matrix.extent / 8;
    const unsigned rows = matrix.k_major ? matrix.extent : matrix.k;
    for (unsigned row = 0; row < rows; ++row) {
        for (unsigned chunk = 0; chunk < chunks; ++chunk)
            f(matrix.descriptor.address(matrix.k_major, chunk, row), chunk, row);
    }
}

/// Checks the 16 bytes of each chunk; their sum. With `records` it is noted that the lane reads them.
[[nodiscard]] std::uint64_t sum_of_reads(Warp& warp, int lane, const std::vector<SharedMatrix>& matrices,
                                         bool records);
/// The same, and it is noted that the warps of the warpgroup read them.
[[nodiscard]] std::uint64_t note_reads(Block& block, const Warp& warp,
                                       const std::vector<SharedMatrix>& matrices);
/// The values, row by row: of A, or of the transposed B.
void read_matrix(Block& block, const SharedMatrix& matrix, Element element, double* into);

/// Throws Fault when one of the registers was used behind the last wgmma.fence, or is still in flight.
void check_registers(const Warp& warp, const RegisterMarks* marks, const WgmmaForm& form,
                     const std::int32_t* slots);
/// From now on they are in flight.
void mark_registers(RegisterMarks& marks, const WgmmaForm& form, const std::int32_t* slots);
/// What ended is usable again, unless a later product has it.
void unmark_registers(Warpgroup& group, std::uint32_t warp_of_group);

/// Of fence, commit_group, wait_group and mma_async.
[[nodiscard]] Handler find_wgmma_handler(int kind);

}  // namespace cudamatrix::suite::ptx
