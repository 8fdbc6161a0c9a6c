// Barriers and fences (PTX ISA, "bar, barrier", "bar.warp.sync", "membar, fence").
#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum BarrierFlag : std::uint8_t { kWaits = 1, kReduces = 2, kCounted = 4 };
enum Reduction : unsigned { kAll, kAny, kPopulation };

std::uint64_t uniform(Warp& warp, Slot slot, Mask lanes, const char* what) {
    const Row& row = warp.source(slot);
    const int first = __builtin_ctz(lanes);
    each(lanes, [&](int l) {
        if (static_cast<std::uint32_t>(row.lane[l]) != static_cast<std::uint32_t>(row.lane[first]))
            warp.fault(FaultCode::launch_failure, l, std::string("the lanes have different ") + what);
    });
    return static_cast<std::uint32_t>(row.lane[first]);
}

/// from[0] is the barrier, from[1] how many threads. All live lanes of the warp must come: .aligned asks for
/// it, and what barrier.sync does for a part of a warp is not known here.
void block_barrier(Warp& warp, const Instruction& in, Mask lanes) {
    if (lanes == 0) return warp.advance();
    if (!warp.together(warp.live(), lanes, true)) return;
    const int lane = __builtin_ctz(lanes);
    const std::uint64_t id = uniform(warp, in.from[0], lanes, "barriers");
    if (id >= kBarriers)
        warp.fault(FaultCode::illegal_instruction, lane,
                   "barrier " + std::to_string(id) + ": there are 0 to 15");
    std::uint64_t threads = 0;
    if ((in.flags & kCounted) != 0) {
        threads = uniform(warp, in.from[1], lanes, "numbers of threads");
        if (threads == 0 || threads % kLanes != 0)
            warp.fault(FaultCode::illegal_instruction, lane,
                       std::to_string(threads) + " threads: expected a multiple of 32");
        if (threads > std::uint64_t{warp.block().warps()} * kLanes)
            warp.fault(FaultCode::launch_failure, lane,
                       "the barrier is for " + std::to_string(threads) + " threads, the block has " +
                           std::to_string(warp.block().threads()));
    }
    const Mask holds = (in.flags & kReduces) != 0 ? warp.source_predicate(in) & lanes : 0;
    const bool waits = (in.flags & kWaits) != 0;
    warp.block().arrive(warp, static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(threads / kLanes),
                        holds, waits);
    if (!waits) warp.advance();
}

/// Lanes with different masks (tiles of a warp) may come together; each mask must be complete then.
void warp_barrier(Warp& warp, const Instruction& in, Mask lanes) {
    if (lanes == 0) return warp.advance();
    const Row& masks = warp.source(in.from[0]);
    Mask all = 0;
    bool uniform_mask = true;
    each(lanes, [&](int l) {
        const auto own = static_cast<Mask>(masks.lane[l]);
        if ((own >> l & 1) == 0)
            warp.fault(FaultCode::launch_failure, l,
                       "the member mask " + hex_address(own) + " lacks the lane itself");
        uniform_mask = uniform_mask && (all == 0 || all == own);
        all |= own;
    });
    if (uniform_mask && lanes == warp.active()) return warp.warp_barrier(all);
    if (!warp.together(all, lanes)) return;
    warp.block().tick(warp.index());
    warp.advance();
}

void fence(Warp& warp, const Instruction&, Mask) {
    warp.set_fenced();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void no_fence(Warp&, const Instruction&, Mask) {}

/// Fences between the ways in which memory is accessed, and of mbarriers that were made: as copies and
/// products are only started, and ended, at instructions of warps, there is nothing to be done.
bool decode_proxy_fence(Decoder& decoder) {
    if (decoder.take("mbarrier_init")) {
        if (!decoder.take("release") || !decoder.take("cluster")) decoder.unsupported("not in this form");
    } else if (decoder.take("proxy")) {
        if (!decoder.take("async")) decoder.unsupported("not in this form");
        const Space space = decoder.take_space();
        if (space != Space::generic && space != Space::shared && space != Space::global)
            decoder.unsupported("not in this state space");
    } else {
        return false;
    }
    decoder.need_target(90);
    decoder.expect(0, 0);
    decoder.emit(decoder.make(no_fence));
    return true;
}

void decode_fence(Decoder& decoder) {
    if (decoder.statement().name == "fence" && decode_proxy_fence(decoder)) return;
    if (decoder.statement().name == "membar") {
        if (decoder.take_one_of({"cta", "gl", "sys"}) < 0) decoder.unsupported("not in this form");
    } else {
        decoder.take_one_of({"sc", "acq_rel"});
        if (decoder.take_one_of({"cta", "cluster", "gpu", "sys"}) < 0)
            decoder.unsupported("not in this form");
    }
    decoder.expect(0, 0);
    decoder.emit(decoder.make(fence));
}

}  // namespace

void Block::give_result(Warp& warp, const Instruction& in, const Barrier& barrier) {
    if ((in.flags & kReduces) == 0) return;
    const Mask lanes = warp.active();
    if (in.detail == kPopulation) {
        Row& to = warp.destination(in.to);
        each(lanes, [&](int l) { to.lane[l] = barrier.holds; });
    } else {
        const bool result = in.detail == kAll ? barrier.holds == barrier.threads : barrier.holds != 0;
        warp.set_predicate(in.to, lanes, result ? ~Mask{0} : 0);
    }
}

void decode_barrier(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "membar" || name == "fence") return decode_fence(decoder);
    if (decoder.take("warp")) {
        if (!decoder.take("sync")) decoder.unsupported("expected .sync");
        decoder.expect(1, 1);
        Instruction in = decoder.make(warp_barrier);
        in.flow = true;
        in.from[0] = decoder.source(0, Type::b32);
        return decoder.emit(in);
    }
    if (decoder.take("cluster")) return decode_cluster_barrier(decoder);
    decoder.take("cta");
    const int kind = decoder.take_one_of({"sync", "arrive", "red"});
    if (kind < 0) decoder.unsupported("expected .sync, .arrive or .red");
    Instruction in = decoder.make(block_barrier);
    in.flow = true;
    unsigned flags = kind == 1 ? 0 : kWaits;
    std::size_t first = 0;
    if (kind == 2) {
        const int reduction = decoder.take_one_of({"and", "or", "popc"});
        decoder.take("aligned");
        const Type type = decoder.take_type();
        if (reduction < 0 || type != (reduction == kPopulation ? Type::u32 : Type::pred))
            decoder.unsupported("not in this form");
        in.detail = static_cast<std::uint16_t>(reduction);
        flags |= kReduces;
        decoder.expect(3, 4);
        in.to = reduction == kPopulation ? decoder.destination(0)
                                         : decoder.predicate_destination(decoder.operand(0));
        decoder.source_predicate(decoder.operand(decoder.count() - 1), in);
        first = 1;
    } else {
        decoder.take("aligned");
        decoder.expect(kind == 1 ? 2 : 1, 2);
    }
    in.from[0] = decoder.source(first, Type::b32);
    if (decoder.count() - first - (kind == 2 ? 1 : 0) == 2) {
        flags |= kCounted;
        in.from[1] = decoder.source(first + 1, Type::b32);
    }
    in.flags = static_cast<std::uint8_t>(flags);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
