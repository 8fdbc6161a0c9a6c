// Comparisons and selections (PTX ISA, "Comparison and Selection Instructions").
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

// detail: the comparison, and above 4 bits how a predicate joins (0 not at all).
enum Comparison : unsigned { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu };
enum Join : unsigned { kAlone, kAnd, kOr, kXor };

struct F16 {};
struct Bf16 {};

template <typename T>
auto value_of(const Row& row, int lane, bool flush) {
    if constexpr (std::is_same_v<T, F16>) {
        return decode_half(static_cast<std::uint16_t>(row.lane[lane]));
    } else if constexpr (std::is_same_v<T, Bf16>) {
        return decode_bfloat(static_cast<std::uint16_t>(row.lane[lane]));
    } else if constexpr (std::is_same_v<T, float>) {
        const float value = get<float>(row, lane);
        return flush && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
    } else {
        return get<T>(row, lane);
    }
}

template <typename V>
bool unordered(V a, V b) {
    if constexpr (std::is_floating_point_v<V>) return a != a || b != b;
    return (void)a, (void)b, false;
}

template <typename T, unsigned kComparison>
Mask compared(const Row& a, const Row& b, Mask lanes, bool flush) {
    return lanes_where(lanes, [&](int l) {
        const auto x = value_of<T>(a, l, flush);
        const auto y = value_of<T>(b, l, flush);
        switch (kComparison) {
            case kEq:
                return x == y;
            case kNe:
                return x != y && !unordered(x, y);
            case kLt:
                return x < y;
            case kLe:
                return x <= y;
            case kGt:
                return x > y;
            case kGe:
                return x >= y;
            case kNum:
                return !unordered(x, y);
            case kNan:
                return unordered(x, y);
            case kEqu:
                return x == y || unordered(x, y);
            case kNeu:
                return x != y || unordered(x, y);
            case kLtu:
                return !(x >= y);
            case kLeu:
                return !(x > y);
            case kGtu:
                return !(x <= y);
            default:
                return !(x < y);
        }
    });
}

template <typename T>
Mask compare(unsigned comparison, const Row& a, const Row& b, Mask lanes, bool flush) {
    using F = Mask (*)(const Row&, const Row&, Mask, bool);
    static constexpr F kAllComparisons[] = {
        compared<T, kEq>,  compared<T, kNe>,  compared<T, kLt>,  compared<T, kLe>,  compared<T, kGt>,
        compared<T, kGe>,  compared<T, kNum>, compared<T, kNan>, compared<T, kEqu>, compared<T, kNeu>,
        compared<T, kLtu>, compared<T, kLeu>, compared<T, kGtu>, compared<T, kGeu>};
    return kAllComparisons[comparison](a, b, lanes, flush);
}

Mask joined(unsigned join, Mask value, Mask with) {
    return join == kAnd ? value & with : join == kOr ? value | with : join == kXor ? value ^ with : value;
}

template <typename T>
Mask result_of(Warp& warp, const Instruction& in, Mask lanes) {
    return compare<T>(in.detail & 15, warp.source(in.from[0]), warp.source(in.from[1]), lanes,
                      (in.flags & kFlush) != 0);
}

template <typename T>
struct Setp {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        const Mask value = result_of<T>(warp, in, lanes);
        const unsigned join = in.detail >> 4;
        const Mask with = join != kAlone ? warp.source_predicate(in) : 0;
        warp.set_predicate(in.to, lanes, joined(join, value, with));
        if (in.to2 >= 0) warp.set_predicate(in.to2, lanes, joined(join, ~value, with));
    }
};

/// `offset` holds what true is: all bits, or 1.0.
template <typename T>
struct Set {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        const unsigned join = in.detail >> 4;
        const Mask value =
            joined(join, result_of<T>(warp, in, lanes), join != kAlone ? warp.source_predicate(in) : 0);
        Row& to = warp.destination(in.to);
        each(lanes,
             [&](int l) { to.lane[l] = (value >> l & 1) != 0 ? static_cast<std::uint64_t>(in.offset) : 0; });
    }
};

template <template <typename> class H>
Handler for_any(Type type) {
    if (type == Type::f32) return H<float>::run;
    if (type == Type::f64) return H<double>::run;
    if (type == Type::f16) return H<F16>::run;
    if (type == Type::bf16) return H<Bf16>::run;
    return for_integer<H>(type);
}

void select(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Mask first = warp.source_predicate(in);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { to.lane[l] = (first >> l & 1) != 0 ? a.lane[l] : b.lane[l]; });
}

