#include "kernels/compute/math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/compute/floats.hpp"
#include "kernels/support/philox.hpp"

#if defined(__FAST_MATH__)
#error "what checks rounding and NaNs must not be compiled with -ffast-math"
#endif

namespace cudamatrix::suite {
namespace {

constexpr std::size_t kEach = kMathLength;  // values of each function

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference of float64 must be wider");

template <typename Wide>
Wide value_of(int function, Wide x, Wide y) {
    switch (function) {
        case kSin:
            return std::sin(x);
        case kCos:
            return std::cos(x);
        case kExp:
            return std::exp(x);
        case kLog:
            return std::log(x);
        case kPow:
            return std::pow(x, y);
        case kErf:
            return std::erf(x);
        case kSqrt:
            return std::sqrt(x);
        case kRsqrt:
            return 1 / std::sqrt(x);
        case kDivide:
            return x / y;
        default:
            return std::numeric_limits<Wide>::quiet_NaN();
    }
}

template <typename T>
void fill(MathNumbers<T>& numbers, const Philox& philox, std::uint32_t stream) {
    numbers.x.resize(kMathCount * kEach);
    numbers.y.resize(kMathCount * kEach);
    const auto between = [](T share, float from, float to) {  // share in (-1, 1); the ends are left out
        const T half = (static_cast<T>(to) - static_cast<T>(from)) / 2;
        return static_cast<T>(from) + half + half * share;
    };
    for (std::size_t i = 0; i < numbers.x.size(); ++i) {
        const MathFunction& function = kMathFunctions[i / kEach];
        numbers.x[i] = between(uniform<T>(philox, i, stream), function.x_from, function.x_to);
        numbers.y[i] = between(uniform<T>(philox, i, stream + 1), function.y_from, function.y_to);
        // No macro tells of nvcc's -ftz, but subnormal quotients do: it makes zeros of them.
        if (i / kEach == kDivide && i % 8 == 0) numbers.x[i] *= std::numeric_limits<T>::min();
    }
}

template <typename T>
void check_functions(Record& record, const MathNumbers<T>& numbers, const std::vector<T>& values,
                     unsigned left_out) {
    std::size_t not_rounded = 0;
    for (std::size_t f = 0; f < kMathCount; ++f) {
        if ((left_out >> f & 1U) != 0) continue;
        const MathFunction& function = kMathFunctions[f];
        const int guide = sizeof(T) == sizeof(float) ? function.ulps32 : function.ulps64;
        double worst = 0;
        for (std::size_t i = f * kEach; i < (f + 1) * kEach && i < values.size(); ++i) {
            const T expected = math_expected(static_cast<int>(f), numbers.x[i], numbers.y[i]);
            const double ulps = ulps_between(values[i], expected);
            worst = std::max(worst, ulps);
            if (guide == 0 && ulps != 0) ++not_rounded;
        }
        record.check_limit(std::string(FloatOf<T>::kName) + "_" + function.name + "_ulps", worst,
                           guide + kMathAllowance);
    }
    // What -prec-div=false and -prec-sqrt=false would change by a ULP.
    record.check(std::string(FloatOf<T>::kName) + "_correctly_rounded", not_rounded == 0,
                 std::to_string(not_rounded) + " values of sqrt and div are not");
}

/// Checks that the sections of functions that were left out are blank. `values` gets zeros there, so that
/// they do not count as missing.
void check_left_out(Record& record, std::vector<double>& values, unsigned left_out) {
    std::size_t touched = 0;
    for (std::size_t i = 0; i < kMathCount * kEach && i < values.size(); ++i) {
        if ((left_out >> (i / kEach) & 1U) == 0) continue;
        if (float_bits(values[i]) != FloatOf<double>::kBlank) ++touched;
        values[i] = 0;
    }
    record.check("f64_left_out", touched == 0,
                 std::to_string(touched) + " values of functions that were left out were written");
}

std::string summary_of(unsigned left_out, const char* backend) {
    std::string names;
    int functions = 2 * kMathCount;
    for (std::size_t f = 0; f < kMathCount; ++f) {
        if ((left_out >> f & 1U) == 0) continue;
        names += std::string(names.empty() ? ", without float64 " : ", ") + kMathFunctions[f].name;
        --functions;
    }
    return std::to_string(functions) + " functions within their bounds" + names + " (" + backend + ")";
}

}  // namespace

MathInputs math_inputs() {
    constexpr std::uint32_t kStreams = 2;
    const Philox philox(seed_of(kMathId));
    MathInputs inputs;
    fill(inputs.f32, philox, 0);
    fill(inputs.f64, philox, kStreams);
    return inputs;
}

MathOutputs math_blank() {
    return {blank_floats<float>(kMathCount * kEach), blank_floats<double>(kMathCount * kEach), {}, 0};
}

float math_expected(int function, float x, float y) {
    return static_cast<float>(value_of(function, static_cast<double>(x), static_cast<double>(y)));
}

double math_expected(int function, double x, double y) {
    // The host's own are correctly rounded; from long double they would be rounded twice.
    if (function == kSqrt || function == kDivide) return value_of(function, x, y);
    return static_cast<double>(value_of(function, static_cast<long double>(x), static_cast<long double>(y)));
}

Record math_check(const MathInputs& inputs, const MathOutputs& outputs, const char* backend) {
    Record record;
    check_ran(record, outputs.flag, kMathBlocks);
    check_floats_written(record, outputs.f32, kMathCount * kEach);
    std::vector<double> f64 = outputs.f64;
    check_left_out(record, f64, outputs.left_out64);
    check_floats_written(record, f64, kMathCount * kEach);
    check_functions(record, inputs.f32, outputs.f32, 0);
    check_functions(record, inputs.f64, outputs.f64, outputs.left_out64);
    return judge(record, "tolerance", summary_of(outputs.left_out64, backend));
}

}  // namespace cudamatrix::suite
