// cp.async (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy"). A copy reads its source
// when it is issued, and its bytes are in shared memory once its thread has waited for it: a device may do
// both at any time between, so that what depends on it is a fault.
#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/mbarrier.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"

namespace cudamatrix::suite::ptx {
namespace {

std::uint32_t thread_of(const Warp& warp, int lane) {
    return warp.index() * kLanes + static_cast<std::uint32_t>(lane);
}

/// Reads `size` bytes of the source, which must be aligned as all bytes of the copy are.
void read_source(Warp& warp, const Instruction& in, int lane, std::uint64_t size, Copy& copy) {
    if (size == 0) return;
    Instruction from = in;
    from.space = Space::global;
    const std::uint64_t address =
        warp.source(in.from[1]).lane[lane] + static_cast<std::uint64_t>(std::int64_t{in.target});
    // A part of the copy need not be a size that locate() knows.
    const unsigned step = size == in.width ? in.width : 1;
    check_aligned(warp, lane, address, in.width);
    for (unsigned at = 0; at < size; at += step) {
        const Place place = locate(warp, from, lane, address + at, step);
        check_written(warp, lane, place, address + at, step);
        record_access(warp, lane, place, step, AccessKind::read);
        for (unsigned i = 0; i < step; ++i)
            copy.bytes[at + i] = static_cast<std::uint8_t>(load_value(place.bytes + i, 1));
    }
}

/// from[0] and offset: to; from[1] and target: from; from[2]: bytes of the source, the others are zeros.
void copy_async(Warp& warp, const Instruction& in, Mask lanes) {
    Block& block = warp.block();
    each(lanes, [&](int lane) {
        const std::uint64_t address =
            warp.source(in.from[0]).lane[lane] + static_cast<std::uint64_t>(in.offset);
        const Place place = locate(warp, in, lane, address, in.width);
        const auto size = static_cast<std::uint32_t>(warp.source(in.from[2]).lane[lane]);
        if (size > in.width)
            warp.fault(
                FaultCode::launch_failure, lane,
                "a source of " + std::to_string(size) + " bytes for a copy of " + std::to_string(in.width));
        Copy copy;
        copy.to = place.offset;
        copy.size = in.width;
        copy.line = in.line;
        copy.thread = thread_of(warp, lane);
        read_source(warp, in, lane, size, copy);
        check_not_in_flight(warp, lane, place, address, in.width);
        record_access(warp, lane, place, in.width, AccessKind::write);
        std::memset(place.written, kInFlight, in.width);
        block.copies().add(copy);
    });
}

void commit_group(Warp& warp, const Instruction&, Mask lanes) {
    each(lanes, [&](int lane) { warp.block().copies().commit(thread_of(warp, lane)); });
}

void land(Warp& warp, int lane, const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
        const Place place = warp.block().land(copy);
        record_access(warp, lane, place, copy.size, AccessKind::write);
    }
}

/// target: how many groups may stay in flight; -1: nothing may.
void wait_group(Warp& warp, const Instruction& in, Mask lanes) {
    Copies& copies = warp.block().copies();
    each(lanes, [&](int lane) {
        const std::uint32_t thread = thread_of(warp, lane);
        land(warp, lane,
             in.target < 0 ? copies.wait_all(thread)
                           : copies.wait(thread, static_cast<std::uint64_t>(in.target)));
    });
}

/// The arrival that a device makes when the copies have ended is made at once: it is their bytes that are
/// there only for who has seen the phase end. flags: .noinc. Without it, the arrival is one that was not
/// pending before.
void arrive_after_copies(Warp& warp, const Instruction& in, Mask lanes) {
    each(lanes, [&](int lane) {
        const Place place = locate_mbarrier(warp, in, lane);
        const std::uint64_t phase = Mbarrier::unpack(load_value(place.bytes, 8)).phase;
        warp.block().copies().attach(thread_of(warp, lane), place.offset, phase);
        if (in.flags != 0) {
            arrive_at(warp, lane, place, 1);
        } else {
            warp.block().publish(warp, place);
        }
    });
    warp.block().tick(warp.index());
}

void decode_arrive(Decoder& decoder) {
    Instruction in = decoder.make(arrive_after_copies);
    in.flags = decoder.take("noinc") ? 1 : 0;
    in.space = decoder.take_shared_space();
    if (decoder.take_type() != Type::b64) decoder.unsupported("not for this type");
    decoder.expect(1, 1);
    decoder.address(decoder.operand(0), in);
    decoder.emit(in);
}

void decode_copy(Decoder& decoder) {
    const bool large = decoder.take("cg");
    if (!large && !decoder.take("ca")) decoder.unsupported("not in this form");
    Instruction in = decoder.make(copy_async);
    in.space = decoder.take_space();
    if (in.space != Space::shared || decoder.take_space() != Space::global)
        decoder.unsupported("expected .shared.global");
    decoder.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
    decoder.expect(3, 4);
    const Operand& bytes = decoder.operand(2);
    const std::uint64_t size = bytes.kind == OperandKind::constant && !bytes.negated ? bytes.token.value : 0;
    if (size != 16 && (large || (size != 4 && size != 8)))
        decoder.unsupported(large ? "expected 16 bytes" : "expected 4, 8 or 16 bytes");
    in.width = static_cast<std::uint8_t>(size);
    Instruction from = in;
    decoder.address(decoder.operand(0), in);
    decoder.address(decoder.operand(1), from);
    in.from[1] = from.from[0];
    in.target = static_cast<std::int32_t>(from.offset);
    if (in.target != from.offset) decoder.unsupported("an offset of more than 32 bits");
    in.from[2] = decoder.count() == 4 ? decoder.source(3, Type::b32) : decoder.constant(size);
    decoder.emit(in);
}

void decode_wait(Decoder& decoder, bool all) {
    Instruction in = decoder.make(wait_group);
    if (all) {
        decoder.expect(0, 0);
        return decoder.emit(in);
    }
    decoder.expect(1, 1);
    const Operand& groups = decoder.operand(0);
    if (groups.kind != OperandKind::constant || groups.negated || groups.token.value > INT32_MAX)
        decoder.unsupported("expected a number of groups");
    in.target = static_cast<std::int32_t>(groups.token.value);
    decoder.emit(in);
}

}  // namespace

void decode_cp_async(Decoder& decoder) {
    if (!decoder.take("async")) decoder.unsupported("expected .async");
    if (decoder.take("bulk")) return decode_bulk_copy(decoder);
    decoder.need_target(80);
    if (decoder.take("commit_group")) {
        decoder.expect(0, 0);
        return decoder.emit(decoder.make(commit_group));
    }
    if (decoder.take("wait_group")) return decode_wait(decoder, false);
    if (decoder.take("wait_all")) return decode_wait(decoder, true);
    if (!decoder.take("mbarrier")) return decode_copy(decoder);
    if (!decoder.take("arrive")) decoder.unsupported("expected .arrive");
    decode_arrive(decoder);
}

}  // namespace cudamatrix::suite::ptx
