#include "kernels/interpreter/block.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/interpreter/gang.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr std::uint64_t kSlice = 4096;      // instructions of one turn
constexpr std::uint64_t kRandomSlice = 64;  // at most, of a seeded interleaving
constexpr std::size_t kMostDeadlocked = 8;  // warps that a message names

}  // namespace

Dim3 Block::thread(std::uint32_t index) const {
    const Dim3& of = launch_.request.block;
    return {index % of.x, index / of.x % of.y, index / of.x / of.y};
}

void Block::start(std::uint64_t number, std::uint32_t first_warp) {
    const LaunchRequest& request = launch_.request;
    number_ = number;
    first_warp_ = first_warp;
    id_ = {static_cast<std::uint32_t>(number % request.grid.x),
           static_cast<std::uint32_t>(number / request.grid.x % request.grid.y),
           static_cast<std::uint32_t>(number / request.grid.x / request.grid.y)};
    threads_ = static_cast<std::uint32_t>(request.block.count());
    static_shared_ = static_cast<std::uint32_t>(
        (request.module->shared_size + request.function->shared_size + 15) / 16 * 16);
    shared_.assign(std::size_t{static_shared_} + request.dynamic_shared, 0xa5);
    shared_written_.assign(shared_.size(), 0);
    const std::uint32_t count = (threads_ + kLanes - 1) / kLanes;
    while (warps_.size() < count)
        warps_.push_back(std::make_unique<Warp>());
    states_.assign(count, State::ready);
    for (Barrier& barrier : barriers_)
        barrier = Barrier{};
    for (std::uint32_t w = 0; w < count; ++w) {
        const std::uint32_t lanes = std::min<std::uint32_t>(threads_ - w * kLanes, kLanes);
        warps_[w]->start(launch_, *this, w, lanes == kLanes ? ~Mask{0} : (Mask{1} << lanes) - 1);
    }
    copies_.start(count * kLanes);
    bulk_copies_.start();
    transactions_.clear();
    arrived_from_outside_.clear();
    warpgroups_.assign(count / kWarpgroup, {});
    tensor_memory_.start(count);
    const std::size_t words = launch_.options.races ? (shared_.size() + 7) / 4 : 0;
    last_writes_.assign(words, 0);
    last_reads_.assign(words, 0);
    visits_.clear();
    turn_ = 0;
    live_ = count;
    random_.seed(launch_, number);
}

std::uint64_t Block::slice() {
    return launch_.schedule == 0 ? kSlice : 1 + random_.next() % kRandomSlice;
}

/// A warp that is ready: the next one, or any one of a seeded interleaving. The number of warps when there is
/// none.
std::uint32_t Block::choose() {
    const auto count = static_cast<std::uint32_t>(states_.size());
    if (launch_.schedule != 0) turn_ = static_cast<std::uint32_t>(random_.next() % count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t warp = (turn_ + i) % count;
        if (states_[warp] != State::ready && states_[warp] != State::woken) continue;
        turn_ = warp + 1;
        return warp;
    }
    return count;
}

Block::Turn Block::turn() {
    const std::uint32_t chosen = live_ == 0 ? 0 : choose();
    if (live_ == 0 || chosen == states_.size()) return Turn::none;
    Warp& warp = *warps_[chosen];
    const std::uint64_t before = warp.steps();
    // A short slice might end before the warp has looked.
    const std::uint64_t length = states_[chosen] == State::woken ? kSlice : slice();
    states_[chosen] = State::ready;
    const Warp::Stop stop = warp.run(length);
    const std::uint64_t done = launch_.steps.fetch_add(warp.steps() - before) + warp.steps() - before;
    if (stop == Warp::Stop::done) {
        states_[chosen] = State::done;
        --live_;
        check_barriers();
        if (live_ == 0) check_visits();
        if (live_ == 0 && tensor_memory_.allocated() != 0)
            throw Fault(FaultCode::launch_failure, "kernel " + launch_.request.function->name + ", block " +
                                                       text_of(id_) + ": ends with " +
                                                       std::to_string(tensor_memory_.allocated()) +
                                                       " columns of tensor memory that were not deallocated");
        return live_ == 0 ? Turn::ended : Turn::warp_ended;
    }
    if (done > launch_.options.step_limit)
        throw Fault(FaultCode::launch_timeout, "kernel " + launch_.request.function->name + ": more than " +
                                                   std::to_string(launch_.options.step_limit) +
                                                   " warp instructions (CUDAMATRIX_INTERPRETER_STEPS)");
    if (stop != Warp::Stop::poll && stop != Warp::Stop::mbarrier) return Turn::ran;
    states_[chosen] = stop == Warp::Stop::poll ? State::polling : State::at_mbarrier;
    return Turn::polled;
}

bool Block::wake() {
    bool any = false;
    for (State& state : states_) {
        if (state != State::polling && state != State::at_mbarrier) continue;
        state = State::woken;
        any = true;
    }
    return any;
}

void Block::wait_for_cluster(Warp& warp) {
    states_[warp.index()] = State::at_cluster;
    warp.wait_at_barrier();
}

