// Between the lanes of a warp: shfl, vote, match, redux, activemask, elect (PTX ISA, "Data Movement and
// Conversion" and "Parallel Synchronization and Communication Instructions").
#include <algorithm>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum Shuffle : unsigned { kUp, kDown, kButterfly, kIndexed };

/// The lanes whose member mask is that of `lane`.
Mask group_of(const Row& masks, int lane, Mask lanes) {
    return lanes_where(lanes, [&](int l) {
        return static_cast<Mask>(masks.lane[l]) == static_cast<Mask>(masks.lane[lane]);
    });
}

/// f(group) for the lanes of each member mask: tiles of a warp come together.
template <typename F>
void for_groups(Warp& warp, const Instruction& in, Mask lanes, F f) {
    const Row masks = warp.source(in.from[2]);
    while (lanes != 0) {
        const Mask group = group_of(masks, __builtin_ctz(lanes), lanes);
        f(group);
        lanes &= ~group;
    }
}

/// True when the lanes that the member masks (from[2]) name are here. Each lane must name itself, and lanes
/// that name each other must have the same mask.
bool members_are_here(Warp& warp, const Instruction& in, Mask lanes) {
    if (lanes == 0) {
        warp.advance();
        return false;
    }
    const Row& masks = warp.source(in.from[2]);
    Mask all = 0;
    for_groups(warp, in, lanes, [&](Mask group) {
        const int first = __builtin_ctz(group);
        const auto members = static_cast<Mask>(masks.lane[first]);
        const Mask outside = group & ~members;
        if (outside != 0)
            warp.fault(FaultCode::launch_failure, __builtin_ctz(outside),
                       "the member mask " + hex_address(members) + " lacks the lane " +
                           std::to_string(__builtin_ctz(outside)) + " itself");
        const Mask others = lanes & members & ~group;
        if (others != 0)
            warp.fault(FaultCode::launch_failure, first,
                       "the member mask " + hex_address(members) + " names the lane " +
                           std::to_string(__builtin_ctz(others)) + ", which has the mask " +
                           hex_address(masks.lane[__builtin_ctz(others)] & 0xffffffff));
        all |= members;
    });
    return warp.together(all, lanes);
}

/// PTX ISA, "shfl.sync", its pseudo code. detail is the mode.
void shuffle(Warp& warp, const Instruction& in, Mask lanes) {
    if (!members_are_here(warp, in, lanes)) return;
    const Row values = warp.source(in.from[0]);
    const Row& operands = warp.source(in.from[1]);
    const Row& limits = warp.source(static_cast<Slot>(in.target));
    const Row masks = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    Mask in_range = 0;
    each(lanes, [&](int l) {
        const auto by = static_cast<int>(operands.lane[l] & 31);
        const auto clamp = static_cast<int>(limits.lane[l] & 31);
        const auto segment = static_cast<int>(limits.lane[l] >> 8 & 31);
        const int most = (l & segment) | (clamp & ~segment);
        const int least = l & segment;
        int from = l;
        bool inside = false;
        switch (in.detail) {
            case kUp:
                from = l - by;
                inside = from >= most;
                break;
            case kDown:
                from = l + by;
                inside = from <= most;
                break;
            case kButterfly:
                from = l ^ by;
                inside = from <= most;
                break;
            default:
                from = least | (by & ~segment);
                inside = from <= most;
        }
        if (!inside) from = l;
        if (((lanes & static_cast<Mask>(masks.lane[l])) >> from & 1) == 0)
            warp.fault(FaultCode::launch_failure, l,
                       "takes the value of lane " + std::to_string(from) + ", which does not take part");
        in_range |= static_cast<Mask>(inside) << l;
        to.lane[l] = values.lane[from] & 0xffffffff;
    });
    warp.set_predicate(in.to2, lanes, in_range);
    warp.advance();
}

/// detail: 0 all, 1 any, 2 uni, 3 ballot.
void vote(Warp& warp, const Instruction& in, Mask lanes) {
    if (!members_are_here(warp, in, lanes)) return;
    const Mask predicate = in.predicate >= 0 ? warp.source_predicate(in) : in.flags != 0 ? ~Mask{0} : 0;
    for_groups(warp, in, lanes, [&](Mask group) {
        const Mask holds = predicate & group;
        if (in.detail == 3) {
            Row& to = warp.destination(in.to);
            each(group, [&](int l) { to.lane[l] = holds; });
            return;
        }
        const bool result = in.detail == 0   ? holds == group
                            : in.detail == 1 ? holds != 0
                                             : holds == 0 || holds == group;
        warp.set_predicate(in.to, group, result ? ~Mask{0} : 0);
    });
    warp.advance();
}

/// detail: 0 any, 1 all. width: bytes of the values.
void match(Warp& warp, const Instruction& in, Mask lanes) {
    if (!members_are_here(warp, in, lanes)) return;
    const Row values = warp.source(in.from[0]);
    const std::uint64_t used = in.width == 8 ? ~0ULL : 0xffffffff;
    for_groups(warp, in, lanes, [&](Mask group) {
        Row& to = warp.destination(in.to);
        Mask same_for_all = ~Mask{0};
        each(group, [&](int l) {
            const Mask same = lanes_where(
                group, [&](int other) { return ((values.lane[other] ^ values.lane[l]) & used) == 0; });
            if (same != group) same_for_all = 0;
            to.lane[l] = same;
        });
        if (in.detail == 0) return;
        if (same_for_all == 0) each(group, [&](int l) { to.lane[l] = 0; });
        warp.set_predicate(in.to2, group, same_for_all);
    });
    warp.advance();
}

