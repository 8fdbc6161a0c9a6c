#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/bulk_copies.hpp"
#include "kernels/interpreter/copies.hpp"
#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/random.hpp"
#include "kernels/interpreter/tensor_memory.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {

class Gang;

inline constexpr std::uint32_t kBarriers = 16;
/// Of a block's number, what races.hpp keeps.
inline constexpr std::uint64_t kBlockBits = 0xfffff;

/// One of a block's barriers (PTX ISA, "bar, barrier"). Counted in warps, as all lanes of a warp come
/// together.
struct Barrier {
    std::uint32_t expected = 0;  ///< warps; 0: all that live
    std::vector<std::uint32_t> waiting;
    std::uint32_t arrived = 0;          ///< warps that wait or only announced themselves
    std::uint32_t threads = 0;          ///< of them
    std::uint32_t holds = 0;            ///< threads whose predicate of .red is true
    std::vector<std::uint32_t> clocks;  ///< of all that came
    std::uint32_t line = 0;             ///< where the first one came
};

/// A block of threads: shared memory, barriers, and whose turn it is.
class Block {
  public:
    enum class Turn : std::uint8_t { none, ran, polled, warp_ended, ended };

    Block(Launch& launch, Gang& gang) : launch_(launch), gang_(gang) {}

    /// Puts the block `number` at its begin. `first_warp`: of the gang's warps.
    void start(std::uint64_t number, std::uint32_t first_warp);
    /// Runs one of its warps for a while; `none` when each waits. Throws Fault.
    Turn turn();
    /// The warps that wait in grid.sync, or for an mbarrier, look again. False when there is none.
    bool wake();
    [[nodiscard]] bool ended() const { return live_ == 0; }
    /// Does a warp wait in grid.sync?
    [[nodiscard]] bool polls() const;
    /// Says which barriers its warps wait at.
    [[noreturn]] void deadlock();
    /// " warp 0 waits at PTX line 12 for ...", of those that wait for a warpgroup, and for mbarriers.
    [[nodiscard]] std::string waiting_elsewhere(bool& for_warpgroup) const;

