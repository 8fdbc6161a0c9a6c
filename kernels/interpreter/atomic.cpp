// atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions").
#include <algorithm>

#include "kernels/interpreter/access.hpp"
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/launch.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/races.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum class AtomicOperation : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor, exch, cas };

template <typename T>
T from_bits(std::uint64_t bits) {
    Row row;
    row.lane[0] = bits;
    return get<T>(row, 0);
}
template <typename T>
std::uint64_t to_bits(T value) {
    Row row;
    put<T>(row, 0, value);
    return row.lane[0];
}

std::uint64_t add_half(std::uint64_t a, std::uint64_t b, bool bfloat) {
    const auto value = [bfloat](std::uint64_t bits) {
        return bfloat ? decode_bfloat(static_cast<std::uint16_t>(bits))
                      : decode_half(static_cast<std::uint16_t>(bits));
    };
    // A double holds the sum of two halves exactly; two bfloats are too far apart for that only where it
    // rounds alike.
    return encode(static_cast<long double>(value(a) + value(b)), bfloat ? kBfloat : kHalf, Rounding::nearest,
                  0x7fff);
}

std::uint64_t add_values(Type type, std::uint64_t a, std::uint64_t b) {
    switch (type) {
        case Type::f32:
            return to_bits(from_bits<float>(a) + from_bits<float>(b));
        case Type::f64:
            return to_bits(from_bits<double>(a) + from_bits<double>(b));
        case Type::f16:
        case Type::bf16:
            return add_half(a, b, type == Type::bf16);
        case Type::f16x2:
        case Type::bf16x2:
            return add_half(a, b, type == Type::bf16x2) | add_half(a >> 16, b >> 16, type == Type::bf16x2)
                                                              << 16;
        default:
            return a + b;
    }
}

bool less(Type type, std::uint64_t a, std::uint64_t b) {
    switch (type) {
        case Type::s32:
            return from_bits<std::int32_t>(a) < from_bits<std::int32_t>(b);
        case Type::s64:
            return from_bits<std::int64_t>(a) < from_bits<std::int64_t>(b);
        case Type::u32:
            return from_bits<std::uint32_t>(a) < from_bits<std::uint32_t>(b);
        default:
            return a < b;
    }
}

std::uint64_t apply(AtomicOperation operation, Type type, std::uint64_t old, std::uint64_t b,
                    std::uint64_t c) {
    switch (operation) {
        case AtomicOperation::add:
            return add_values(type, old, b);
        case AtomicOperation::min:
            return less(type, b, old) ? b : old;
        case AtomicOperation::max:
            return less(type, old, b) ? b : old;
        case AtomicOperation::inc:
            return old >= (b & 0xffffffff) ? 0 : old + 1;
        case AtomicOperation::dec:
            return old == 0 || old > (b & 0xffffffff) ? b : old - 1;
        case AtomicOperation::bit_and:
            return old & b;
        case AtomicOperation::bit_or:
            return old | b;
        case AtomicOperation::bit_xor:
            return old ^ b;
        case AtomicOperation::exch:
            return b;
        default:
            return old == b ? c : old;
    }
}

template <typename T>
std::uint64_t exchange(std::uint8_t* bytes, AtomicOperation operation, Type type, std::uint64_t b,
                       std::uint64_t c) {
    auto* place = reinterpret_cast<T*>(bytes);
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (true) {
        const auto value = static_cast<T>(apply(operation, type, old, static_cast<T>(b), static_cast<T>(c)));
        if (__atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return old;
    }
}

enum AtomicFlag : std::uint8_t { kPublishes = 1 };

/// detail: the operation, and the type above 4 bits.
void atomic(Warp& warp, const Instruction& in, Mask lanes) {
    const Row base = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    const auto operation = static_cast<AtomicOperation>(in.detail & 15);
    const auto type = static_cast<Type>(in.detail >> 4);
    each(lanes, [&](int l) {
        const std::uint64_t address = base.lane[l] + static_cast<std::uint64_t>(in.offset);
        const Place place = locate(warp, in, l, address, in.width);
        if (place.space == Space::param)
            warp.fault(FaultCode::illegal_address, l, "an atomic operation on a parameter");
        if (operation != AtomicOperation::exch) check_written(warp, l, place, address, in.width);
        check_not_in_flight(warp, l, place, address, in.width);
        record_access(warp, l, place, in.width,
                      (in.flags & kPublishes) != 0 ? AccessKind::release : AccessKind::atomic);
        std::uint64_t old = 0;
        if (in.width == 2) old = exchange<std::uint16_t>(place.bytes, operation, type, b.lane[l], c.lane[l]);
        if (in.width == 4) old = exchange<std::uint32_t>(place.bytes, operation, type, b.lane[l], c.lane[l]);
        if (in.width == 8) old = exchange<std::uint64_t>(place.bytes, operation, type, b.lane[l], c.lane[l]);
        std::memset(place.written, 1, in.width);
        to.lane[l] = old;
    });
}

bool is_known(AtomicOperation operation, Type type) {
    switch (operation) {
        case AtomicOperation::add:
            return size_of(type) >= 4 ? !is_bits(type) && type != Type::pred
                                      : type == Type::f16 || type == Type::bf16;
        case AtomicOperation::min:
        case AtomicOperation::max:
            return is_integer(type) && size_of(type) >= 4;
        case AtomicOperation::inc:
        case AtomicOperation::dec:
            return type == Type::u32;
        case AtomicOperation::cas:
            return is_bits(type) && size_of(type) >= 2 && size_of(type) <= 8;
        default:
            return type == Type::b32 || type == Type::b64;
    }
}

void take_order(Decoder& decoder, Instruction& in) {
    if (decoder.take_one_of({"relaxed", "acquire", "release", "acq_rel"}) >= 2) in.flags |= kPublishes;
    decoder.take_one_of({"cta", "cluster", "gpu", "sys"});
}

}  // namespace

void decode_atomic(Decoder& decoder) {
    const bool gives = decoder.statement().name == "atom";
    Instruction in = decoder.make(atomic);
    take_order(decoder, in);
    in.space = decoder.take_space();
    if (in.space != Space::generic && in.space != Space::global && in.space != Space::shared)
        decoder.unsupported("not in this state space");
    const int operation =
        decoder.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
    if (operation < 0) decoder.unsupported("unknown operation");
    // cooperative_groups has them behind the operation, and ptxas takes that.
    take_order(decoder, in);
    decoder.take("noftz");
    const Type type = decoder.take_type();
    if (!is_known(static_cast<AtomicOperation>(operation), type)) decoder.unsupported("not for this type");
    in.detail = static_cast<std::uint16_t>(operation | static_cast<int>(type) << 4);
    in.width = static_cast<std::uint8_t>(size_of(type));
    const std::size_t first = gives ? 1 : 0;
    const bool compares = operation == static_cast<int>(AtomicOperation::cas);
    decoder.expect(first + (compares ? 3 : 2), first + (compares ? 3 : 2));
    if (gives) in.to = decoder.destination(0);
    in.from[1] = decoder.source(first + 1, type);
    in.from[2] = compares ? decoder.source(first + 2, type) : in.from[1];
    decoder.address(decoder.operand(first), in);
    decoder.emit(in);
}

}  // namespace cudamatrix::suite::ptx
