// f32 and f64 (PTX ISA, "Floating Point Instructions").
#include <cfenv>
#include <cmath>

#include "kernels/interpreter/each.hpp"
#include "kernels/interpreter/number_format.hpp"
#include "kernels/interpreter/statement.hpp"
#include "kernels/interpreter/values.hpp"
#include "kernels/interpreter/warp.hpp"

namespace cudamatrix::suite::ptx {
namespace {

enum class FloatOperation : std::uint8_t { add, sub, mul, fma, div, rcp, sqrt, neg, abs, min, max, copysign };

/// In the processor's rounding mode; volatile keeps compilers from moving it out of there.
template <typename T>
T compute_float(FloatOperation operation, T a, T b, T c, bool nan_wins) {
    volatile T x = a;
    volatile T y = b;
    volatile T result = 0;
    switch (operation) {
        case FloatOperation::add:
            result = x + y;
            break;
        case FloatOperation::sub:
            result = x - y;
            break;
        case FloatOperation::mul:
            result = x * y;
            break;
        case FloatOperation::fma:
            result = std::fma(x, y, c);
            break;
        case FloatOperation::div:
            result = x / y;
            break;
        case FloatOperation::rcp:
            result = T{1} / x;
            break;
        case FloatOperation::sqrt:
            result = std::sqrt(x);
            break;
        case FloatOperation::neg:
            return -a;
        case FloatOperation::abs:
            return std::fabs(a);
        case FloatOperation::min:
            return canonical(smaller(a, b, nan_wins));
        case FloatOperation::max:
            return canonical(-smaller(-a, -b, nan_wins));
        case FloatOperation::copysign:
            return std::copysign(b, a);
    }
    return canonical(T{result});
}

int mode_of(std::uint16_t rounding) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    return kModes[rounding & 3];
}

/// Any operation: detail is the rounding and, above 4 bits, the operation.
template <typename T>
void general(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    const auto operation = static_cast<FloatOperation>(in.detail >> 4);
    const bool flush = (in.flags & kFlush) != 0;
    const int mode = mode_of(in.detail);
    if (mode != FE_TONEAREST) std::fesetround(mode);
    each(lanes, [&](int l) {
        T x = get<T>(a, l);
        T y = get<T>(b, l);
        T z = get<T>(c, l);
        if (flush) {
            x = flushed(x);
            y = flushed(y);
            z = flushed(z);
        }
        T result = compute_float(operation, x, y, z, (in.flags & kNanWins) != 0);
        if (flush) result = flushed(result);
        if ((in.flags & kSaturate) != 0) result = result > T{0} ? std::min(result, T{1}) : T{0};
        put<T>(to, l, result);
    });
    if (mode != FE_TONEAREST) std::fesetround(FE_TONEAREST);
}

#define CUDAMATRIX_PLAIN(NAME, OPERATOR)                                                           \
    template <typename T>                                                                          \
    void NAME(Warp& warp, const Instruction& in, Mask lanes) {                                     \
        const Row& a = warp.source(in.from[0]);                                                    \
        const Row& b = warp.source(in.from[1]);                                                    \
        Row& to = warp.destination(in.to);                                                         \
        each(lanes, [&](int l) { put<T>(to, l, canonical(get<T>(a, l) OPERATOR get<T>(b, l))); }); \
    }
CUDAMATRIX_PLAIN(plain_add, +)
CUDAMATRIX_PLAIN(plain_sub, -)
CUDAMATRIX_PLAIN(plain_mul, *)
#undef CUDAMATRIX_PLAIN

template <typename T>
void plain_fma(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<T>(to, l, canonical(std::fma(get<T>(a, l), get<T>(b, l), get<T>(c, l)))); });
}

#if defined(__x86_64__)
/// The same with the processor's own instruction, which std::fma may not use on the oldest x86-64.
__attribute__((target("avx2,fma"))) void hardware_fma(Warp& warp, const Instruction& in, Mask lanes) {
    const Row& a = warp.source(in.from[0]);
    const Row& b = warp.source(in.from[1]);
    const Row& c = warp.source(in.from[2]);
    Row& to = warp.destination(in.to);
    float x[kLanes];
    float y[kLanes];
    float z[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        const auto low = [l](const Row& row) { return static_cast<std::uint32_t>(row.lane[l]); };
        const std::uint32_t bits[3] = {low(a), low(b), low(c)};
        std::memcpy(&x[l], &bits[0], 4);
        std::memcpy(&y[l], &bits[1], 4);
        std::memcpy(&z[l], &bits[2], 4);
    }
    for (int l = 0; l < kLanes; ++l)
        x[l] = __builtin_fmaf(x[l], y[l], z[l]);
    for (int l = 0; l < kLanes; ++l) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &x[l], 4);
        if (x[l] != x[l]) bits = kSingleNan;
        if ((lanes >> l & 1) != 0) to.lane[l] = bits;
    }
}
#endif

