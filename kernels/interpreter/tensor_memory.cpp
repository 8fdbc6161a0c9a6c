#include "kernels/interpreter/tensor_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudamatrix::suite::ptx {

void TensorMemory::start(std::uint32_t warps) {
    allocations_.clear();
    products_.clear();
    fenced_.assign(warps, 0);
    ends_ = 0;
    relinquished_ = false;
}

std::uint32_t TensorMemory::allocate(std::uint32_t count) {
    for (std::uint32_t first = kTensorColumns - count + 1; first-- > 0;) {
        const TensorColumns columns{first, count};
        if (first % count != 0 ||
            std::any_of(allocations_.begin(), allocations_.end(),
                        [&](const TensorColumns& one) { return one.overlaps(columns); }))
            continue;
        cells_.resize(std::size_t{kTensorLanes} * kTensorColumns);
        written_.resize(kTensorColumns);
        ended_.resize(kTensorColumns);
        std::fill_n(written_.begin() + first, count, std::uint8_t{0});
        std::fill_n(ended_.begin() + first, count, std::uint64_t{0});
        allocations_.push_back(columns);
        return first;
    }
    return kTensorColumns;
}

bool TensorMemory::release(const TensorColumns& columns) {
    const auto known = std::find_if(allocations_.begin(), allocations_.end(), [&](const TensorColumns& one) {
        return one.first == columns.first && one.count == columns.count;
    });
    if (known == allocations_.end()) return false;
    allocations_.erase(known);
    return true;
}

bool TensorMemory::is_allocated(const TensorColumns& columns) const {
    return std::any_of(allocations_.begin(), allocations_.end(),
                       [&](const TensorColumns& one) { return one.holds(columns); });
}

std::uint32_t TensorMemory::allocated() const {
    std::uint32_t sum = 0;
    for (const TensorColumns& one : allocations_)
        sum += one.count;
    return sum;
}

std::uint32_t& TensorMemory::cell(std::uint32_t lane, std::uint32_t column) {
    return cells_[std::size_t{lane} * kTensorColumns + column];
}

bool TensorMemory::is_written(const TensorColumns& columns) const {
    const auto begin = written_.begin() + columns.first;
    return std::all_of(begin, begin + columns.count, [](std::uint8_t written) { return written != 0; });
}

void TensorMemory::set_written(const TensorColumns& columns) {
    std::fill_n(written_.begin() + columns.first, columns.count, std::uint8_t{1});
}

void TensorMemory::commit(std::uint32_t thread, std::uint64_t mbarrier, std::uint64_t phase) {
    for (TensorProduct& product : products_) {
        if (product.thread == thread) product.commits.push_back({mbarrier, phase});
    }
}

std::vector<TensorProduct> TensorMemory::wait(std::uint64_t mbarrier, std::uint64_t phase) {
    const auto is_open = [&](const TensorProduct& product) {
        return std::none_of(product.commits.begin(), product.commits.end(),
                            [&](const TensorProduct::Commit& commit) {
                                return commit.mbarrier == mbarrier && commit.phase < phase;
                            });
    };
    const auto ended = std::stable_partition(products_.begin(), products_.end(), is_open);
    std::vector<TensorProduct> taken(std::make_move_iterator(ended),
                                     std::make_move_iterator(products_.end()));
    products_.erase(ended, products_.end());
    if (!taken.empty()) ++ends_;
    for (const TensorProduct& product : taken)
        std::fill_n(ended_.begin() + product.sums.first, product.sums.count, ends_);
    return taken;
}

const TensorProduct* TensorMemory::writes(const TensorColumns& columns) const {
    for (const TensorProduct& product : products_) {
        if (product.sums.overlaps(columns)) return &product;
    }
    return nullptr;
}

bool TensorMemory::sees(std::uint32_t warp, const TensorColumns& columns) const {
    const auto begin = ended_.begin() + columns.first;
    return std::all_of(begin, begin + columns.count, [&](std::uint64_t end) { return end <= fenced_[warp]; });
}

}  // namespace cudamatrix::suite::ptx
