#include "kernels/interpreter/gang.hpp"

#include <algorithm>
#include <string>

namespace cudamatrix::suite::ptx {
namespace {

/// So often warps that wait in grid.sync look again, with nothing else to be done, before that is a deadlock.
constexpr unsigned kPatience = 3;
/// The same for mbarriers, whose try_wait a program may count.
constexpr unsigned kMbarrierPatience = 1000;
constexpr std::size_t kMostNamed = 8;  // blocks in a message

}  // namespace

std::uint64_t Gang::count(const LaunchRequest& request) {
    return request.cooperative ? 1 : request.grid.count() / request.cluster.count();
}

std::uint64_t Gang::block_number(std::uint64_t number, std::uint32_t rank) const {
    if (is_whole_grid()) return rank;
    const Dim3& grid = launch_.request.grid;
    const Dim3& cluster = launch_.request.cluster;
    const std::uint64_t wide = grid.x / cluster.x;
    const std::uint64_t high = grid.y / cluster.y;
    const std::uint64_t x = number % wide * cluster.x + rank % cluster.x;
    const std::uint64_t y = number / wide % high * cluster.y + rank / cluster.x % cluster.y;
    const std::uint64_t z = number / (wide * high) * cluster.z + rank / (cluster.x * cluster.y);
    return x + grid.x * (y + grid.y * z);
}

void Gang::start(std::uint64_t number) {
    const LaunchRequest& request = launch_.request;
    const std::size_t size = is_whole_grid() ? request.grid.count() : request.cluster.count();
    while (blocks_.size() < size)
        blocks_.push_back(std::make_unique<Block>(launch_, *this));
    const auto warps = static_cast<std::uint32_t>((request.block.count() + kLanes - 1) / kLanes);
    numbers_.clear();
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        const std::uint64_t block = block_number(number, rank);
        numbers_.push_back(static_cast<std::uint32_t>(block & kBlockBits));
        blocks_[rank]->start(block, rank * warps);
    }
    clocks_.start(size * warps);
    cluster_.start(size * warps);
    live_ = size;
    current_ = block_number(number, 0);
    turn_ = idle_ = 0;
    word_ = barrier_word();
    random_.seed(launch_, number);
}

const Block* Gang::member(std::uint32_t number) const {
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        if (numbers_[rank] == number) return blocks_[rank].get();
    }
    return nullptr;
}

/// Of one block that has something to do, the next one, or any one of a seeded interleaving. False when none
/// has.
bool Gang::turn() {
    const std::size_t count = numbers_.size();
    if (launch_.schedule != 0 && count > 1) turn_ = random_.next() % count;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t rank = (turn_ + i) % count;
        current_ = blocks_[rank]->number();
        const Block::Turn turn = blocks_[rank]->turn();
        if (turn == Block::Turn::none) continue;
        turn_ = rank + 1;
        if (turn == Block::Turn::ended) --live_;
        if (count > 1 && (turn == Block::Turn::ended || turn == Block::Turn::warp_ended)) check_cluster();
        if (turn != Block::Turn::polled) idle_ = 0;
        return true;
    }
    return false;
}

void Gang::run(std::uint64_t number) {
    start(number);
    while (live_ > 0) {
        const bool done = turn();
        if (launch_.stop.load(std::memory_order_relaxed)) return;
        if (launch_.workspace == nullptr) {
            if (!done && (idle_++ == kMbarrierPatience || !wake())) deadlock();
            continue;
        }
        const std::uint32_t word = barrier_word();
        if (word != word_) {
            word_ = word;
            idle_ = 0;
            wake();
        } else if (!done && (idle_++ == kPatience || !wake())) {
            deadlock();
        }
    }
}

/// The warps that wait in grid.sync look again. False when there is none.
bool Gang::wake() {
    bool any = false;
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank)
        any = blocks_[rank]->wake() || any;
    return any;
}

/// What the blocks of a cooperative launch count in.
std::uint32_t Gang::barrier_word() const {
    return launch_.workspace == nullptr
               ? 0
               : static_cast<std::uint32_t>(load_value(launch_.workspace->bytes.get() + kBarrierWord, 4));
}

void Gang::cluster_deadlock() {
    const auto come = std::count(cluster_.came.begin(), cluster_.came.end(), cluster_.phase);
    std::string text = "kernel " + launch_.request.function->name + ", block " + text_of(blocks_[0]->id()) +
                       ": cluster barrier deadlock: " + std::to_string(come) + " of " +
                       std::to_string(cluster_.came.size()) + " warps of its cluster have come";
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        bool for_warpgroup = false;
        const std::string elsewhere = blocks_[rank]->waiting_elsewhere(for_warpgroup);
        if (!elsewhere.empty()) text += "; in block " + text_of(blocks_[rank]->id()) + elsewhere;
    }
    throw Fault(FaultCode::launch_failure, text);
}

void Gang::deadlock() {
    std::size_t waiting = 0;
    std::vector<std::string> absent;
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        if (blocks_[rank]->waits_for_cluster()) cluster_deadlock();
    }
    for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
        Block& block = *blocks_[rank];
        if (launch_.workspace != nullptr && block.polls()) {
            ++waiting;
            continue;
        }
        if (!block.ended()) block.deadlock();
        absent.push_back(text_of(block.id()));
    }
    std::string text = "kernel " + launch_.request.function->name +
                       ": grid barrier deadlock: " + std::to_string(waiting) + " of " +
                       std::to_string(numbers_.size()) + " blocks wait in grid.sync";
    for (std::size_t i = 0; i < absent.size() && i < kMostNamed; ++i)
        text += (i == 0 ? ", block " : ", ") + absent[i];
    if (absent.size() > kMostNamed) text += " ...";
    if (!absent.empty()) text += absent.size() == 1 ? " has ended" : " have ended";
    throw Fault(FaultCode::launch_failure, text);
}

}  // namespace cudamatrix::suite::ptx
