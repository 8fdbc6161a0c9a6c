// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions").
#include <algorithm>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

template <typename T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>>>;

/// Wraps, and never overflows: 64 bits are enough for the low bits of all.
template <typename T>
T wrapped(std::uint64_t value) {
    return static_cast<T>(value);
}
template <typename T>
std::uint64_t extended(T value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}
template <typename T>
T high(T a, T b) {
    return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
}

template <typename T, typename F>
void binary(Warp& warp, const Instruction& in, Mask lanes, F f) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<T>(to, l, f(get<T>(a, l), get<T>(b, l))); });
}

template <typename T, typename F>
void ternary(Warp& warp, const Instruction& in, Mask lanes, F f) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<T>(to, l, f(get<T>(a, l), get<T>(b, l), get<T>(c, l))); });
}

#define CUDAMATRIX_BINARY(NAME, EXPRESSION)                                  \
    template <typename T>                                                    \
    struct NAME {                                                            \
        static void run(Warp& warp, const Instruction& in, Mask lanes) {     \
            binary<T>(warp, in, lanes, [](T a, T b) { return EXPRESSION; }); \
        }                                                                    \
    };
CUDAMATRIX_BINARY(Add, wrapped<T>(extended(a) + extended(b)))
CUDAMATRIX_BINARY(Subtract, wrapped<T>(extended(a) - extended(b)))
CUDAMATRIX_BINARY(MultiplyLow, wrapped<T>(extended(a) * extended(b)))
CUDAMATRIX_BINARY(MultiplyHigh, high<T>(a, b))
CUDAMATRIX_BINARY(Minimum, std::min(a, b))
CUDAMATRIX_BINARY(Maximum, std::max(a, b))
#undef CUDAMATRIX_BINARY

#define CUDAMATRIX_UNARY(NAME, EXPRESSION)                               \
    template <typename T>                                                \
    struct NAME {                                                        \
        static void run(Warp& warp, const Instruction& in, Mask lanes) { \
            const Row& from = warp.source(in.from[0]);                   \
            Row& to = warp.destination(in.to);                           \
            each(lanes, [&](int l) {                                     \
                const T a = get<T>(from, l);                             \
                put<T>(to, l, EXPRESSION);                               \
            });                                                          \
        }                                                                \
    };
CUDAMATRIX_UNARY(Negate, wrapped<T>(0 - extended(a)))
CUDAMATRIX_UNARY(Absolute, a < T{0} ? wrapped<T>(0 - extended(a)) : a)
#undef CUDAMATRIX_UNARY

#define CUDAMATRIX_TERNARY(NAME, EXPRESSION)                                       \
    template <typename T>                                                          \
    struct NAME {                                                                  \
        static void run(Warp& warp, const Instruction& in, Mask lanes) {           \
            ternary<T>(warp, in, lanes, [](T a, T b, T c) { return EXPRESSION; }); \
        }                                                                          \
    };
CUDAMATRIX_TERNARY(MultiplyAddLow, wrapped<T>(extended(a) * extended(b) + extended(c)))
CUDAMATRIX_TERNARY(MultiplyAddHigh, wrapped<T>(extended(high<T>(a, b)) + extended(c)))
CUDAMATRIX_TERNARY(Differences,
                   wrapped<T>(extended(c) + (a < b ? extended(b) - extended(a) : extended(a) - extended(b))))
#undef CUDAMATRIX_TERNARY

template <typename T>
struct MultiplyWide {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        if constexpr (sizeof(T) < 8) {
            const Row& a = warp.source(in.from[0]);
            const Row& b = warp.source(in.from[1]);
            const Row* c = in.detail != 0 ? &warp.source(in.from[2]) : nullptr;
            Row& to = warp.destination(in.to);
            each(lanes, [&](int l) {
                std::uint64_t value = extended(get<T>(a, l)) * extended(get<T>(b, l));
                if constexpr (std::is_unsigned_v<T>) value = std::uint64_t{get<T>(a, l)} * get<T>(b, l);
                put<Wide<T>>(to, l, wrapped<Wide<T>>(value + (c == nullptr ? 0 : c->lane[l])));
            });
        }
    }
};

template <typename T, bool kRemainder>
void divide(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& b = warp.source(in.from[1]);
    const Mask zeros = lanes_where(lanes, [&](int l) { return get<T>(b, l) == T{0}; });
    if (zeros != 0) warp.fault(FaultCode::launch_failure, __builtin_ctz(zeros), "integer division by zero");
    binary<T>(warp, in, lanes, [](T x, T y) {
        if constexpr (std::is_signed_v<T>) {
            if (y == T{-1}) return kRemainder ? T{0} : wrapped<T>(0 - extended(x));
        }
        return static_cast<T>(kRemainder ? x % y : x / y);
    });
}
template <typename T>
struct Divide {
    static void run(Warp& warp, const Instruction& in, Mask lanes) { divide<T, false>(warp, in, lanes); }
};
template <typename T>
struct Remainder {
    static void run(Warp& warp, const Instruction& in, Mask lanes) { divide<T, true>(warp, in, lanes); }
};

void saturating(Warp& warp, const Instruction& in, Mask lanes) {
    const bool subtract = in.detail != 0;
    binary<std::int32_t>(warp, in, lanes, [subtract](std::int32_t a, std::int32_t b) {
        const std::int64_t sum = subtract ? std::int64_t{a} - b : std::int64_t{a} + b;
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX));
    });
}

