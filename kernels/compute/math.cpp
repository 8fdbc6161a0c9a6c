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
void check_functions(Record& record, const MathNumbers<T>& numbers, const std::vector<T>& values) {
    std::size_t not_rounded = 0;
    for (std::size_t f = 0; f < kMathCount; ++f) {
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
    return {blank_output<float>(kMathCount * kEach), blank_output<double>(kMathCount * kEach), {}};
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
    check_written(record, outputs.f32, kMathCount * kEach, "f32_");
    check_written(record, outputs.f64, kMathCount * kEach, "f64_");
    check_functions(record, inputs.f32, outputs.f32);
    check_functions(record, inputs.f64, outputs.f64);
    return judge(record, "tolerance",
                 std::to_string(2 * kMathCount) + " functions within their bounds (" + backend + ")");
}

}  // namespace cudamatrix::suite
