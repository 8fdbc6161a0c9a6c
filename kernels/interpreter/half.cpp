// f16, bf16 and pairs of them (PTX ISA, "Half Precision Floating Point Instructions"). Computed in double and
// rounded once: for sums and products a double is exact or far finer, and the sum of fma is rounded to odd
// before.
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum class HalfOperation : std::uint8_t { add, sub, mul, fma, neg, abs, min, max };
enum HalfFlag : std::uint8_t { kBfloat16 = kFirstOwn, kPair = 2 * kFirstOwn };

/// x + y, rounded to odd: a later rounding to fewer digits is then as if it were the only one (Boldo and
/// Melquiond, "Emulation of FMA and Correctly Rounded Sums").
double odd_sum(double x, double y) {
    const double sum = x + y;
    if (!std::isfinite(sum)) return sum;
    const double part = sum - x;
    const double error = (x - (sum - part)) + (y - part);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || (bits & 1) != 0) return sum;
    return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

std::uint64_t compute_half(const Instruction& in, std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    const bool bfloat = (in.flags & kBfloat16) != 0;
    const auto value = [&](std::uint16_t bits) {
        const double v = bfloat ? decode_bfloat(bits) : decode_half(bits);
        return (in.flags & kFlush) != 0 && std::fabs(v) < 0x1p-14 ? std::copysign(0.0, v) : v;
    };
    const bool nan_wins = (in.flags & kNanWins) != 0;
    double result = 0;
    switch (static_cast<HalfOperation>(in.detail)) {
        case HalfOperation::add:
            result = odd_sum(value(a), value(b));
            break;
        case HalfOperation::sub:
            result = odd_sum(value(a), -value(b));
            break;
        case HalfOperation::mul:
            result = value(a) * value(b);
            break;
        case HalfOperation::fma:
            result = odd_sum(value(a) * value(b), value(c));
            break;
        case HalfOperation::neg:
            return a ^ 0x8000U;
        case HalfOperation::abs:
            return a & 0x7fffU;
        case HalfOperation::min:
            result = smaller(value(a), value(b), nan_wins);
            break;
        case HalfOperation::max:
            result = -smaller(-value(a), -value(b), nan_wins);
            break;
    }
    if ((in.flags & kRelu) != 0 && result < 0) result = 0;
    if ((in.flags & kSaturate) != 0) result = result > 0 ? std::fmin(result, 1.0) : 0.0;
    std::uint64_t bits =
        encode(static_cast<long double>(result), bfloat ? kBfloat : kHalf, Rounding::nearest, 0x7fff);
    if ((in.flags & kFlush) != 0 && (bits & 0x7c00) == 0) bits &= 0x8000;
    return bits;
}

void half(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) {
        const auto part = [&](int shift) {
            const auto low = [&](const Row& row) { return static_cast<std::uint16_t>(row.lane[l] >> shift); };
            return compute_half(in, low(a), low(b), low(c));
        };
        to.lane[l] = (in.flags & kPair) != 0 ? part(0) | part(16) << 16 : part(0);
    });
}

struct HalfRow {
    std::string_view name;
    HalfOperation operation;
    std::size_t sources;
};
constexpr HalfRow kHalfRows[] = {
    {"add", HalfOperation::add, 2}, {"sub", HalfOperation::sub, 2}, {"mul", HalfOperation::mul, 2},
    {"fma", HalfOperation::fma, 3}, {"neg", HalfOperation::neg, 1}, {"abs", HalfOperation::abs, 1},
    {"min", HalfOperation::min, 2}, {"max", HalfOperation::max, 2},
};

}  // namespace

void decode_half(Decoder& decoder) {
    const HalfRow& row = decoder.row_of(kHalfRows);
    const bool rounds = decoder.take("rn");
    unsigned flags = 0;
    if (decoder.take("ftz")) flags |= kFlush;
    if (decoder.take("NaN")) flags |= kNanWins;
    if (decoder.take("sat")) flags |= kSaturate;
    if (decoder.take("relu")) flags |= kRelu;
    const Type type = decoder.take_type();
    if (type == Type::bf16 || type == Type::bf16x2) flags |= kBfloat16;
    if (type == Type::f16x2 || type == Type::bf16x2) flags |= kPair;
    if (row.operation == HalfOperation::fma && !rounds) decoder.unsupported("expected .rn");
    if ((flags & kFlush) != 0 && (flags & kBfloat16) != 0) decoder.unsupported(".ftz of .bf16");
    Instruction in = decoder.make(half);
    in.detail = static_cast<std::uint16_t>(row.operation);
    in.flags = static_cast<std::uint8_t>(flags);
    decoder.emit(in, row.sources, type);
}

}  // namespace cudamatrix::suite::ptx