void Block::leave_cluster_barrier() {
    for (std::uint32_t w = 0; w < states_.size(); ++w) {
        if (states_[w] != State::at_cluster) continue;
        states_[w] = State::ready;
        gang_.pass_cluster(first_warp_ + w);
        warps_[w]->advance();
    }
}

bool Block::waits_for_cluster() const {
    return std::find(states_.begin(), states_.end(), State::at_cluster) != states_.end();
}

bool Block::polls() const {
    return std::any_of(states_.begin(), states_.end(),
                       [](State s) { return s == State::polling || s == State::woken; });
}

Place Block::land(const Copy& copy) {
    std::memcpy(shared_.data() + copy.to, copy.bytes, copy.size);
    std::memset(shared_written_.data() + copy.to, 1, copy.size);
    return shared_place(copy.to);
}

void Block::land_bulk(std::uint64_t mbarrier, std::uint64_t phase) {
    if (!bulk_copies_.any()) return;
    for (const BulkCopy& copy : bulk_copies_.wait(mbarrier, phase)) {
        std::size_t from = 0;
        for (const BulkPiece& piece : copy.pieces) {
            std::memcpy(shared_.data() + piece.to, copy.bytes.data() + from, piece.size);
            std::memset(shared_written_.data() + piece.to, 1, piece.size);
            from += piece.size;
        }
    }
}

Place Block::shared_place(std::uint64_t offset) {
    return {shared_.data() + offset, shared_written_.data() + offset, nullptr, offset, Space::shared, this};
}

void Block::arrive(Warp& warp, std::uint32_t id, std::uint32_t expected, Mask holds, bool waits) {
    Barrier& barrier = barriers_[id];
    if (barrier.arrived == 0) {
        barrier.expected = expected;
        barrier.line = warp.at().line;
    } else if (barrier.expected != expected) {
        const auto text = [](std::uint32_t warps) { return warps == 0 ? "all" : std::to_string(warps); };
        warp.fault(FaultCode::launch_failure, __builtin_ctz(warp.active()),
                   "barrier " + std::to_string(id) + " is for " + text(expected) + " warps here and for " +
                       text(barrier.expected) + " at PTX line " + std::to_string(barrier.line));
    }
    ++barrier.arrived;
    gang_.clocks().join(barrier.clocks, first_warp_ + warp.index());
    if (!waits) tick(warp.index());
    barrier.threads += static_cast<std::uint32_t>(__builtin_popcount(warp.active()));
    barrier.holds += static_cast<std::uint32_t>(__builtin_popcount(holds));
    if (waits) {
        barrier.waiting.push_back(warp.index());
        states_[warp.index()] = State::waiting;
        warp.wait_at_barrier();
    }
    check_barriers();
}

void Block::check_barriers() {
    const auto live = static_cast<std::uint32_t>(
        std::count_if(states_.begin(), states_.end(), [](State s) { return s != State::done; }));
    for (Barrier& barrier : barriers_) {
        if (barrier.arrived != 0 && barrier.arrived >= (barrier.expected == 0 ? live : barrier.expected))
            complete(barrier);
    }
}

void Block::complete(Barrier& barrier) {
    Barrier done;
    std::swap(done, barrier);
    for (const std::uint32_t warp : done.waiting) {
        states_[warp] = State::ready;
        gang_.clocks().adopt(first_warp_ + warp, done.clocks);
        tick(warp);
        warps_[warp]->pass_barrier(done);
    }
}

/// Of a place that warps synchronise at: unique in the gang.
std::uint64_t Block::key_of(const Place& place) {
    if (place.allocation != nullptr) return place.allocation->address + place.offset;
    return std::uint64_t{place.owner->first_warp()} << 32 | place.offset;
}

void Block::deadlock() {
    std::string text = "barrier deadlock:";
    std::size_t named = 0;
    const Warp* first = nullptr;
    for (std::size_t id = 0; id < kBarriers; ++id) {
        const Barrier& barrier = barriers_[id];
        if (barrier.arrived == 0) continue;
        const auto live =
            std::count_if(states_.begin(), states_.end(), [](State s) { return s != State::done; });
        text += std::string(named == 0 ? "" : ";") + " barrier " + std::to_string(id) + " has " +
                std::to_string(barrier.arrived) + " of " +
                std::to_string(barrier.expected == 0 ? static_cast<std::uint32_t>(live) : barrier.expected) +
                " warps";
        for (const std::uint32_t warp : barrier.waiting) {
            if (first == nullptr) first = warps_[warp].get();
            if (named++ >= kMostDeadlocked) break;
            text += ", warp " + std::to_string(warp) + " waits at line " +
                    std::to_string(warps_[warp]->at().line);
        }
    }
    bool for_warpgroup = false;
    const std::string elsewhere = waiting_elsewhere(for_warpgroup);
    if (first != nullptr)
        first->fault(FaultCode::launch_failure, __builtin_ctz(first->active()),
                     text + (elsewhere.empty() ? "" : ";" + elsewhere));
    throw Fault(FaultCode::launch_failure,
                "kernel " + launch_.request.function->name + ", block " + text_of(id_) +
                    (for_warpgroup ? ": warpgroup" : ": mbarrier") +
                    " deadlock:" + (elsewhere.empty() ? " no warp can run" : elsewhere));
}

}  // namespace cudamatrix::suite::ptx
