#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudamatrix::suite::ptx {

/// Bytes that lie one behind the other in shared memory.
struct BulkPiece {
    std::uint64_t to = 0;
    std::uint32_t size = 0;
};

/// One cp.async.bulk. The source was read when it was issued.
struct BulkCopy {
    std::uint32_t line = 0;
    std::uint64_t mbarrier = 0;  ///< whose transactions it completes: where in shared memory
    std::uint64_t phase = 0;     ///< of it
    std::vector<BulkPiece> pieces;
    std::vector<std::uint8_t> bytes;  ///< of all pieces
};

/// The bulk copies to the shared memory of a block whose mbarrier nobody has waited for.
class BulkCopies {
  public:
    void start() { copies_.clear(); }
    [[nodiscard]] bool any() const { return !copies_.empty(); }
    void add(BulkCopy copy) { copies_.push_back(std::move(copy)); }
    /// Takes the copies that ended before `phase` of the mbarrier began.
    [[nodiscard]] std::vector<BulkCopy> wait(std::uint64_t mbarrier, std::uint64_t phase);
    /// The copy to one of `size` bytes from `at` on; null when there is none.
    [[nodiscard]] const BulkCopy* find(std::uint64_t at, std::uint64_t size) const;

  private:
    std::vector<BulkCopy> copies_;
};

}  // namespace cudamatrix::suite::ptx
