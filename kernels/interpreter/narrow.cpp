// cvt into and from the formats that only tensor cores compute with: tf32 and pairs of e4m3 or e5m2 (PTX ISA,
// "cvt").
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

constexpr unsigned kWideExponent = kFirstOwn;  // e5m2

std::uint64_t eight_bits(const Instruction& in, double value) {
    if ((in.flags & kRelu) != 0 && value <= 0) value = 0;
    return (in.flags & kWideExponent) != 0 ? encode_e5m2(value) : encode_e4m3(value);
}

void to_tensor_single(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const auto value = static_cast<long double>(get<float>(from, l));
        to.lane[l] = std::isnan(value) ? kSingleNan : encode(value, kTensorSingle, Rounding::away, 0) << 13;
    });
}

/// d, a, b: a is the upper half.
void singles_to_eights(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        to.lane[l] = eight_bits(in, static_cast<double>(get<float>(a, l))) << 8 |
                     eight_bits(in, static_cast<double>(get<float>(b, l)));
    });
}

void halves_to_eights(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const auto half = [&](int shift) {
            return decode_half(static_cast<std::uint16_t>(from.lane[l] >> shift));
        };
        to.lane[l] = eight_bits(in, half(16)) << 8 | eight_bits(in, half(0));
    });
}

void eights_to_halves(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const auto half = [&](int shift) {
            const auto bits = static_cast<std::uint8_t>(from.lane[l] >> shift);
            double value = (in.flags & kWideExponent) != 0 ? decode_e5m2(bits) : decode_e4m3(bits);
            if ((in.flags & kRelu) != 0 && value <= 0) value = 0;
            return encode(static_cast<long double>(value), kHalf, Rounding::nearest, 0x7fff);
        };
        to.lane[l] = half(8) << 16 | half(0);
    });
}

/// 0: e4m3x2, 1: e5m2x2, -1: none of them.
int take_eights(Decoder& decoder) {
    return decoder.take_one_of({"e4m3x2", "e5m2x2"});
}

void emit_narrow(Decoder& decoder, Handler handler, unsigned flags, Type to, std::size_t sources, Type from) {
    Instruction in = decoder.make(handler);
    in.flags = static_cast<std::uint8_t>(flags);
    const Operand& result = decoder.count() > 0 ? decoder.operand(0) : Operand{};
    if (result.kind == OperandKind::reg && size_of(result.type) != size_of(to))
        decoder.unsupported("the result has " + std::to_string(8 * size_of(to)) + " bits");
    decoder.emit(in, sources, from);
}

}  // namespace

void decode_narrow(Decoder& decoder) {
    if (decoder.take("rna")) {
        if (!decoder.take("tf32") || !decoder.take("f32")) decoder.unsupported("not for these types");
        decoder.need_target(80);
        return emit_narrow(decoder, to_tensor_single, 0, Type::b32, 1, Type::f32);
    }
    if (!decoder.take("rn")) decoder.unsupported("not in this rounding");
    const bool saturates = decoder.take("satfinite");
    const unsigned relu = decoder.take("relu") ? kRelu : 0U;
    const int to = take_eights(decoder);
    if (to < 0) {
        if (saturates || !decoder.take("f16x2")) decoder.unsupported("not for these types");
        const int from = take_eights(decoder);
        if (from < 0) decoder.unsupported("not for these types");
        decoder.need_target(89);
        return emit_narrow(decoder, eights_to_halves, relu | (from == 1 ? kWideExponent : 0U), Type::b32, 1,
                           Type::b16);
    }
    if (!saturates) decoder.unsupported("expected .satfinite");
    decoder.need_target(89);
    const unsigned flags = relu | (to == 1 ? kWideExponent : 0U);
    if (decoder.take("f16x2")) return emit_narrow(decoder, halves_to_eights, flags, Type::b16, 1, Type::b32);
    if (!decoder.take("f32")) decoder.unsupported("not for these types");
    emit_narrow(decoder, singles_to_eights, flags, Type::b16, 2, Type::f32);
}

}  // namespace cudamatrix::suite::ptx