    [[nodiscard]] Dim3 id() const { return id_; }
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] std::uint32_t threads() const { return threads_; }
    [[nodiscard]] std::uint32_t first_warp() const { return first_warp_; }
    [[nodiscard]] const Gang& gang() const { return gang_; }
    [[nodiscard]] Gang& gang() { return gang_; }
    [[nodiscard]] std::uint32_t warps_of_block() const { return static_cast<std::uint32_t>(states_.size()); }
    [[nodiscard]] bool has_ended(std::uint32_t warp) const { return states_[warp] == State::done; }
    /// The warp waits at the barrier of the cluster; all that do so go on.
    void wait_for_cluster(Warp& warp);
    void leave_cluster_barrier();
    [[nodiscard]] bool waits_for_cluster() const;
    [[nodiscard]] std::uint32_t warps() const { return static_cast<std::uint32_t>(warps_.size()); }
    [[nodiscard]] Dim3 thread(std::uint32_t index) const;
    [[nodiscard]] std::vector<std::uint8_t>& shared() { return shared_; }
    [[nodiscard]] std::vector<std::uint8_t>& shared_written() { return shared_written_; }
    [[nodiscard]] Copies& copies() { return copies_; }
    [[nodiscard]] BulkCopies& bulk_copies() { return bulk_copies_; }
    /// Writes the bytes of a copy. Where they are.
    Place land(const Copy& copy);
    /// Writes those of the bulk copies that ended before `phase` of the mbarrier began.
    void land_bulk(std::uint64_t mbarrier, std::uint64_t phase);
    /// Bytes that the mbarrier at this offset still waits for (PTX ISA, "tx-count").
    [[nodiscard]] std::int64_t& transactions(std::uint64_t mbarrier) { return transactions_[mbarrier]; }
    /// Have threads of other blocks arrived at the mbarrier at this offset?
    [[nodiscard]] bool is_arrived_from_outside(std::uint64_t mbarrier) const {
        return arrived_from_outside_.count(mbarrier) != 0;
    }
    void set_arrived_from_outside(std::uint64_t mbarrier) { arrived_from_outside_.insert(mbarrier); }
    /// A new mbarrier there: nobody has arrived, and it waits for no bytes.
    void begin_mbarrier(std::uint64_t mbarrier) {
        transactions_[mbarrier] = 0;
        arrived_from_outside_.erase(mbarrier);
    }
    [[nodiscard]] Place shared_place(std::uint64_t offset);
    [[nodiscard]] TensorMemory& tensor_memory() { return tensor_memory_; }

    [[nodiscard]] Warp& warp(std::uint32_t index) { return *warps_[index]; }
    [[nodiscard]] Warpgroup& warpgroup(const Warp& warp) { return warpgroups_[warp.index() / kWarpgroup]; }
    /// True when the four warps of the warp's warpgroup are at this instruction; otherwise it waits for them.
    /// Throws Fault when they cannot come.
    [[nodiscard]] bool gather_warpgroup(Warp& warp);
    /// They go on behind it.
    void release_warpgroup(const Warp& warp);
    [[nodiscard]] std::uint32_t static_shared() const { return static_shared_; }

    /// Writes what bar.red gives, when a barrier is complete (barrier.cpp).
    static void give_result(Warp& warp, const Instruction& in, const Barrier& barrier);

    /// A warp comes to barrier `id`, where `expected` warps meet (0: all). `waits` is false for bar.arrive.
    void arrive(Warp& warp, std::uint32_t id, std::uint32_t expected, Mask holds, bool waits);
    // --- the order of accesses, for races.cpp; one record for each word of shared memory ---
    [[nodiscard]] std::uint64_t* last_writes() { return last_writes_.data(); }
    [[nodiscard]] std::uint64_t* last_reads() { return last_reads_.data(); }
    /// The step of a warp.
    [[nodiscard]] std::uint32_t clock(std::uint32_t warp) const;
    /// An atomic operation, or a volatile access, at `place`.
    void synchronise(Warp& warp, const Place& place, bool releases);
    /// Whoever synchronises at `place` later is ordered behind what the warp did.
    void publish(Warp& warp, const Place& place);
    /// A new step of a warp: what it did before is before what comes now, for all its lanes.
    void tick(std::uint32_t warp);
    /// A warp of another block of the gang, in a step of its own, accesses the shared memory of this one,
    /// which must not end before.
    void visit(std::size_t warp_of_gang, std::uint32_t step);

  private:
    [[nodiscard]] std::string mbarrier_text(const Warp& warp) const;
    void check_barriers();
    void check_visits() const;
    void complete(Barrier& barrier);
    [[nodiscard]] static std::uint64_t key_of(const Place& place);
    [[nodiscard]] std::uint32_t choose();
    [[nodiscard]] std::uint64_t slice();

    /// `polling`: read what grid.sync waits for; `woken`: is to read it again.
    enum class State : std::uint8_t {
        ready,
        woken,
        waiting,
        polling,
        at_mbarrier,
        at_warpgroup,
        at_cluster,
        done
    };

    Launch& launch_;
    Gang& gang_;
    std::uint64_t number_ = 0;
    Dim3 id_;
    std::uint32_t threads_ = 0;
    std::uint32_t static_shared_ = 0;
    std::uint32_t first_warp_ = 0;
    std::size_t live_ = 0;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::vector<State> states_;
    std::vector<std::uint8_t> shared_;
    std::vector<std::uint8_t> shared_written_;
    Copies copies_;
    BulkCopies bulk_copies_;
    std::map<std::uint64_t, std::int64_t> transactions_;  // by the place of the mbarrier
    std::set<std::uint64_t> arrived_from_outside_;        // places of mbarriers
    std::vector<Warpgroup> warpgroups_;
    TensorMemory tensor_memory_;
    Barrier barriers_[kBarriers];
    std::uint32_t turn_ = 0;
    Random random_;
    std::vector<std::uint64_t> last_writes_;
    std::vector<std::uint64_t> last_reads_;
    std::map<std::size_t, std::uint32_t> visits_;  // by warp of the gang: the last step in which it was here
};

}  // namespace cudamatrix::suite::ptx
