// cvt (PTX ISA, "cvt"). Everything but integers to integers goes through long double, which holds each source
// exactly (64 digits at least), and is rounded once.
#include <cfloat>
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

static_assert(LDBL_MANT_DIG >= 64, "integers of 64 bits must fit into a long double");

constexpr std::uint8_t kToInteger = kFirstOwn;

// detail: to, from above 5 bits, rounding above 10 bits.
Type type_to(const Instruction& in) {
    return static_cast<Type>(in.detail & 31);
}
Type type_from(const Instruction& in) {
    return static_cast<Type>(in.detail >> 5 & 31);
}
Rounding rounding_of(const Instruction& in) {
    return static_cast<Rounding>(in.detail >> 10);
}

long double source_value(Type type, const Row& row, int lane) {
    switch (type) {
        case Type::f16:
            return static_cast<long double>(decode_half(get<std::uint16_t>(row, lane)));
        case Type::bf16:
            return static_cast<long double>(decode_bfloat(get<std::uint16_t>(row, lane)));
        case Type::f32:
            return static_cast<long double>(get<float>(row, lane));
        case Type::f64:
            return static_cast<long double>(get<double>(row, lane));
        case Type::s8:
            return get<std::int8_t>(row, lane);
        case Type::s16:
            return get<std::int16_t>(row, lane);
        case Type::s32:
            return get<std::int32_t>(row, lane);
        case Type::s64:
            return static_cast<long double>(get<std::int64_t>(row, lane));
        case Type::u8:
            return get<std::uint8_t>(row, lane);
        case Type::u16:
            return get<std::uint16_t>(row, lane);
        case Type::u32:
            return get<std::uint32_t>(row, lane);
        default:
            return static_cast<long double>(row.lane[lane]);
    }
}

const Format& format_of(Type type) {
    return type == Type::f16 ? kHalf : type == Type::bf16 ? kBfloat : type == Type::f32 ? kSingle : kDouble;
}

long double whole(long double value, Rounding rounding) {
    return std::copysign(rounded(std::fabs(value), rounding, std::signbit(value)), value);
}

/// Too large values become the nearest integer of the type; NaN becomes 0, or the integer with only its top
/// bit set where 64 bits or .f64 are involved.
std::uint64_t to_integer(long double value, Type to, Type from, Rounding rounding) {
    const int bits = static_cast<int>(8 * size_of(to));
    if (std::isnan(value)) return from == Type::f64 || bits == 64 ? 1ULL << (bits - 1) : 0;
    const long double number = whole(value, rounding);
    if (is_signed(to)) {
        const long double top = std::ldexp(1.0L, bits - 1);
        if (number >= top) return (1ULL << (bits - 1)) - 1;
        if (number <= -top) return ~0ULL << (bits - 1);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    }
    if (number <= 0) return 0;
    if (number >= std::ldexp(1.0L, bits)) return bits == 64 ? ~0ULL : (1ULL << bits) - 1;
    return static_cast<std::uint64_t>(number);
}

bool is_subnormal_single(long double value) {
    return value != 0 && std::fabs(value) < std::ldexp(1.0L, -126);
}

std::uint64_t nan_of(Type type) {
    return type == Type::f64 ? 0x7fffffffffffffffULL : type == Type::f32 ? kSingleNan : 0x7fffULL;
}

std::uint64_t to_floating(long double value, Type to, const Instruction& in) {
    if ((in.flags & kSaturate) != 0) value = value > 0 ? std::fmin(value, 1.0L) : 0.0L;
    if ((in.flags & kRelu) != 0 && value < 0) value = 0.0L;
    const std::uint64_t bits = encode(value, format_of(to), rounding_of(in), nan_of(to));
    const bool flush = (in.flags & kFlush) != 0 && to == Type::f32 && (bits & 0x7f800000) == 0;
    return flush ? bits & 0x80000000 : bits;
}

void convert(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const Type source = type_from(in);
    const Type target = type_to(in);
    each(lanes, [&](int l) {
        long double value = source_value(source, from, l);
        if ((in.flags & kFlush) != 0 && source == Type::f32 && is_subnormal_single(value))
            value = std::copysign(0.0L, value);
        if (!is_floating(target)) {
            to.lane[l] = to_integer(value, target, source, rounding_of(in));
            return;
        }
        if ((in.flags & kToInteger) != 0 && std::isfinite(value))
            value = std::copysign(whole(value, rounding_of(in)), value);
        to.lane[l] = to_floating(value, target, in);
    });
}

/// cvt.f16x2.f32 d, a, b: a is the upper half.
void convert_pair(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const std::uint64_t upper = to_floating(static_cast<long double>(get<float>(a, l)), type_to(in), in);
        to.lane[l] = upper << 16 | to_floating(static_cast<long double>(get<float>(b, l)), type_to(in), in);
    });
}

template <typename To, typename From>
void plain(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<To>(to, l, static_cast<To>(get<From>(from, l))); });
}

template <typename To, typename From>
void saturated(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    const Type source = type_from(in);
    each(lanes, [&](int l) {
        to.lane[l] = to_integer(source_value(source, from, l), type_to(in), source, Rounding::zero);
    });
}

