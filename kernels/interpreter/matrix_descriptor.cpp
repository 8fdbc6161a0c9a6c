#include "kernels/interpreter/matrix_descriptor.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint64_t kField = 0x3fff;  // of 14 bits, in units of 16 bytes
constexpr std::uint64_t kReserved = 0x3ffULL << 52 | 7ULL << 46 | 3ULL << 30 | 3ULL << 14;
constexpr unsigned kRows = 8;  // after which patterns repeat

std::string no_multiple(const char* what, std::uint64_t value, std::uint64_t of) {
    return std::string("the ") + what + " of " + std::to_string(value) +
           " bytes is no multiple of the swizzle's pattern, which has " + std::to_string(of);
}

}  // namespace

MatrixDescriptor MatrixDescriptor::unpack(std::uint64_t bits) {
    return {(bits & kField) << 4, (bits >> 16 & kField) << 4, (bits >> 32 & kField) << 4,
            static_cast<Swizzle>(bits >> 62)};
}

std::uint64_t MatrixDescriptor::address(bool k_major, unsigned chunk, unsigned row) const {
    const std::uint64_t span = swizzle_span(swizzle);
    const auto chunks = static_cast<unsigned>(span / 16);
    std::uint64_t at = start + row % kRows * span;
    if (swizzle == Swizzle::none) {
        // Of both, the leading dimension is K.
        at += k_major ? row / kRows * stride + chunk * leading : chunk * stride + row / kRows * leading;
    } else if (k_major) {
        at += row / kRows * stride + chunk * std::uint64_t{16};
    } else {
        at += row / kRows * stride + chunk % chunks * std::uint64_t{16} + chunk / chunks * leading;
    }
    return swizzled(swizzle, at);
}

std::string fault_of(std::uint64_t bits, bool k_major, unsigned extent, bool& known) {
    known = true;
    const MatrixDescriptor matrix = MatrixDescriptor::unpack(bits);
    if ((bits & kReserved) != 0) return "bits that must be 0 are set";
    if ((bits >> 49 & 7) != 0) {
        known = false;
        return "a base offset";
    }
    if (matrix.swizzle == Swizzle::none) return "";
    const std::uint64_t span = swizzle_span(matrix.swizzle);
    const std::uint64_t pattern = kRows * span;
    if (matrix.start % pattern >= span)
        return "the matrix starts at " + std::to_string(matrix.start) +
               ", which is not in the first row of the swizzle's pattern of " + std::to_string(pattern) +
               " bytes";
    // K-major matrices have more than one pattern along M or N, N-major ones along K.
    if ((!k_major || extent > kRows) && matrix.stride % pattern != 0)
        return no_multiple("stride", matrix.stride, pattern);
    if (!k_major && extent * 2 > span && matrix.leading % pattern != 0)
        return no_multiple("leading dimension", matrix.leading, pattern);
    return "";
}

}  // namespace cudamatrix::suite::ptx