std::int64_t low_24(std::uint64_t value, bool is_signed) {
    const auto bits = static_cast<std::int64_t>(value & 0xffffff);
    return is_signed && (bits & 0x800000) != 0 ? bits - 0x1000000 : bits;
}

/// mul24 and mad24 (flags: 1 = with addition, 2 = signed, 4 = high).
void multiply_24(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row* c = (in.flags & 1) != 0 ? &warp.source(in.from[2]) : nullptr;
    Row& to = warp.destination(in.to);
    const bool is_signed = (in.flags & 2) != 0;
    each(lanes, [&](int l) {
        const std::int64_t product = low_24(a.lane[l], is_signed) * low_24(b.lane[l], is_signed);
        const std::int64_t part = (in.flags & 4) != 0 ? product >> 16 : product;
        put<std::uint32_t>(
            to, l,
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(part) + (c == nullptr ? 0 : c->lane[l])));
    });
}

/// dp4a (flags: 1 = a is signed, 2 = b is signed).
void dot_product_4(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    const auto byte = [](std::uint64_t value, int i, bool is_signed) {
        const auto bits = static_cast<std::uint8_t>(value >> (8 * i));
        return is_signed ? std::int64_t{static_cast<std::int8_t>(bits)} : std::int64_t{bits};
    };
    each(lanes, [&](int l) {
        auto sum = static_cast<std::int64_t>(c.lane[l]);
        for (int i = 0; i < 4; ++i)
            sum += byte(a.lane[l], i, (in.flags & 1) != 0) * byte(b.lane[l], i, (in.flags & 2) != 0);
        put<std::uint32_t>(to, l, static_cast<std::uint32_t>(sum));
    });
}

/// mul and mad: .lo, .hi or .wide.
Handler product_handler(Decoder& decoder, bool adds, int part, Type type) {
    if (part == 2 && size_of(type) == 8) decoder.unsupported(".wide of 64 bits");
    if (part == 2) return for_integer<MultiplyWide>(type);
    if (part == 1) return adds ? for_integer<MultiplyAddHigh>(type) : for_integer<MultiplyHigh>(type);
    return adds ? for_integer<MultiplyAddLow>(type) : for_integer<MultiplyLow>(type);
}

void decode_product(Decoder& decoder, bool adds) {
    const int part = decoder.take_one_of({"lo", "hi", "wide"});
    if (part < 0) decoder.unsupported("expected .lo, .hi or .wide");
    if (decoder.take("sat")) decoder.unsupported("unknown modifier .sat");
    const Type type = decoder.take_type();
    Instruction in = decoder.make(is_integer(type) ? product_handler(decoder, adds, part, type) : nullptr);
    if (in.handler == nullptr) decoder.unsupported("not for this type");
    in.detail = adds ? 1 : 0;
    const Type wide = size_of(type) == 2 ? Type::u32 : Type::u64;
    decoder.emit(in, adds ? 3 : 2, type, part == 2 ? wide : type);
}

void decode_24(Decoder& decoder, bool adds) {
    const int part = decoder.take_one_of({"lo", "hi"});
    const Type type = decoder.take_type();
    if (part < 0 || (type != Type::u32 && type != Type::s32))
        decoder.unsupported("expected .lo or .hi, .u32 or .s32");
    Instruction in = decoder.make(multiply_24);
    in.flags = static_cast<std::uint8_t>((adds ? 1 : 0) | (is_signed(type) ? 2 : 0) | (part == 1 ? 4 : 0));
    decoder.emit(in, adds ? 3 : 2, type);
}

struct Simple {
    std::string_view name;
    Handler (*handler)(Type);
    std::size_t sources;
};
const Simple kSimple[] = {
    {"add", for_integer<Add>, 2},         {"sub", for_integer<Subtract>, 2},
    {"div", for_integer<Divide>, 2},      {"rem", for_integer<Remainder>, 2},
    {"min", for_integer<Minimum>, 2},     {"max", for_integer<Maximum>, 2},
    {"neg", for_integer<Negate>, 1},      {"abs", for_integer<Absolute>, 1},
    {"sad", for_integer<Differences>, 3},
};

}  // namespace

void decode_arithmetic(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    if (name == "mul" || name == "mad") return decode_product(decoder, name == "mad");
    if (name == "mul24" || name == "mad24") return decode_24(decoder, name == "mad24");
    if (name == "dp4a") {
        const Type a = decoder.take_type();
        const Type b = decoder.take_type();
        if (size_of(a) != 4 || size_of(b) != 4 || !is_integer(a) || !is_integer(b))
            decoder.unsupported("not for this type");
        Instruction in = decoder.make(dot_product_4);
        in.flags = static_cast<std::uint8_t>((is_signed(a) ? 1 : 0) | (is_signed(b) ? 2 : 0));
        return decoder.emit(in, 3, Type::u32);
    }
    const bool saturates = decoder.take("sat");
    const Type type = decoder.take_type();
    const Simple& row = decoder.row_of(kSimple);
    const bool can_saturate = type == Type::s32 && (name == "add" || name == "sub");
    Instruction in = decoder.make(is_integer(type) ? row.handler(type) : nullptr);
    if (in.handler == nullptr || (saturates && !can_saturate)) decoder.unsupported("not for this type");
    if (saturates) {
        in.handler = saturating;
        in.detail = name == "sub" ? 1 : 0;
    }
    decoder.emit(in, row.sources, type);
}

}  // namespace cudamatrix::suite::ptx
