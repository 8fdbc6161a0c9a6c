// Four warps that come together for wgmma, what is known of their registers meanwhile, and warps that wait
// for others without a barrier.
#include "kernels/interpreter/warpgroup.hpp"

#include <algorithm>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/mbarrier.hpp"

namespace cudamatrix::suite::ptx {

bool Block::gather_warpgroup(Warp& warp) {
    const std::uint32_t first = warp.index() / kWarpgroup * kWarpgroup;
    const int lane = __builtin_ctz(warp.active());
    if (first + kWarpgroup > states_.size())
        warp.fault(
            FaultCode::launch_failure, lane,
            "needs the four warps of a warpgroup, and the block has " + std::to_string(states_.size()));
    Warpgroup& group = warpgroups_[first / kWarpgroup];
    for (std::uint32_t i = 0; i < kWarpgroup; ++i) {
        if (states_[first + i] == State::done)
            warp.fault(
                FaultCode::launch_failure, lane,
                "needs the four warps of a warpgroup, and warp " + std::to_string(first + i) + " has ended");
        if ((group.come >> i & 1) != 0 && &warps_[first + i]->at() != &warp.at())
            warp.fault(FaultCode::launch_failure, lane,
                       "warp " + std::to_string(first + i) + " of the warpgroup waits at PTX line " +
                           std::to_string(warps_[first + i]->at().line) + " for this one");
    }
    group.come |= 1U << (warp.index() - first);
    if (group.come == (1U << kWarpgroup) - 1) {
        group.come = 0;
        return true;
    }
    states_[warp.index()] = State::at_warpgroup;
    warp.wait_at_barrier();
    return false;
}

void Block::release_warpgroup(const Warp& warp) {
    const std::uint32_t first = warp.index() / kWarpgroup * kWarpgroup;
    for (std::uint32_t w = first; w < first + kWarpgroup; ++w) {
        states_[w] = State::ready;
        warps_[w]->advance();
    }
}

std::string Block::mbarrier_text(const Warp& warp) const {
    const auto barrier = Mbarrier::unpack(load_value(shared_.data() + warp.wait_mbarrier(), 8));
    const auto bytes = transactions_.find(warp.wait_mbarrier());
    return std::to_string(warp.wait_line()) + " for an mbarrier that lacks " +
           std::to_string(barrier.pending) + " arrivals and " +
           std::to_string(bytes == transactions_.end() ? 0 : bytes->second) + " bytes";
}

std::string Block::waiting_elsewhere(bool& for_warpgroup) const {
    constexpr unsigned kMostNamedWarps = 8;
    std::string text;
    unsigned named = 0;
    for_warpgroup = false;
    for (std::uint32_t w = 0; w < states_.size() && named < kMostNamedWarps; ++w) {
        if (states_[w] != State::at_warpgroup && states_[w] != State::at_mbarrier) continue;
        const bool group = states_[w] == State::at_warpgroup;
        for_warpgroup = for_warpgroup || group;
        text += std::string(named++ == 0 ? "" : ",") + " warp " + std::to_string(w) + " waits at PTX line ";
        text +=
            group ? std::to_string(warps_[w]->at().line) + " for its warpgroup" : mbarrier_text(*warps_[w]);
    }
    return text;
}

RegisterMarks& Warp::marks() {
    watching_ = true;
    const std::size_t rows = frame_->rows.size();
    if (frame_->marks == nullptr) {
        frame_->marks = std::make_unique<RegisterMarks>();
        frame_->marks->in_flight.assign(rows, 0);
        frame_->marks->touched.assign(rows, 0);
        frame_->marks->shape.assign(rows, 0);
    }
    return *frame_->marks;
}

void Warp::watch_registers() {
    RegisterMarks& now = marks();
    std::fill(now.touched.begin(), now.touched.end(), std::uint8_t{0});
    std::fill(now.shape.begin(), now.shape.end(), std::uint8_t{0});
}

void Warp::note_registers() {
    RegisterMarks* marks = frame_->marks.get();
    if (marks == nullptr) return;
    const Function& function = *frame_->function;
    const auto index = static_cast<std::size_t>(pc_);
    const std::size_t end = index + 1 < function.operand_begin.size() ? function.operand_begin[index + 1]
                                                                      : function.operands.size();
    for (std::size_t i = function.operand_begin[index]; i < end; ++i) {
        const auto row = static_cast<std::size_t>(function.operands[i]);
        marks->touched[row] = 1;
        if (marks->in_flight[row] != 0)
            fault(FaultCode::launch_failure, __builtin_ctz(mask_),
                  marks->in_flight[row] == RegisterMarks::kLoading
                      ? "uses a register of a tcgen05.ld that tcgen05.wait::ld has not waited for"
                      : "uses a register of a wgmma.mma_async that wgmma.wait_group has not waited for");
    }
}

}  // namespace cudamatrix::suite::ptx
