// What wgmma reads and writes: matrices in shared memory, and registers that are in flight.
#include <algorithm>
#include <cstring>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/wgmma.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kChunkOfMatrix = 16;

/// Which warp of the group multiplies it: of A the one with these rows. All read all of B, so that any will
/// do which is not always the same.
std::uint32_t reader_of(const SharedMatrix& matrix, unsigned chunk, unsigned row) {
    const unsigned eight = matrix.k_major ? row / 8 : chunk;
    return matrix.is_a ? eight * 8 / kRowsOfWarp : eight % kWarpgroup;
}

struct Reader {
    Warp* warp;
    int lane;
};

Place place_of(Block& block, const Reader& reader, const SharedMatrix& matrix, std::uint64_t address) {
    const std::size_t size = block.shared().size();
    if (address > size || kChunkOfMatrix > size - address)
        reader.warp->fault(FaultCode::illegal_address, reader.lane,
                           std::string("matrix ") + (matrix.is_a ? "A" : "B") + " has 16 bytes at address " +
                               hex_address(address) + " of shared memory: the block has " +
                               std::to_string(size) + " bytes");
    return block.shared_place(address);
}

/// reader(matrix, chunk, row): who reads these 16 bytes.
template <typename F>
std::uint64_t sum_of_chunks(Block& block, const std::vector<SharedMatrix>& matrices, bool records, F reader) {
    std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a, in words
    for (const SharedMatrix& matrix : matrices) {
        for_chunks(matrix, [&](std::uint64_t address, unsigned chunk, unsigned row) {
            const Reader who = reader(matrix, chunk, row);
            const Place place = place_of(block, who, matrix, address);
            check_written(*who.warp, who.lane, place, address, kChunkOfMatrix);
            if (records) record_access(*who.warp, who.lane, place, kChunkOfMatrix, AccessKind::read);
            for (unsigned i = 0; i < kChunkOfMatrix; i += 8)
                sum = (sum ^ load_value(place.bytes + i, 8)) * 0x100000001b3;
        });
    }
    return sum;
}

}  // namespace

std::uint64_t sum_of_reads(Warp& warp, int lane, const std::vector<SharedMatrix>& matrices, bool records) {
    return sum_of_chunks(warp.block(), matrices, records, [&](const SharedMatrix&, unsigned, unsigned) {
        return Reader{&warp, lane};
    });
}

std::uint64_t note_reads(Block& block, const Warp& warp, const std::vector<SharedMatrix>& matrices) {
    const std::uint32_t first = warp.index() / kWarpgroup * kWarpgroup;
    return sum_of_chunks(block, matrices, true,
                         [&](const SharedMatrix& matrix, unsigned chunk, unsigned row) {
                             return Reader{&block.warp(first + reader_of(matrix, chunk, row)), 0};
                         });
}

void read_matrix(Block& block, const SharedMatrix& matrix, Element element, double* into) {
    const unsigned bytes = bits_of(element) / 8;
    const unsigned per = kChunkOfMatrix / bytes;
    for_chunks(matrix, [&](std::uint64_t address, unsigned chunk, unsigned row) {
        const std::uint8_t* from = block.shared().data() + address;
        for (unsigned i = 0; i < per; ++i) {
            const double value = element_value(element, load_value(from + i * bytes, bytes));
            const unsigned along = chunk * per + i;
            into[matrix.k_major ? row * matrix.k + along : along * matrix.k + row] = value;
        }
    });
}

void check_registers(const Warp& warp, const RegisterMarks* marks, const WgmmaForm& form,
                     const std::int32_t* slots) {
    const char* missing = "needs a wgmma.fence before it: ";
    if (marks == nullptr)
        warp.fault(FaultCode::launch_failure, 0, std::string(missing) + "there was none in this function");
    const auto shape = static_cast<std::uint8_t>(form.n / 8);
    for (std::size_t i = 0; i < form.sums() + form.fragments(); ++i) {
        if (slots[i] < 0) continue;
        const auto row = static_cast<std::size_t>(slots[i]);
        const bool is_sum = i < form.sums();
        if (marks->touched[row] != 0)
            warp.fault(FaultCode::launch_failure, 0,
                       std::string(missing) + "one of its registers was used since the last one");
        const std::uint8_t flight = marks->in_flight[row];
        if (flight != 0 && flight != (is_sum ? shape : RegisterMarks::kFragment))
            warp.fault(FaultCode::launch_failure, 0,
                       "one of its registers is that of another wgmma.mma_async that was not waited for");
        if (is_sum && marks->shape[row] != 0 && marks->shape[row] != shape)
            warp.fault(FaultCode::launch_failure, 0,
                       std::string(missing) + "it sums up what one of another shape did");
    }
}

void mark_registers(RegisterMarks& marks, const WgmmaForm& form, const std::int32_t* slots) {
    const auto shape = static_cast<std::uint8_t>(form.n / 8);
    for (std::size_t i = 0; i < form.sums() + form.fragments(); ++i) {
        if (slots[i] < 0) continue;
        const auto row = static_cast<std::size_t>(slots[i]);
        const bool is_sum = i < form.sums();
        marks.in_flight[row] = is_sum ? shape : RegisterMarks::kFragment;
        if (is_sum) marks.shape[row] = shape;
    }
}

void unmark_registers(Warpgroup& group, std::uint32_t warp_of_group) {
    for (const Wgmma& product : group.pending) {
        RegisterMarks* marks = product.frames[warp_of_group]->marks.get();
        if (marks != nullptr) std::fill(marks->in_flight.begin(), marks->in_flight.end(), std::uint8_t{0});
    }
}

}  // namespace cudamatrix::suite::ptx
