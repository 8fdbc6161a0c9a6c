#pragma once

#include <cstdint>
#include <vector>

#include "kernels/interpreter/warpgroup.hpp"

namespace cudamatrix::suite::ptx {

inline constexpr std::uint32_t kTensorLanes = 128;
inline constexpr std::uint32_t kTensorColumns = 512;

/// Columns of tensor memory; all of its lanes.
struct TensorColumns {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    [[nodiscard]] std::uint32_t end() const { return first + count; }
    [[nodiscard]] bool holds(const TensorColumns& other) const {
        return first <= other.first && other.end() <= end();
    }
    [[nodiscard]] bool overlaps(const TensorColumns& other) const {
        return first < other.end() && other.first < end();
    }
};

/// A tcgen05.mma whose end nobody has seen.
struct TensorProduct {
    /// An mbarrier that its end arrives at: where in shared memory, and in which phase.
    struct Commit {
        std::uint64_t mbarrier = 0;
        std::uint64_t phase = 0;
    };

    std::uint32_t line = 0;
    std::uint32_t thread = 0;
    TensorColumns sums;
    std::vector<SharedMatrix> reads;
    std::uint64_t checksum = 0;   ///< of what it reads
    std::vector<Commit> commits;  ///< a commit is one of all that its thread has started before
};

/// Tensor memory of a block (PTX ISA, "Tensor Memory"), and what still writes it.
class TensorMemory {
  public:
    void start(std::uint32_t warps);

    /// The first of `count` columns, from the end on, so that no program can take it for 0; kTensorColumns
    /// when there are not so many together.
    [[nodiscard]] std::uint32_t allocate(std::uint32_t count);
    /// False when these columns were not allocated together.
    [[nodiscard]] bool release(const TensorColumns& columns);
    [[nodiscard]] bool is_allocated(const TensorColumns& columns) const;
    [[nodiscard]] std::uint32_t allocated() const;

    [[nodiscard]] bool relinquished() const { return relinquished_; }
    void relinquish() { relinquished_ = true; }

    [[nodiscard]] std::uint32_t& cell(std::uint32_t lane, std::uint32_t column);
    [[nodiscard]] bool is_written(const TensorColumns& columns) const;
    void set_written(const TensorColumns& columns);

    void add(TensorProduct product) { products_.push_back(std::move(product)); }
    /// The ends of all that a thread has issued arrive at an mbarrier.
    void commit(std::uint32_t thread, std::uint64_t mbarrier, std::uint64_t phase);
    /// Takes the products that ended before `phase` of the mbarrier began.
    [[nodiscard]] std::vector<TensorProduct> wait(std::uint64_t mbarrier, std::uint64_t phase);
    /// The product that still writes one of the columns; null when there is none.
    [[nodiscard]] const TensorProduct* writes(const TensorColumns& columns) const;

    /// tcgen05.fence::after_thread_sync of a warp: it sees what has ended.
    void fence(std::uint32_t warp) { fenced_[warp] = ends_; }
    [[nodiscard]] bool sees(std::uint32_t warp, const TensorColumns& columns) const;

  private:
    std::vector<std::uint32_t> cells_;  // [lane][column], once there is an allocation
    std::vector<std::uint8_t> written_;
    std::vector<std::uint64_t> ended_;  // by column: which end of a product it was
    std::vector<TensorColumns> allocations_;
    std::vector<TensorProduct> products_;
    std::vector<std::uint64_t> fenced_;  // by warp
    std::uint64_t ends_ = 0;
    bool relinquished_ = false;
};

}  // namespace cudamatrix::suite::ptx
