#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/interpreter/fault.hpp"
#include "kernels/interpreter/memory.hpp"
#include "kernels/interpreter/module.hpp"
#include "kernels/interpreter/warpgroup.hpp"

namespace cudamatrix::suite::ptx {

class Block;
struct Barrier;
struct Launch;

/// Local memory of one thread: the stack of its calls.
struct LocalMemory {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> written;
};

/// The registers and parameters of one call.
struct Frame {
    const Function* function = nullptr;
    std::vector<Row> rows;
    std::vector<Mask> predicates;
    std::vector<std::uint8_t> params;          ///< [lane][param_size]
    std::vector<std::uint8_t> params_written;  ///< the same shape
    std::uint64_t local_base = 0;              ///< of its local variables
    unsigned depth = 0;
    std::unique_ptr<RegisterMarks> marks;  ///< from the first wgmma.fence on
};

/// 32 threads. Lanes that part at a branch become leaves of a tree, which meet again at the branch's
/// immediate post-dominator. Any leaf can run while others wait, so lanes of one warp may wait for each
/// other.
class Warp {
  public:
    /// `poll`: it read what other blocks may change, and nothing is to be done until they do. `mbarrier`: it
    /// waits for the end of a phase.
    enum class Stop : std::uint8_t { done, barrier, slice, poll, mbarrier };

    /// Puts the lanes `mask` at the begin of the kernel.
    void start(Launch& launch, Block& block, std::uint32_t index, Mask mask);
    /// Runs at most `slice` instructions. Throws Fault.
    Stop run(std::uint64_t slice);
    /// The barrier it waits at is complete.
    void pass_barrier(const Barrier& barrier);

    // --- what handlers use ---
    [[nodiscard]] const Row& source(Slot slot) const { return slot >= 0 ? rows_[slot] : constants_[~slot]; }
    [[nodiscard]] Row& destination(Slot slot) { return slot == kNoSlot ? sink_ : rows_[slot]; }
    [[nodiscard]] Mask predicate(std::int32_t index) const { return predicates_[index]; }
    [[nodiscard]] Mask source_predicate(const Instruction& in) const {
        return in.predicate_not ? ~predicates_[in.predicate] : predicates_[in.predicate];
    }
    void set_predicate(std::int32_t index, Mask lanes, Mask value) {
        if (index >= 0) predicates_[index] = (predicates_[index] & ~lanes) | (value & lanes);
    }
    [[nodiscard]] Block& block() { return *block_; }
    [[nodiscard]] Launch& launch() { return *launch_; }
    [[nodiscard]] Frame& frame() { return *frame_; }
    [[nodiscard]] std::uint32_t index() const { return index_; }
    [[nodiscard]] Mask live() const { return live_; }
    [[nodiscard]] Mask active() const { return mask_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] const Instruction& at() const {
        return frame_->function->code[static_cast<std::size_t>(pc_)];
    }
    LocalMemory& local(int lane) { return local_[lane]; }

    /// Has it executed a fence?
    [[nodiscard]] bool fenced() const { return fenced_; }
    void set_fenced() { fenced_ = true; }

    /// Allocations that accesses of the same instruction found last.
    const Allocation*& recent() { return recent_[static_cast<unsigned>(pc_) % kRecent]; }

    [[noreturn]] void fault(FaultCode code, int lane, const std::string& text) const;

    // --- control flow, for handlers of `flow` instructions ---
    void advance();
    void branch(std::int32_t target, std::int32_t reconverge, Mask taken);
    /// Sends lanes to several places. Lanes of `masks` are disjoint and all of the leaf's.
    void scatter(const std::vector<std::pair<std::int32_t, Mask>>& places, std::int32_t reconverge);
    void call(const Function& callee, const List& arguments, Mask lanes);
    void leave_function(Mask lanes);
    void exit_lanes(Mask lanes);
    /// True when all live lanes of `members` are in `lanes`. Otherwise the leaf waits for the others, or,
    /// when all leaves wait, the fault says which lanes are missing.
    [[nodiscard]] bool together(Mask members, Mask lanes, bool barrier = false);
    /// bar.warp.sync: leaves may wait for each other at different places.
    void warp_barrier(Mask members);
    void wait_at_barrier() { interrupt(Stop::barrier); }
    /// Lets other blocks do something.
    void pause() { leave(Stop::poll); }
    /// Lets other warps do something, unless lanes of this one have something to do. `line` and `mbarrier`:
    /// where it waits, and for which one in shared memory.
    void wait_for_phase(std::uint32_t line, std::uint64_t mbarrier);
    [[nodiscard]] std::uint32_t wait_line() const { return wait_line_; }
    [[nodiscard]] std::uint64_t wait_mbarrier() const { return wait_mbarrier_; }
    /// From now on it is noted which registers of the call are used (PTX ISA, "wgmma.fence").
    void watch_registers();
    /// Those of the call, which are watched from now on.
    [[nodiscard]] RegisterMarks& marks();

  private:
    enum class Wait : std::uint8_t { none, lanes, warp_barrier };
    struct Node {
        std::int32_t pc = 0;
        std::int32_t reconverge = -1;
        Mask mask = 0;
        std::int32_t parent = -1;
        std::int32_t children = 0;
        std::int32_t frame = 0;
        bool call = false;  ///< the first node of a call; its parent made it
        bool used = false;
        bool barrier = false;  ///< waits before one of the block's barriers
        Wait wait = Wait::none;
        Mask members = 0;
        std::uint64_t changes = 0;  ///< state of the tree when it began to wait
    };
    static constexpr unsigned kRecent = 16;
    static constexpr std::uint64_t kPatience = 20000;  ///< instructions that lanes wait at a meeting place

    void interrupt(Stop why) {
        interrupted_ = true;
        why_ = why;
    }
    void leave(Stop why);
    void note_registers();
    std::int32_t add_node(const Node& node);
    void select(std::int32_t index);
    void store();
    bool choose();
    bool retry_waiting();
    [[noreturn]] void fault_absent(const Node& node);
    void arrive(std::int32_t index);
    void remove_lanes(Mask lanes, bool whole_thread);
    void pass(std::int32_t index);
    void enter(Node first);
    void note_change();
    bool merge_waiting();
    void release_arrived();
    std::int32_t add_frame(const Function& function, std::uint64_t local_base, unsigned depth);

    Launch* launch_ = nullptr;
    Block* block_ = nullptr;
    std::uint32_t index_ = 0;
    Mask live_ = 0;
    bool interrupted_ = false;
    Stop why_ = Stop::slice;
    bool fenced_ = false;
    bool watching_ = false;
    std::uint32_t wait_line_ = 0;
    std::uint64_t wait_mbarrier_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t changes_ = 0;
    std::uint64_t changed_at_ = 0;  ///< steps when the tree changed last

    // The leaf that runs.
    std::int32_t current_ = -1;
    std::int32_t pc_ = 0;
    std::int32_t reconverge_ = -1;
    Mask mask_ = 0;
    Frame* frame_ = nullptr;
    const Instruction* code_ = nullptr;
    Row* rows_ = nullptr;
    const Row* constants_ = nullptr;
    Mask* predicates_ = nullptr;

    std::vector<Node> nodes_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::vector<std::int32_t> free_frames_;
    LocalMemory local_[kLanes];
    const Allocation* recent_[kRecent] = {};
    Row sink_{};
    std::uint64_t turn_ = 0;
};

}  // namespace cudamatrix::suite::ptx
