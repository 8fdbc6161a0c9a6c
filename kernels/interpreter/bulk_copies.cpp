#include "kernels/interpreter/bulk_copies.hpp"

#include <algorithm>
#include <iterator>

namespace cudamatrix::suite::ptx {

std::vector<BulkCopy> BulkCopies::wait(std::uint64_t mbarrier, std::uint64_t phase) {
    const auto ended = std::stable_partition(copies_.begin(), copies_.end(), [&](const BulkCopy& copy) {
        return copy.mbarrier != mbarrier || copy.phase >= phase;
    });
    std::vector<BulkCopy> taken(std::make_move_iterator(ended), std::make_move_iterator(copies_.end()));
    copies_.erase(ended, copies_.end());
    return taken;
}

const BulkCopy* BulkCopies::find(std::uint64_t at, std::uint64_t size) const {
    for (const BulkCopy& copy : copies_) {
        for (const BulkPiece& piece : copy.pieces) {
            if (at < piece.to + piece.size && piece.to < at + size) return &copy;
        }
    }
    return nullptr;
}

}  // namespace cudamatrix::suite::ptx