/// slct: flags 1: the third is .f32.
void select_by_sign(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const bool first = in.flags != 0 ? get<float>(c, l) >= 0.0F : get<std::int32_t>(c, l) >= 0;
        to.lane[l] = first ? a.lane[l] : b.lane[l];
    });
}

/// testp: detail is its place among the names.
template <typename T>
void test_property(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    warp.set_predicate(in.to, lanes, lanes_where(lanes, [&](int l) {
                           const int kind = std::fpclassify(get<T>(a, l));
                           switch (in.detail) {
                               case 0:
                                   return kind != FP_INFINITE && kind != FP_NAN;
                               case 1:
                                   return kind == FP_INFINITE;
                               case 2:
                                   return kind != FP_NAN;
                               case 3:
                                   return kind == FP_NAN;
                               case 4:
                                   return kind == FP_NORMAL;
                               default:
                                   return kind == FP_SUBNORMAL;
                           }
                       }));
}

/// The comparison and how a predicate joins, as `detail` has them.
std::uint16_t take_comparison(Decoder& decoder, bool& only_floating) {
    const int comparison = decoder.take_one_of(
        {"eq", "ne", "lt", "le", "gt", "ge", "num", "nan", "equ", "neu", "ltu", "leu", "gtu", "geu"});
    // Of unsigned integers, lo is lt and so on.
    const int low = comparison < 0 ? decoder.take_one_of({"lo", "ls", "hi", "hs"}) : -1;
    if (comparison < 0 && low < 0) decoder.unsupported("unknown comparison");
    only_floating = comparison >= static_cast<int>(kNum);
    const int join = decoder.take_one_of({"and", "or", "xor"}) + 1;
    return static_cast<std::uint16_t>((comparison >= 0 ? comparison : low + static_cast<int>(kLt)) |
                                      join << 4);
}

/// setp.CmpOp.type and set.CmpOp.type-of-result.type
void decode_set(Decoder& decoder, bool set) {
    Instruction in = decoder.make(nullptr);
    bool only_floating = false;
    in.detail = take_comparison(decoder, only_floating);
    if (decoder.take("ftz")) in.flags |= kFlush;
    const Type into = set ? decoder.take_type() : Type::pred;
    const Type type = decoder.take_type();
    if (set && into != Type::u32 && into != Type::s32 && into != Type::f32)
        decoder.unsupported("a result of this type");
    in.offset = into == Type::f32 ? 0x3f800000 : 0xffffffff;
    in.handler = set ? for_any<Set>(type) : for_any<Setp>(type);
    if (in.handler == nullptr || (only_floating && !is_floating(type)))
        decoder.unsupported("not for this type");
    const bool joins = in.detail >> 4 != kAlone;
    decoder.expect(joins ? 4 : 3, joins ? 4 : 3);
    in.to = set ? decoder.destination(0) : decoder.predicate_destination(decoder.operand(0));
    if (!set) in.to2 = decoder.operand(0).second;
    in.from[0] = decoder.source(1, type);
    in.from[1] = decoder.source(2, type);
    if (joins) decoder.source_predicate(decoder.operand(3), in);
    decoder.emit(in);
}

}  // namespace

void decode_compare(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "setp" || name == "set") return decode_set(decoder, name == "set");
    if (name == "testp") {
        const int what =
            decoder.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
        const Type type = decoder.take_type();
        if (what < 0 || (type != Type::f32 && type != Type::f64)) decoder.unsupported("not in this form");
        decoder.expect(2, 2);
        Instruction in = decoder.make(type == Type::f32 ? test_property<float> : test_property<double>);
        in.detail = static_cast<std::uint16_t>(what);
        in.to = decoder.predicate_destination(decoder.operand(0));
        in.from[0] = decoder.source(1, type);
        return decoder.emit(in);
    }
    const bool by_sign = name == "slct";
    if (by_sign && decoder.take("ftz")) decoder.unsupported("unknown modifier .ftz");
    const Type type = decoder.take_type();
    if (size_of(type) < 2 || size_of(type) > 8 || type == Type::pred)
        decoder.unsupported("not for this type");
    decoder.expect(4, 4);
    Instruction in = decoder.make(by_sign ? select_by_sign : select);
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, type);
    in.from[1] = decoder.source(2, type);
    if (by_sign) {
        const Type by = decoder.take_type();
        if (by != Type::s32 && by != Type::f32) decoder.unsupported("not for this type");
        in.flags = by == Type::f32 ? 1 : 0;
        in.from[2] = decoder.source(3, by);
    } else {
        decoder.source_predicate(decoder.operand(3), in);
    }
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