Handler fma_single() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return hardware_fma;
#endif
    return plain_fma<float>;
}

struct OperationRow {
    std::string_view name;
    FloatOperation operation;
    std::size_t sources;
    Handler single;  ///< for .rn without flags; null: the general one
    Handler twofold;
};
const OperationRow kOperations[] = {
    {"add", FloatOperation::add, 2, plain_add<float>, plain_add<double>},
    {"sub", FloatOperation::sub, 2, plain_sub<float>, plain_sub<double>},
    {"mul", FloatOperation::mul, 2, plain_mul<float>, plain_mul<double>},
    {"fma", FloatOperation::fma, 3, fma_single(), plain_fma<double>},
    {"mad", FloatOperation::fma, 3, fma_single(), plain_fma<double>},
    {"div", FloatOperation::div, 2, nullptr, nullptr},
    {"rcp", FloatOperation::rcp, 1, nullptr, nullptr},
    {"sqrt", FloatOperation::sqrt, 1, nullptr, nullptr},
    {"neg", FloatOperation::neg, 1, nullptr, nullptr},
    {"abs", FloatOperation::abs, 1, nullptr, nullptr},
    {"min", FloatOperation::min, 2, nullptr, nullptr},
    {"max", FloatOperation::max, 2, nullptr, nullptr},
    {"copysign", FloatOperation::copysign, 2, nullptr, nullptr},
};

/// rcp.approx.ftz.f64 reads and writes the upper halves only (PTX ISA, "rcp.approx.ftz.f64").
void gross_inverse(Warp& warp, const Instruction& in, Mask lanes) {
    const auto upper = [](double x) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        bits &= 0xffffffff00000000;
        std::memcpy(&x, &bits, sizeof x);
        return flushed(x);
    };
    const Row& from = warp.source(in.from[0]);
    Row& to = warp.destination(in.to);
    each(lanes, [&](int l) { put<double>(to, l, canonical(upper(1.0 / upper(get<double>(from, l))))); });
}

}  // namespace

void decode_floating(Decoder& decoder) {
    const OperationRow& row = decoder.row_of(kOperations);
    const bool inexact = row.operation <= FloatOperation::sqrt;
    const bool may_approximate = row.operation >= FloatOperation::div && inexact;
    int rounding = inexact ? decoder.take_one_of({"rn", "rz", "rm", "rp"}) : -1;
    // The approximations are computed exactly: they are specified by their largest error only.
    const bool approximate =
        rounding < 0 && may_approximate && (decoder.take("approx") || decoder.take("full"));
    unsigned flags = 0;
    if (decoder.take("ftz")) flags |= kFlush;
    if (decoder.take("NaN")) flags |= kNanWins;
    if (decoder.take("sat")) flags |= kSaturate;
    const Type type = decoder.take_type();
    const bool f64 = type == Type::f64;
    if (type != Type::f32 && !f64) decoder.unsupported("not for this type");
    if (f64 && approximate && flags == kFlush && row.operation == FloatOperation::rcp) {
        decoder.emit(decoder.make(gross_inverse), row.sources, type);
        return;
    }
    if (f64 && (flags != 0 || approximate)) decoder.unsupported("modifiers that are not for .f64");
    const bool compares = row.operation == FloatOperation::min || row.operation == FloatOperation::max;
    if ((flags & kNanWins) != 0 && !compares) decoder.unsupported("unknown modifier .NaN");
    const bool needs_rounding = row.operation == FloatOperation::fma || (may_approximate && !approximate);
    if (needs_rounding && rounding < 0) decoder.unsupported("expected .rn, .rz, .rm or .rp");
    if (rounding < 0) rounding = 0;
    Instruction in = decoder.make(f64 ? general<double> : general<float>);
    const Handler plain = f64 ? row.twofold : row.single;
    if (plain != nullptr && flags == 0 && rounding == 0) in.handler = plain;
    in.detail = static_cast<std::uint16_t>(rounding | static_cast<int>(row.operation) << 4);
    in.flags = static_cast<std::uint8_t>(flags);
    decoder.emit(in, row.sources, type);
}

}  // namespace cudamatrix::suite::ptx
