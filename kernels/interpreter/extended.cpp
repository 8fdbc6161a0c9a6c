// Arithmetic with carry (PTX ISA, "Extended-Precision Integer Arithmetic Instructions"). The carry is a
// hidden predicate of the function.
#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

__extension__ using Whole = unsigned __int128;
__extension__ using SignedWhole = __int128;

enum CarryFlag : std::uint8_t {
    kIn = 1,
    kOut = 2,
    kSubtract = 4,
    kMultiply = 8,
    kHigh = 16,
    kSignedProduct = 32
};

template <typename T>
Whole product(T a, T b, std::uint8_t flags) {
    using S = std::make_signed_t<T>;
    const Whole whole =
        (flags & kSignedProduct) != 0
            ? static_cast<Whole>(static_cast<SignedWhole>(static_cast<S>(a)) * static_cast<S>(b))
            : static_cast<Whole>(a) * b;
    return static_cast<T>((flags & kHigh) != 0 ? whole >> (8 * sizeof(T)) : whole);
}

template <typename T>
struct Extended {
    static void run(Warp& warp, const Instruction& in, Mask lanes) {
        const Row& a = warp.source(in.from[0]);
        const Row& b = warp.source(in.from[1]);
        const bool multiplies = (in.flags & kMultiply) != 0;
        const Row* c = multiplies ? &warp.source(in.from[2]) : nullptr;
        Row& to = warp.destination(in.to);
        const Mask before = (in.flags & kIn) != 0 ? warp.predicate(in.predicate) : 0;
        Mask after = 0;
        each(lanes, [&](int l) {
            const auto x = get<std::make_unsigned_t<T>>(a, l);
            const auto y = get<std::make_unsigned_t<T>>(b, l);
            const Whole first = multiplies ? product(x, y, in.flags) : Whole{x};
            const Whole second = multiplies ? Whole{get<std::make_unsigned_t<T>>(*c, l)} : Whole{y};
            const Whole carry = before >> l & 1;
            const Whole sum = (in.flags & kSubtract) != 0 ? first - second - carry : first + second + carry;
            after |= static_cast<Mask>(sum >> (8 * sizeof(T)) & 1) << l;
            put<std::make_unsigned_t<T>>(to, l, static_cast<std::make_unsigned_t<T>>(sum));
        });
        if ((in.flags & kOut) != 0) warp.set_predicate(in.predicate, lanes, after);
    }
};

/// The carry's predicate, made when the function first needs it.
std::int32_t carry_of(Decoder& decoder) {
    Function& function = decoder.function();
    if (function.carry < 0) function.carry = static_cast<std::int32_t>(function.predicates++);
    return function.carry;
}

}  // namespace

void decode_extended(Decoder& decoder) {
    const std::string_view name = decoder.statement().name;
    const bool multiplies = name == "mad" || name == "madc";
    unsigned flags = multiplies ? kMultiply : 0;
    if (name.back() == 'c') flags |= kIn;
    if (name.substr(0, 3) == "sub") flags |= kSubtract;
    if (name == "mul") decoder.unsupported("unknown modifier .cc");
    if (multiplies) {
        const int part = decoder.take_one_of({"lo", "hi"});
        if (part < 0) decoder.unsupported("expected .lo or .hi");
        if (part == 1) flags |= kHigh;
    }
    if (decoder.take("cc")) flags |= kOut;
    const Type type = decoder.take_type();
    if (is_signed(type)) flags |= kSignedProduct;
    Instruction in =
        decoder.make(is_integer(type) && size_of(type) >= 4 ? for_integer<Extended>(type) : nullptr);
    if (in.handler == nullptr) decoder.unsupported("not for this type");
    in.flags = static_cast<std::uint8_t>(flags);
    in.predicate = carry_of(decoder);
    decoder.emit(in, multiplies ? 3 : 2, type);
}

}  // namespace cudamatrix::suite::ptx
