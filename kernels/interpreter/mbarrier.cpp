// mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"). Of other blocks of
// the cluster only arrivals are known, and copies.
#include "kernels/interpreter/mbarrier.hpp"

#include <cstdlib>

#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/tcgen05.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kSize = 8;
constexpr unsigned kBarrierBits = 20;  // of both counts
constexpr std::uint64_t kValid = 1ULL << 63;

enum PhaseFlag : std::uint8_t {
    kDrops = 1,
    kNeverCompletes = 2,
    kParity = 4,
    kExpects = 8,
    kCompletes = 16,
    kOfCluster = 32
};

std::uint64_t barrier_address(const Warp& warp, const Instruction& in, int lane) {
    return warp.source(in.from[0]).lane[lane] + static_cast<std::uint64_t>(in.offset);
}

void initialise_barrier(Warp& warp, const Instruction& in, Mask lanes) {
    each(lanes, [&](int lane) {
        const std::uint64_t address = barrier_address(warp, in, lane);
        const Place place = locate_shared(warp, in, lane, address, kSize);
        const std::uint64_t count = warp.source(in.from[1]).lane[lane] & 0xffffffff;
        if (count == 0 || count > Mbarrier::kMost)
            warp.fault(FaultCode::launch_failure, lane,
                       "an mbarrier for " + std::to_string(count) + " arrivals: expected 1 to 1048575");
        check_not_in_flight(warp, lane, place, address, kSize);
        record_access(warp, lane, place, kSize, AccessKind::write);
        store_value(place.bytes, Mbarrier{count, count, 0}.pack(), kSize);
        warp.block().begin_mbarrier(place.offset);
        std::memset(place.written, 1, kSize);
    });
}

/// The bytes have no meaning until something writes them.
void invalidate(Warp& warp, const Instruction& in, Mask lanes) {
    each(lanes, [&](int lane) {
        const Place place = locate_mbarrier(warp, in, lane);
        record_access(warp, lane, place, kSize, AccessKind::write);
        std::memset(place.written, 0, kSize);
    });
}

/// from[1]: count, or how many bytes more are waited for. The result is the phase before.
void arrive(Warp& warp, const Instruction& in, Mask lanes) {
    const Row counts = warp.source(in.from[1]);
    each(lanes, [&](int lane) {
        const Place place = locate_mbarrier(warp, in, lane);
        const std::uint64_t before = load_value(place.bytes, kSize);
        std::uint64_t count = counts.lane[lane] & 0xffffffff;
        if ((in.flags & kExpects) != 0) {
            change_transactions(warp, lane, place, static_cast<std::int64_t>(count));
            count = 1;
        }
        Mbarrier barrier = Mbarrier::unpack(before);
        if ((in.flags & kNeverCompletes) != 0 && count >= barrier.pending)
            warp.fault(FaultCode::launch_failure, lane,
                       ".noComplete of the last " + std::to_string(barrier.pending) + " arrivals");
        if ((in.flags & kDrops) != 0 && count <= barrier.expected) {
            barrier.expected -= count;
            store_value(place.bytes, barrier.pack(), kSize);
        }
        if (place.owner != &warp.block()) place.owner->set_arrived_from_outside(place.offset);
        arrive_at(warp, lane, place, count);
        warp.destination(in.to).lane[lane] = before;
    });
    warp.block().tick(warp.index());
}

/// from[1]: how many bytes.
void transact(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& counts = warp.source(in.from[1]);
    each(lanes, [&](int lane) {
        const auto bytes = static_cast<std::int64_t>(counts.lane[lane] & 0xffffffff);
        change_transactions(warp, lane, locate_mbarrier(warp, in, lane),
                            (in.flags & kCompletes) != 0 ? -bytes : bytes);
    });
}

/// from[1]: the state that an arrival gave, or the parity of the phase that is waited for. The lanes for
/// which it is complete.
Mask test_phase(Warp& warp, const Instruction& in, Mask lanes) {
    const Mask complete = lanes_where(lanes, [&](int lane) {
        const Place place = locate_mbarrier(warp, in, lane);
        const std::uint64_t phase = Mbarrier::unpack(load_value(place.bytes, kSize)).phase;
        const std::uint64_t waited = warp.source(in.from[1]).lane[lane];
        const bool done =
            (in.flags & kParity) != 0 ? (phase & 1) != (waited & 1) : phase != Mbarrier::unpack(waited).phase;
        if (!done) return false;
        if ((in.flags & kOfCluster) == 0 && warp.block().is_arrived_from_outside(place.offset))
            warp.fault(FaultCode::launch_failure, lane,
                       "needs .acquire.cluster: threads of another block have arrived at this mbarrier");
        record_access(warp, lane, place, kSize, AccessKind::atomic);  // sees what was before the arrivals
        for (const Copy& copy : warp.block().copies().wait_mbarrier(place.offset, phase))
            warp.block().land(copy);
        warp.block().land_bulk(place.offset, phase);
        end_tensor_products(warp, lane, place.offset, phase);
        return true;
    });
    warp.set_predicate(in.to, lanes, complete);
    return complete;
}