std::uint32_t reduced(unsigned operation, std::uint32_t a, std::uint32_t b) {
    switch (operation) {
        case 0:
            return a + b;
        case 1:
            return std::min(a, b);
        case 2:
            return std::max(a, b);
        case 3:
            return a & b;
        case 4:
            return a | b;
        default:
            return a ^ b;
    }
}

/// detail: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; flags 1: signed.
void reduce(Warp& warp, const Instruction& in, Mask lanes) {
    if (!members_are_here(warp, in, lanes)) return;
    const Row values = warp.source(in.from[0]);
    // With a flipped sign bit, signed integers compare as unsigned ones.
    const std::uint32_t flip = in.flags != 0 && (in.detail == 1 || in.detail == 2) ? 0x80000000U : 0;
    for_groups(warp, in, lanes, [&](Mask group) {
        const int first = __builtin_ctz(group);
        std::uint32_t result = static_cast<std::uint32_t>(values.lane[first]) ^ flip;
        each(group & ~(Mask{1} << first), [&](int l) {
            result = reduced(in.detail, result, static_cast<std::uint32_t>(values.lane[l]) ^ flip);
        });
        Row& to = warp.destination(in.to);
        each(group, [&](int l) { to.lane[l] = result ^ flip; });
    });
    warp.advance();
}

void elect(Warp& warp, const Instruction& in, Mask lanes) {
    if (!members_are_here(warp, in, lanes)) return;
    for_groups(warp, in, lanes, [&](Mask group) {
        const int leader = __builtin_ctz(group);
        Row& to = warp.destination(in.to);
        each(group, [&](int l) { to.lane[l] = static_cast<std::uint64_t>(leader); });
        warp.set_predicate(in.to2, group, Mask{1} << leader);
    });
    warp.advance();
}

void active_mask(Warp& warp, const Instruction& in, Mask lanes) {
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { to.lane[l] = lanes; });
}

Instruction synchronous(Decoder& decoder, Handler handler, std::size_t operands) {
    decoder.expect(operands, operands);
    Instruction in = decoder.make(handler);
    in.flow = true;
    in.from[2] = decoder.source(operands - 1, Type::b32);
    return in;
}

void decode_shuffle(Decoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported("expected .sync");
    const int mode = decoder.take_one_of({"up", "down", "bfly", "idx"});
    if (mode < 0 || decoder.take_type() != Type::b32) decoder.unsupported("not in this form");
    Instruction in = synchronous(decoder, shuffle, 5);
    in.detail = static_cast<std::uint16_t>(mode);
    in.to = decoder.destination(0);
    in.to2 = decoder.operand(0).second;
    in.from[0] = decoder.source(1, Type::b32);
    in.from[1] = decoder.source(2, Type::b32);
    in.target = decoder.source(3, Type::b32);
    decoder.emit(in);
}

void decode_vote(Decoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported("expected .sync");
    const int mode = decoder.take_one_of({"all", "any", "uni", "ballot"});
    const Type type = decoder.take_type();
    if (mode < 0 || type != (mode == 3 ? Type::b32 : Type::pred)) decoder.unsupported("not in this form");
    Instruction in = synchronous(decoder, vote, 3);
    in.detail = static_cast<std::uint16_t>(mode);
    in.to = mode == 3 ? decoder.destination(0) : decoder.predicate_destination(decoder.operand(0));
    const Operand& holds = decoder.operand(1);
    if (holds.kind == OperandKind::constant && holds.token.kind == TokenKind::integer) {
        in.flags = holds.token.value != 0 ? 1 : 0;
    } else {
        decoder.source_predicate(holds, in);
    }
    decoder.emit(in);
}

void decode_match(Decoder& decoder) {
    const int mode = decoder.take_one_of({"any", "all"});
    if (mode < 0 || !decoder.take("sync")) decoder.unsupported("expected .any or .all, and .sync");
    const Type type = decoder.take_type();
    if (type != Type::b32 && type != Type::b64) decoder.unsupported("not for this type");
    Instruction in = synchronous(decoder, match, 3);
    in.detail = static_cast<std::uint16_t>(mode);
    in.width = static_cast<std::uint8_t>(size_of(type));
    in.to = decoder.destination(0);
    in.to2 = decoder.operand(0).second;
    in.from[0] = decoder.source(1, type);
    decoder.emit(in);
}

void decode_reduce(Decoder& decoder) {
    if (!decoder.take("sync")) decoder.unsupported("expected .sync");
    const int operation = decoder.take_one_of({"add", "min", "max", "and", "or", "xor"});
    const Type type = decoder.take_type();
    if (operation < 0 || size_of(type) != 4 || is_floating(type) || (operation > 2) != is_bits(type))
        decoder.unsupported("not in this form");
    Instruction in = synchronous(decoder, reduce, 3);
    in.detail = static_cast<std::uint16_t>(operation);
    in.flags = is_signed(type) ? 1 : 0;
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, type);
    decoder.emit(in);
}

}  // namespace

void decode_exchange(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "shfl") return decode_shuffle(decoder);
    if (name == "vote") return decode_vote(decoder);
    if (name == "match") return decode_match(decoder);
    if (name == "redux") return decode_reduce(decoder);
    if (name == "elect") {
        if (!decoder.take("sync")) decoder.unsupported("expected .sync");
        Instruction in = synchronous(decoder, elect, 2);
        in.to = decoder.destination(0);
        in.to2 = decoder.operand(0).second;
        return decoder.emit(in);
    }
    if (decoder.take_type() != Type::b32) decoder.unsupported("not for this type");
    decoder.expect(1, 1);
    Instruction in = decoder.make(active_mask);
    in.to = decoder.destination(0);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
