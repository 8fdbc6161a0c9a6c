// mov, cvta, isspacep (PTX ISA, "Data Movement and Conversion Instructions").
#include "kernels/interpreter/block.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

void move(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { to.lane[l] = from.lane[l]; });
}

void move_predicate(Warp& warp, const Instruction& in, Mask lanes) {
    warp.set_predicate(in.to, lanes,
                       in.predicate >= 0 ? warp.source_predicate(in)
                       : in.detail != 0  ? ~Mask{0}
                                         : 0);
}

/// {a, b} -> d: `target` is the list of sources, `width` bytes each.
void pack(Warp& warp, const Instruction& in, Mask lanes) {
    const List& parts = warp.frame().function->lists[static_cast<std::size_t>(in.target)];
    const unsigned bits = 8U * in.width;
    each(lanes, [&](int l) {
        std::uint64_t value = 0;
        for (std::size_t i = parts.items.size(); i-- > 0;)
            value = value << bits | (warp.source(parts.items[i]).lane[l] & ((1ULL << bits) - 1));
        warp.destination(in.to).lane[l] = value;
    });
}

void unpack(Warp& warp, const Instruction& in, Mask lanes) {
    const List& parts = warp.frame().function->lists[static_cast<std::size_t>(in.target)];
    const unsigned bits = 8U * in.width;
    each(lanes, [&](int l) {
        std::uint64_t value = warp.source(in.from[0]).lane[l];
        for (const std::int32_t part : parts.items) {
            warp.destination(part).lane[l] = value & ((1ULL << bits) - 1);
            value >>= bits;
        }
    });
}

std::uint64_t base_of(Space space) {
    return space == Space::shared  ? kSharedBase
           : space == Space::local ? kLocalBase
           : space == Space::param ? kParamBase
                                   : 0;
}

void to_generic(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const std::uint64_t base = base_of(in.space);
    each(lanes,
         [&](int l) { to.lane[l] = base == 0 ? from.lane[l] : base + (from.lane[l] & (kWindow - 1)); });
}

void from_generic(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const std::uint64_t base = base_of(in.space);
    each(lanes, [&](int l) {
        if (base != 0 && from.lane[l] - base >= (base == kSharedBase ? kSharedOfBlock : kWindow))
            warp.fault(FaultCode::illegal_address, l,
                       "address " + hex_address(from.lane[l]) + " is not in this state space");
        to.lane[l] = from.lane[l] - base;
    });
}

void is_in_space(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    // What lies in no window is global: managed memory has addresses of the host.
    const std::uint64_t base = base_of(in.space);
    // Shared memory is the own block's: .shared::cluster is not known.
    const std::uint64_t size = base == 0 ? kSharedBase : base == kSharedBase ? kSharedOfBlock : kWindow;
    warp.set_predicate(in.to, lanes, lanes_where(lanes, [&](int l) { return from.lane[l] - base < size; }));
}

void decode_vector(Decoder& decoder, Type type) {
    const bool packs = decoder.operand(1).kind == OperandKind::vector;
    const Operand& whole = decoder.operand(packs ? 0 : 1);
    const Operand& parts = decoder.operand(packs ? 1 : 0);
    const std::size_t count = parts.elements.size();
    if (!is_bits(type) || size_of(type) > 8 || (count != 2 && count != 4) || size_of(type) / count == 0)
        decoder.unsupported("not in this form");
    Instruction in = decoder.make(packs ? pack : unpack);
    in.width = static_cast<std::uint8_t>(size_of(type) / count);
    const Type part = in.width == 4 ? Type::b32 : in.width == 2 ? Type::b16 : Type::none;
    List list;
    for (const Operand& element : parts.elements)
        list.items.push_back(packs ? decoder.source(element, part) : decoder.destination(element));
    in.target = decoder.add_list(std::move(list));
    if (packs) {
        in.to = decoder.destination(whole);
    } else {
        in.from[0] = decoder.source(whole, type);
    }
    decoder.emit(in);
}

void decode_mov(Decoder& decoder) {
    const Type type = decoder.take_type();
    decoder.expect(2, 2);
    if (type == Type::pred) {
        Instruction in = decoder.make(move_predicate);
        in.to = decoder.predicate_destination(decoder.operand(0));
        const Operand& from = decoder.operand(1);
        if (from.kind == OperandKind::constant && from.token.kind == TokenKind::integer) {
            in.detail = from.token.value != 0 ? 1 : 0;
        } else {
            decoder.source_predicate(from, in);
        }
        return decoder.emit(in);
    }
    if (decoder.operand(0).kind == OperandKind::vector || decoder.operand(1).kind == OperandKind::vector)
        return decode_vector(decoder, type);
    if (size_of(type) < 2 || size_of(type) > 8) decoder.unsupported("not for this type");
    Instruction in = decoder.make(move);
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, type);
    decoder.emit(in);
}

}  // namespace

void decode_move(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "mov") return decode_mov(decoder);
    const bool to = name == "cvta" && decoder.take("to");
    const Space space = decoder.take_space();
    if (space == Space::generic) decoder.unsupported("unknown state space");
    decoder.expect(2, 2);
    Instruction in = decoder.make(name == "isspacep" ? is_in_space : to ? from_generic : to_generic);
    in.space = space;
    if (name == "isspacep") {
        in.to = decoder.predicate_destination(decoder.operand(0));
        in.from[0] = decoder.source(1, Type::u64);
        return decoder.emit(in);
    }
    if (decoder.take_type() != Type::u64) decoder.unsupported("not for this type");
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, Type::u64);
    decoder.emit(in);
}

void execute_local_address(Warp& warp, const Instruction& in, Mask lanes) {
    Row& to = warp.destination(in.to);
    const std::uint64_t address = warp.frame().local_base + static_cast<std::uint64_t>(in.offset);
    each(lanes, [&](int l) { to.lane[l] = address; });
}

}  // namespace cudamatrix::suite::ptx