void test_wait(Warp& warp, const Instruction& in, Mask lanes) {
    static_cast<void>(test_phase(warp, in, lanes));
}

/// It may wait for a while, and does where no lane can go on.
void try_wait(Warp& warp, const Instruction& in, Mask lanes) {
    const bool waits = lanes != 0 && test_phase(warp, in, lanes) == 0;
    const std::uint64_t offset = waits ? locate_mbarrier(warp, in, __builtin_ctz(lanes)).offset : 0;
    warp.advance();
    if (waits) warp.wait_for_phase(in.line, offset);
}

/// Ends the phase when nothing is missing, and writes the mbarrier.
void settle(const Place& place, Mbarrier barrier) {
    if (barrier.pending == 0 && place.owner->transactions(place.offset) == 0) {
        ++barrier.phase;
        barrier.pending = barrier.expected;
        place.owner->wake();
    }
    store_value(place.bytes, barrier.pack(), kSize);
}

void pending_count(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& states = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int lane) { to.lane[lane] = Mbarrier::unpack(states.lane[lane]).pending; });
}

void take_space(Decoder& decoder, Instruction& in) {
    in.space = decoder.take_shared_space();
    if (decoder.take_type() != Type::b64) decoder.unsupported("not for this type");
}

void decode_init(Decoder& decoder, bool begins) {
    Instruction in = decoder.make(begins ? initialise_barrier : invalidate);
    take_space(decoder, in);
    decoder.expect(begins ? 2 : 1, begins ? 2 : 1);
    decoder.address(decoder.operand(0), in);
    if (begins) in.from[1] = decoder.source(1, Type::b32);
    decoder.emit(in);
}

bool take_cluster_scope(Decoder& decoder) {
    if (!decoder.take("cluster")) {
        decoder.take("cta");
        return false;
    }
    decoder.need_target(90);
    return true;
}

/// With less than .release.cluster the other block would not see what was done before.
void take_release(Decoder& decoder, Instruction& in) {
    const bool releases = decoder.take("release");
    const bool in_cluster = take_cluster_scope(decoder);
    if (!decoder.take("shared::cluster")) {
        in.space = decoder.take_shared_space();
        return;
    }
    decoder.need_target(90);
    if (!releases || !in_cluster) decoder.unsupported("expected .release.cluster.shared::cluster");
    in.space = Space::cluster;
}

void decode_barrier_arrive(Decoder& decoder, bool drops) {
    Instruction in = decoder.make(arrive);
    const bool expects = decoder.take("expect_tx");
    if (expects) decoder.need_target(90);
    const bool never_completes = !expects && decoder.take("noComplete");
    in.flags = static_cast<std::uint8_t>((drops ? kDrops : 0) | (never_completes ? kNeverCompletes : 0) |
                                         (expects ? kExpects : 0));
    take_release(decoder, in);
    if (decoder.take_type() != Type::b64) decoder.unsupported("not for this type");
    decoder.expect(never_completes || expects ? 3 : 2, 3);
    if (in.space == Space::cluster && decoder.operand(0).kind != OperandKind::none)
        decoder.unsupported("expected _ for the state, which is another block's");
    if (decoder.count() == 3 && !never_completes) decoder.need_target(90);
    in.to = decoder.destination(0);
    decoder.address(decoder.operand(1), in);
    in.from[1] = decoder.count() == 3 ? decoder.source(2, Type::b32) : decoder.constant(1);
    decoder.emit(in);
}

/// mbarrier.expect_tx, mbarrier.complete_tx
void decode_transaction(Decoder& decoder, bool completes) {
    decoder.need_target(90);
    Instruction in = decoder.make(transact);
    in.flags = completes ? kCompletes : 0;
    if (decoder.take("relaxed") && decoder.take_one_of({"cta", "cluster"}) < 0)
        decoder.unsupported("expected .cta or .cluster");
    take_space(decoder, in);
    decoder.expect(2, 2);
    decoder.address(decoder.operand(0), in);
    in.from[1] = decoder.source(1, Type::b32);
    decoder.emit(in);
}

