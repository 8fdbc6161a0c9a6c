#include "kernels/interpreter/races.hpp"

#include <algorithm>

#include "kernels/interpreter/gang.hpp"

namespace cudamatrix::suite::ptx {
namespace {

/// Who accessed a word last, in 64 bits, so that blocks that run at once can share it.
struct Record {
    std::uint32_t launch;  ///< 12 bits; 0: nobody
    std::uint32_t block;   ///< 20 bits
    std::uint32_t thread;  ///< 10 bits
    std::uint32_t clock;   ///< 17 bits
    bool atomic;
    std::uint32_t bytes;  ///< 4 bits
};

Record unpacked(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(bits >> 52),
            static_cast<std::uint32_t>(bits >> 32 & 0xfffff),
            static_cast<std::uint32_t>(bits >> 22 & 0x3ff),
            static_cast<std::uint32_t>(bits >> 5 & 0x1ffff),
            (bits >> 4 & 1) != 0,
            static_cast<std::uint32_t>(bits & 15)};
}

std::uint64_t packed(const Record& r) {
    return std::uint64_t{r.launch} << 52 | std::uint64_t{r.block} << 32 | std::uint64_t{r.thread} << 22 |
           std::uint64_t{r.clock} << 5 | std::uint64_t{r.atomic} << 4 | r.bytes;
}

/// Is the access of `then` before this one, by barriers (or by flags, for which Block keeps who was heard
/// of)?
bool ordered(const Record& then, const Record& now, const Block& block) {
    if (then.launch != now.launch) return true;
    const Block* other_block = then.block == now.block ? &block : block.gang().member(then.block);
    if (other_block == nullptr) return block.gang().clocks().heard_of(then.block);
    if (other_block == &block && then.thread == now.thread) return true;
    const std::uint32_t warp = block.first_warp() + now.thread / kLanes;
    const std::uint32_t other = other_block->first_warp() + then.thread / kLanes;
    if (warp == other) return then.clock < now.clock;
    return block.gang().clocks().at(warp, other) >= then.clock;
}

[[noreturn]] void report(Warp& warp, int lane, const Place& place, std::uint64_t word, AccessKind kind,
                         const Record& then, bool wrote) {
    const char* verb = kind == AccessKind::read ? "reads" : kind == AccessKind::write ? "writes" : "changes";
    const std::string where =
        place.allocation == nullptr ? "of shared memory" : "of " + place.allocation->name;
    std::string who = "thread " + text_of(warp.block().thread(then.thread));
    if (then.block != (warp.block().number() & kBlockBits)) who += " of block " + std::to_string(then.block);
    warp.fault(FaultCode::launch_failure, lane,
               std::string("race: ") + verb + " byte " + std::to_string(word * 4) + " " + where + ", which " +
                   who + (wrote ? " wrote" : " read") + ", and nothing orders the two");
}

struct Records {
    std::uint64_t* writes;
    std::uint64_t* reads;
};

Records records_of(const Place& place) {
    if (place.space == Space::shared) return {place.owner->last_writes(), place.owner->last_reads()};
    return {reinterpret_cast<std::uint64_t*>(place.allocation->last_write.get()),
            reinterpret_cast<std::uint64_t*>(place.allocation->last_read.get())};
}

bool is_watched(Warp& warp, const Place& place) {
    return warp.launch().options.races && (place.space == Space::shared || place.space == Space::global);
}

bool is_atomic(AccessKind kind) {
    return kind == AccessKind::atomic || kind == AccessKind::release;
}

Record record_of(Warp& warp, int lane, AccessKind kind) {
    const Block& block = warp.block();
    return {warp.launch().number,
            static_cast<std::uint32_t>(block.number() & kBlockBits),
            warp.index() * kLanes + static_cast<std::uint32_t>(lane),
            block.clock(warp.index()),
            is_atomic(kind),
            0};
}

/// Not where there were more barriers than a record counts.
bool is_countable(const Record& record) {
    return record.clock <= 0x1ffff;
}

/// Calls `visit` with each word that is accessed and the bytes of it.
template <class Visit>
void each_word(const Place& place, unsigned size, Visit&& visit) {
    for (std::uint64_t at = place.offset; at < place.offset + size; at = at / 4 * 4 + 4) {
        const std::uint64_t word = at / 4;
        const auto count = std::min<std::uint64_t>(place.offset + size, word * 4 + 4) - at;
        visit(word, static_cast<std::uint32_t>(((1U << count) - 1) << (at % 4)));
    }
}

}  // namespace

void check_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind,
                  const std::function<bool()>& is_silent) {
    if (!is_watched(warp, place)) return;
    Block& block = warp.block();
    if (is_atomic(kind)) block.synchronise(warp, place, kind == AccessKind::release);
    Record now = record_of(warp, lane, kind);
    if (place.owner != nullptr && place.owner != &block)
        place.owner->visit(block.first_warp() + warp.index(), now.clock);
    if (!is_countable(now)) return;
    const Records records = records_of(place);
    each_word(place, size, [&](std::uint64_t word, std::uint32_t bytes) {
        now.bytes = bytes;
        // Acquires what the other block stored before it published.
        const Record write = unpacked(__atomic_load_n(records.writes + word, __ATOMIC_ACQUIRE));
        const Record read = unpacked(__atomic_load_n(records.reads + word, __ATOMIC_RELAXED));
        const auto conflicts = [&](const Record& then) {
            return (then.bytes & bytes) != 0 && !(then.atomic && now.atomic) && !ordered(then, now, block) &&
                   !(is_silent && is_silent());
        };
        if (conflicts(write)) report(warp, lane, place, word, kind, write, true);
        if (kind != AccessKind::read && conflicts(read)) report(warp, lane, place, word, kind, read, false);
    });
}

void publish_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind) {
    if (!is_watched(warp, place)) return;
    Record now = record_of(warp, lane, kind);
    if (!is_countable(now)) return;
    const Records records = records_of(place);
    each_word(place, size, [&](std::uint64_t word, std::uint32_t bytes) {
        now.bytes = bytes;
        if (kind != AccessKind::read) {
            __atomic_store_n(records.writes + word, packed(now), __ATOMIC_RELEASE);
            return;
        }
        // Of several unordered readers the first is kept.
        const Record read = unpacked(__atomic_load_n(records.reads + word, __ATOMIC_RELAXED));
        if (ordered(read, now, warp.block()))
            __atomic_store_n(records.reads + word, packed(now), __ATOMIC_RELAXED);
    });
}

void record_access(Warp& warp, int lane, const Place& place, unsigned size, AccessKind kind) {
    check_access(warp, lane, place, size, kind);
    publish_access(warp, lane, place, size, kind);
}

}  // namespace cudamatrix::suite::ptx
