// Logic and shifts (PTX ISA, "Logic and Shift Instructions").
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

template <typename F>
void rows(Warp& warp, const Instruction& in, Mask lanes, F f) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { to.lane[l] = f(a.lane[l], b.lane[l]); });
}

void bitwise_and(Warp& warp, const Instruction& in, Mask lanes) {
    rows(warp, in, lanes, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
void bitwise_or(Warp& warp, const Instruction& in, Mask lanes) {
    rows(warp, in, lanes, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
void bitwise_xor(Warp& warp, const Instruction& in, Mask lanes) {
    rows(warp, in, lanes, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
void bitwise_not(Warp& warp, const Instruction& in, Mask lanes) {
    rows(warp, in, lanes, [](std::uint64_t a, std::uint64_t) { return ~a; });
}

/// Predicates: detail is 0 and, 1 or, 2 xor, 3 not; `target` and its bit of flags are the second source.
void predicates(Warp& warp, const Instruction& in, Mask lanes) {
    const Mask a = warp.source_predicate(in);
    const Mask b = in.detail == 3 ? 0 : warp.predicate(in.target) ^ (in.flags != 0 ? ~Mask{0} : 0);
    const Mask value = in.detail == 0 ? a & b : in.detail == 1 ? a | b : in.detail == 2 ? a ^ b : ~a;
    warp.set_predicate(in.to, lanes, value);
}

template <typename T>
struct ShiftLeft {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        const Row& a = warp.source(in.from[0]);
        const Row& b = warp.source(in.from[1]);
        Row& to = warp.destination(in.to);
        each(lanes, [&](int l) {
            const auto by = static_cast<std::uint32_t>(b.lane[l]);
            put<T>(to, l, static_cast<T>(by >= 8 * sizeof(T) ? 0 : a.lane[l] << by));
        });
    }
};

template <typename T>
struct ShiftRight {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        constexpr std::uint32_t kBits = 8 * sizeof(T);
        const Row& a = warp.source(in.from[0]);
        const Row& b = warp.source(in.from[1]);
        Row& to = warp.destination(in.to);
        each(lanes, [&](int l) {
            const auto by = static_cast<std::uint32_t>(b.lane[l]);
            const T value = get<T>(a, l);
            if constexpr (std::is_signed_v<T>) {
                put<T>(to, l, static_cast<T>(value >> (by >= kBits ? kBits - 1 : by)));
            } else {
                put<T>(to, l, by >= kBits ? T{0} : static_cast<T>(value >> by));
            }
        });
    }
};

template <typename T>
struct ZeroToOne {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        const Row& a = warp.source(in.from[0]);
        Row& to = warp.destination(in.to);
        each(lanes, [&](int l) { put<T>(to, l, get<T>(a, l) == T{0} ? T{1} : T{0}); });
    }
};

/// lop3: `detail` is the table, bit 4a+2b+c of it the result.
void any_of_three(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 8; ++i) {
            if ((in.detail >> i & 1) == 0) continue;
            result |= ((i & 4) != 0 ? a.lane[l] : ~a.lane[l]) & ((i & 2) != 0 ? b.lane[l] : ~b.lane[l]) &
                      ((i & 1) != 0 ? c.lane[l] : ~c.lane[l]);
        }
        to.lane[l] = result & 0xffffffff;
    });
}

void decode_predicates(Decoder& decoder, unsigned operation) {
    const std::size_t operands = operation == 3 ? 2 : 3;
    decoder.expect(operands, operands);
    Instruction in = decoder.make(predicates);
    in.detail = static_cast<std::uint16_t>(operation);
    in.to = decoder.predicate_destination(decoder.operand(0));
    if (operation != 3) {
        decoder.source_predicate(decoder.operand(2), in);
        in.target = in.predicate;
        in.flags = in.predicate_not ? 1 : 0;
    }
    decoder.source_predicate(decoder.operand(1), in);
    decoder.emit(in);
}

void decode_lop3(Decoder& decoder) {
    if (decoder.take_type() != Type::b32) decoder.unsupported("not for this type");
    decoder.expect(5, 5);
    const Operand& table = decoder.operand(4);
    if (table.kind != OperandKind::constant || table.token.value > 255)
        decoder.unsupported("expected a table of 8 bits");
    Instruction in = decoder.make(any_of_three);
    in.detail = static_cast<std::uint16_t>(table.token.value);
    in.to = decoder.destination(0);
    for (std::size_t i = 0; i < 3; ++i)
        in.from[i] = decoder.source(i + 1, Type::b32);
    decoder.emit(in);
}

}  // namespace

void decode_logic(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "lop3") return decode_lop3(decoder);
    const Type type = decoder.take_type();
    static constexpr std::string_view kNames[] = {"and", "or", "xor", "not"};
    static constexpr Handler kHandlers[] = {bitwise_and, bitwise_or, bitwise_xor, bitwise_not};
    Instruction in = decoder.make(nullptr);
    bool one = name == "cnot";
    for (unsigned i = 0; i < 4; ++i) {
        if (name != kNames[i]) continue;
        if (type == Type::pred) return decode_predicates(decoder, i);
        one = i == 3;
        in.handler = kHandlers[i];
    }
    if (name == "cnot") in.handler = for_integer<ZeroToOne>(type);
    if (name == "shl") in.handler = for_integer<ShiftLeft>(type);
    if (name == "shr") in.handler = for_integer<ShiftRight>(type);
    const bool right_type = is_bits(type) || (name == "shr" && is_integer(type));
    if (in.handler == nullptr || !right_type || size_of(type) < 2 || size_of(type) > 8)
        decoder.unsupported("not for this type");
    decoder.expect(one ? 2 : 3, one ? 2 : 3);
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, type);
    in.from[1] = one ? in.from[0] : decoder.source(2, name[0] == 's' ? Type::u32 : type);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
