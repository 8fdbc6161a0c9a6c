// ldmatrix (PTX ISA, "ldmatrix"): 8 x 8 matrices of 16 bits from shared memory into fragments of mma.
#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/fragment.hpp"
#include "kernels/interpreter/races.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr int kMatrixRows = 8;
constexpr unsigned kRowBytes = 16;

enum MatrixFlag : std::uint8_t { kTransposed = 1 };

/// The row that the address of `lane` points to.
const std::uint8_t* row_at(Warp& warp, const Instruction& in, int lane, std::uint64_t address) {
    const Place place = locate_shared(warp, in, lane, address, kRowBytes);
    check_written(warp, lane, place, address, kRowBytes);
    record_access(warp, lane, place, kRowBytes, AccessKind::read);
    return place.bytes;
}

/// Lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i.
void load_matrices(Warp& warp, const Instruction& in, Mask lanes) {
    if (!whole_warp(warp, lanes)) return;
    const Row addresses = warp.source(in.from[0]);
    const auto& slots = warp.frame().function->lists[static_cast<std::size_t>(in.target)].items;
    const bool transposed = (in.flags & kTransposed) != 0;
    for (int matrix = 0; matrix < in.count; ++matrix) {
        const std::uint8_t* rows[kMatrixRows];
        for (int i = 0; i < kMatrixRows; ++i) {
            const int lane = kMatrixRows * matrix + i;
            rows[i] = row_at(warp, in, lane, addresses.lane[lane] + static_cast<std::uint64_t>(in.offset));
        }
        Row& to = warp.destination(slots[static_cast<std::size_t>(matrix)]);
        for (int lane = 0; lane < kLanes; ++lane) {
            // As A of m8, so that a fragment of mma is a matrix for each register.
            to.lane[lane] = 0;
            for (unsigned i = 0; i < 2; ++i) {
                const Position at = mma_position(Part::a, {8, 8, 8}, 2, lane, i);
                const int row = transposed ? at.column : at.row;
                const int column = transposed ? at.row : at.column;
                to.lane[lane] |= load_value(rows[row] + 2 * column, 2) << 16 * i;
            }
        }
    }
    warp.advance();
}

}  // namespace

void decode_ldmatrix(Decoder& decoder) {
    decoder.take_aligned();
    if (!decoder.take("m8n8")) decoder.unsupported("not for this shape");
    const int count = decoder.take_one_of({"x1", "x2", "x4"});
    if (count < 0) decoder.unsupported("expected .x1, .x2 or .x4");
    decoder.need_target(75);
    Instruction in = decoder.make(load_matrices);
    in.flow = true;
    in.count = static_cast<std::uint8_t>(1 << count);
    in.flags = decoder.take("trans") ? kTransposed : 0;
    in.space = decoder.take_shared_space();
    if (decoder.take_type() != Type::b16) decoder.unsupported("not for this type");
    decoder.expect(2, 2);
    List list;
    take_fragment(decoder, decoder.operand(0), Element::f16, in.count, true, list);
    in.target = decoder.add_list(std::move(list));
    decoder.address(decoder.operand(1), in);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