/// The limit of time of try_wait is not looked at.
void decode_barrier_wait(Decoder& decoder, bool tries) {
    if (tries) decoder.need_target(90);
    Instruction in = decoder.make(tries ? try_wait : test_wait);
    in.flow = tries;
    const bool parity = decoder.take("parity");
    in.flags = parity ? kParity : 0;
    decoder.take("acquire");
    if (take_cluster_scope(decoder)) in.flags |= kOfCluster;
    take_space(decoder, in);
    decoder.expect(3, tries ? 4 : 3);
    in.to = decoder.predicate_destination(decoder.operand(0));
    decoder.address(decoder.operand(1), in);
    in.from[1] = decoder.source(2, parity ? Type::b32 : Type::b64);
    if (decoder.count() == 4) static_cast<void>(decoder.source(3, Type::b32));
    decoder.emit(in);
}

void decode_pending_count(Decoder& decoder) {
    if (decoder.take_type() != Type::b64) decoder.unsupported("not for this type");
    decoder.expect(2, 2);
    Instruction in = decoder.make(pending_count);
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, Type::b64);
    decoder.emit(in);
}

}  // namespace

Mbarrier Mbarrier::unpack(std::uint64_t bits) {
    return {bits & kMost, bits >> kBarrierBits & kMost, (bits & ~kValid) >> 2 * kBarrierBits};
}

std::uint64_t Mbarrier::pack() const {
    return kValid | ((phase << 2 * kBarrierBits) & ~kValid) | expected << kBarrierBits | pending;
}

Place locate_mbarrier(Warp& warp, const Instruction& in, int lane) {
    const std::uint64_t address = barrier_address(warp, in, lane);
    const Place place = locate_shared(warp, in, lane, address, kSize);
    check_mbarrier(warp, lane, place, address);
    return place;
}

void check_mbarrier(Warp& warp, int lane, const Place& place, std::uint64_t address) {
    check_written(warp, lane, place, address, kSize);
    if ((load_value(place.bytes, kSize) & kValid) == 0)
        warp.fault(FaultCode::launch_failure, lane,
                   "there is no mbarrier at address " + hex_address(address));
}

void arrive_at(Warp& warp, int lane, const Place& place, std::uint64_t count) {
    record_access(warp, lane, place, kSize, AccessKind::atomic);
    Mbarrier barrier = Mbarrier::unpack(load_value(place.bytes, kSize));
    if (count == 0 || count > barrier.pending)
        warp.fault(FaultCode::launch_failure, lane,
                   std::to_string(count) + " arrivals at an mbarrier that waits for " +
                       std::to_string(barrier.pending));
    warp.block().publish(warp, place);
    barrier.pending -= count;
    settle(place, barrier);
}

void change_transactions(Warp& warp, int lane, const Place& place, std::int64_t bytes) {
    constexpr std::int64_t kMost = (1 << 20) - 1;
    record_access(warp, lane, place, kSize, AccessKind::atomic);
    std::int64_t& count = place.owner->transactions(place.offset);
    if (std::abs(bytes) > kMost || std::abs(count + bytes) > kMost)
        warp.fault(FaultCode::launch_failure, lane,
                   "an mbarrier that waits for " + std::to_string(count + bytes) +
                       " bytes: at most 1048575 can be waited for");
    warp.block().publish(warp, place);
    count += bytes;
    settle(place, Mbarrier::unpack(load_value(place.bytes, kSize)));
}

void decode_mbarrier(Decoder& decoder) {
    decoder.need_target(80);
    switch (decoder.take_one_of({"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait",
                                 "pending_count", "expect_tx", "complete_tx"})) {
        case 0:
            return decode_init(decoder, true);
        case 1:
            return decode_init(decoder, false);
        case 2:
            return decode_barrier_arrive(decoder, false);
        case 3:
            return decode_barrier_arrive(decoder, true);
        case 4:
            return decode_barrier_wait(decoder, false);
        case 5:
            return decode_barrier_wait(decoder, true);
        case 6:
            return decode_pending_count(decoder);
        case 7:
            return decode_transaction(decoder, false);
        case 8:
            return decode_transaction(decoder, true);
        default:
            decoder.unsupported("not in this form");
    }
}

}  // namespace cudamatrix::suite::ptx
