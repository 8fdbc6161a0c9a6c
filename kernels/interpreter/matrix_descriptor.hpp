#pragma once

#include <cstdint>
#include <string>

/// Where wgmma finds a matrix in shared memory (PTX ISA, "Matrix Descriptor Format", "Shared Memory Matrix
/// Layout", "Strides").
namespace cudamatrix::suite::ptx {

enum class Swizzle : std::uint8_t { none = 0, bytes128 = 1, bytes64 = 2, bytes32 = 3 };

/// How many of an address' bits from 4 on are changed by those from 7 on.
[[nodiscard]] constexpr std::uint64_t swizzle_bits(Swizzle swizzle) {
    return swizzle == Swizzle::none ? 0 : 4U - static_cast<unsigned>(swizzle);
}
/// In bytes; 16 without a swizzle.
[[nodiscard]] constexpr std::uint64_t swizzle_span(Swizzle swizzle) {
    return std::uint64_t{16} << swizzle_bits(swizzle);
}
/// Where the byte at `address` of an unswizzled matrix lies.
[[nodiscard]] constexpr std::uint64_t swizzled(Swizzle swizzle, std::uint64_t address) {
    const std::uint64_t used = (std::uint64_t{1} << swizzle_bits(swizzle)) - 1;
    return address ^ (address >> 7 & used) << 4;
}

struct MatrixDescriptor {
    std::uint64_t start = 0;    ///< bytes
    std::uint64_t leading = 0;  ///< bytes; not used by K-major matrices that are swizzled
    std::uint64_t stride = 0;   ///< bytes
    Swizzle swizzle = Swizzle::none;

    [[nodiscard]] static MatrixDescriptor unpack(std::uint64_t bits);

    /// The address of 16 bytes. K-major: of row `row` (of A, column of B), the `chunk`th along K. Otherwise
    /// of row `row` of K, the `chunk`th along M or N.
    [[nodiscard]] std::uint64_t address(bool k_major, unsigned chunk, unsigned row) const;
};

/// What is wrong with a descriptor of a matrix with `extent` rows of A, or columns of B; "" when nothing is.
/// `known`: false for what is right, but not known to the interpreter.
[[nodiscard]] std::string fault_of(std::uint64_t bits, bool k_major, unsigned extent, bool& known);

}  // namespace cudamatrix::suite::ptx