template <typename To>
Handler from_integer(Type from, bool saturates) {
    switch (from) {
#define CUDAMATRIX_FROM(NAME, T) \
    case Type::NAME:             \
        return saturates ? saturated<To, T> : plain<To, T>;
        CUDAMATRIX_FROM(u8, std::uint8_t)
        CUDAMATRIX_FROM(u16, std::uint16_t)
        CUDAMATRIX_FROM(u32, std::uint32_t)
        CUDAMATRIX_FROM(u64, std::uint64_t)
        CUDAMATRIX_FROM(s8, std::int8_t)
        CUDAMATRIX_FROM(s16, std::int16_t)
        CUDAMATRIX_FROM(s32, std::int32_t)
        CUDAMATRIX_FROM(s64, std::int64_t)
#undef CUDAMATRIX_FROM
        default:
            return nullptr;
    }
}

Handler between_integers(Type to, Type from, bool saturates) {
    switch (to) {
        case Type::u8:
            return from_integer<std::uint8_t>(from, saturates);
        case Type::u16:
            return from_integer<std::uint16_t>(from, saturates);
        case Type::u32:
            return from_integer<std::uint32_t>(from, saturates);
        case Type::u64:
            return from_integer<std::uint64_t>(from, saturates);
        case Type::s8:
            return from_integer<std::int8_t>(from, saturates);
        case Type::s16:
            return from_integer<std::int16_t>(from, saturates);
        case Type::s32:
            return from_integer<std::int32_t>(from, saturates);
        case Type::s64:
            return from_integer<std::int64_t>(from, saturates);
        default:
            return nullptr;
    }
}

/// What the handler is, and whether the rounding that is written suits the types.
Handler handler_of(Decoder& decoder, Type to, Type from, int to_integer_rounding, int rounding,
                   std::uint8_t flags) {
    const bool floats = is_floating(to) && is_floating(from);
    const bool narrows = is_floating(to) && (!is_floating(from) || size_of(to) < size_of(from) ||
                                             (size_of(to) == 2 && to != from));
    if (is_integer(to) && is_integer(from)) {
        if (rounding >= 0 || to_integer_rounding >= 0) decoder.unsupported("a rounding between integers");
        return between_integers(to, from, (flags & kSaturate) != 0);
    }
    if (is_integer(to) && to_integer_rounding < 0) decoder.unsupported("expected .rni, .rzi, .rmi or .rpi");
    if (!floats && is_floating(to) && to_integer_rounding >= 0)
        decoder.unsupported("a rounding to an integer");
    if (narrows && rounding < 0) decoder.unsupported("expected .rn, .rz, .rm or .rp");
    if (to == Type::f64 && from == Type::f32 && (flags & kSaturate) == 0)
        return flags == 0 ? plain<double, float> : convert;
    if (to == Type::f32 && from == Type::s32 && rounding == 0 && flags == 0)
        return plain<float, std::int32_t>;
    if (to == Type::f32 && from == Type::u32 && rounding == 0 && flags == 0)
        return plain<float, std::uint32_t>;
    return convert;
}

}  // namespace

void decode_conversion(Decoder& decoder) {
    if (decoder.take("pack")) decoder.unsupported("unknown modifier .pack");
    const int to_whole = decoder.take_one_of({"rni", "rzi", "rmi", "rpi"});
    const int rounding = to_whole < 0 ? decoder.take_one_of({"rn", "rz", "rm", "rp", "rna"}) : -1;
    unsigned flags = 0;
    if (decoder.take("relu")) flags |= kRelu;
    if (decoder.take("ftz")) flags |= kFlush;
    if (decoder.take("sat")) flags |= kSaturate;
    if (to_whole >= 0) flags |= kToInteger;
    Type to = decoder.take_type();
    const Type from = decoder.take_type();
    const bool pair = to == Type::f16x2 || to == Type::bf16x2;
    if (pair) to = to == Type::f16x2 ? Type::f16 : Type::bf16;
    const auto known = [](Type type) {
        return is_integer(type) || (is_floating(type) && type != Type::f16x2 && type != Type::bf16x2);
    };
    if (!known(to) || !known(from) || (pair && (from != Type::f32 || rounding < 0 || to_whole >= 0)) ||
        ((flags & kRelu) != 0 && size_of(to) != 2))
        decoder.unsupported("not for these types");
    Instruction in = decoder.make(
        pair ? convert_pair
             : handler_of(decoder, to, from, to_whole, rounding, static_cast<std::uint8_t>(flags)));
    const int mode = to_whole >= 0 ? to_whole : rounding >= 0 ? rounding : 0;
    in.detail = static_cast<std::uint16_t>(static_cast<int>(to) | static_cast<int>(from) << 5 | mode << 10);
    in.flags = static_cast<std::uint8_t>(flags);
    decoder.expect(pair ? 3 : 2, pair ? 3 : 2);
    in.to = decoder.destination(0);
    in.from[0] = decoder.source(1, decoder.operand(1).kind == OperandKind::reg ? Type::none : from);
    if (pair) in.from[1] = decoder.source(2, from);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
