// cmp.math: red on every planted defect, green on what the host's own functions give.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/compute/floats.hpp"
#include "kernels/compute/math.hpp"
#include "unit/kernels/defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

// Values as the host's own functions of each type give them.
template <class T>
T by_host(int function, T x, T y) {
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
        default:
            return x / y;
    }
}

constexpr std::size_t kEach = kMathLength;

MathOutputs math_by_host(const MathInputs& in) {
    MathOutputs out = math_blank();
    for (std::size_t i = 0; i < in.f32.x.size(); ++i) {
        const auto function = static_cast<int>(i / kEach);
        out.f32[i] = by_host(function, in.f32.x[i], in.f32.y[i]);
        out.f64[i] = by_host(function, in.f64.x[i], in.f64.y[i]);
    }
    out.flag = {static_cast<unsigned>(kMathBlocks), 900};
    return out;
}

std::ptrdiff_t section(int function) {
    return static_cast<std::ptrdiff_t>(function) * kMathLength;
}

}  // namespace

TEST_CASE("cmp.math: green with the host's functions, red with each planted defect") {
    const MathInputs in = math_inputs();
    const MathOutputs good = math_by_host(in);
    const std::size_t n = kMathCount * kEach;
    MathInputs earlier = in;
    std::rotate(earlier.f64.x.begin(), earlier.f64.x.begin() + 1, earlier.f64.x.end());
    const MathOutputs old = math_by_host(earlier);
    const auto in_section = [](int function, std::size_t i) { return i / kEach == std::size_t(function); };
    check_defects<MathInputs, MathOutputs>(
        math_check, in, good,
        {{"no-op kernel", [](auto& out) { out = math_blank(); }},
         {"reports, but writes nothing",
          [&](auto& out) {
              out = math_blank();
              out.flag = good.flag;
          }},
         {"nothing reports", [](auto& out) { out.flag = {}; }},
         {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
         {"a block of another function than its own: cos in place of sin",
          [&](auto& out) { std::copy_n(&good.f32[std::size_t(section(kCos))], kEach, out.f32.begin()); }},
         {"sin in place of cos, of the same arguments",
          [&](auto& out) {
              for (std::size_t i = 0; i < n; ++i)
                  if (in_section(kCos, i)) out.f64[i] = std::sin(in.f64.x[i]);
          }},
         {"log2 in place of log",
          [&](auto& out) {
              for (std::size_t i = 0; i < n; ++i)
                  if (in_section(kLog, i)) out.f32[i] = std::log2(in.f32.x[i]);
          }},
         {"float32 where float64 was asked, of each function",
          [&](auto& out) { std::copy_n(good.f32.begin(), n, out.f64.begin()); }},
         {"stale buffer: the last value is of an earlier run",
          [&](auto& out) { out.f64[n - 1] = old.f64[n - 1]; }},
         {"subnormal numbers flushed to zero",
          [](auto& out) {
              for (float& x : out.f32)
                  if (std::fpclassify(x) == FP_SUBNORMAL) x = 0;
          }},
         {"fast division: by a rounded inverse",
          [&](auto& out) {
              for (std::size_t i = 0; i < n; ++i)
                  if (in_section(kDivide, i)) out.f32[i] = in.f32.x[i] * (1 / in.f32.y[i]);
          }},
         {"fast root: not correctly rounded",
          [](auto& out) { out.f32[std::size_t(section(kSqrt))] = moved(out.f32[section(kSqrt)], 1); }},
         {"fast exponential: float32 without the argument's low bits",
          [&](auto& out) {
              for (std::size_t i = 0; i < n; ++i)
                  if (in_section(kExp, i)) out.f32[i] = std::exp2(in.f32.x[i] * 1.442695F);
          }},
         {"a sign lost",
          [](auto& out) {
              for (double& x : out.f64)
                  x = std::fabs(x);
          }},
         {"infinite", [](auto& out) { out.f32[0] = std::numeric_limits<float>::infinity(); }},
         {"the last float64 never written", [&](auto& out) { blank(out.f64, n - 1, 1); }},
         {"writes beyond the end of float32", [&](auto& out) { out.f32[n] = 0; }},
         {"writes beyond the end of float64", [&](auto& out) { out.f64.back() = 0; }},
         {"output cut short", [&](auto& out) { out.f32.resize(n); }}});
}

TEST_CASE("cmp.math: each function of each type is held to its own bound") {
    const MathInputs in = math_inputs();
    const MathOutputs good = math_by_host(in);
    for (int f = 0; f < kMathCount; ++f) {
        CAPTURE(kMathFunctions[f].name);
        for (const std::size_t i : {f * kEach, f * kEach + kEach - 1}) {
            const float expected32 = math_expected(f, in.f32.x[i], in.f32.y[i]);
            const double expected64 = math_expected(f, in.f64.x[i], in.f64.y[i]);
            const int bound32 = kMathFunctions[f].ulps32 + kMathAllowance;
            const int bound64 = kMathFunctions[f].ulps64 + kMathAllowance;
            const auto judged = [&](float value32, double value64) {
                MathOutputs out = good;
                out.f32[i] = value32;
                out.f64[i] = value64;
                return math_check(in, out, "CPU");
            };
            for (const int more : {1, 4}) {
                CHECK(red(judged(moved(expected32, bound32 + more), expected64)));
                CHECK(red(judged(expected32, moved(expected64, bound64 + more))));
            }
            CHECK(red(judged(std::nanf(""), expected64)));
            CHECK(red(judged(expected32, std::nan(""))));
            CHECK(red(judged(-expected32, expected64)));
            CHECK(red(judged(expected32, -expected64)));
            // Those that are correctly rounded have a second check, without allowance.
            if (kMathFunctions[f].ulps32 != 0)
                CHECK(green(judged(moved(expected32, bound32), moved(expected64, bound64))));
        }
    }
}

TEST_CASE("floats: distances in ULPs") {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    CHECK(ulps_between(1.0F, 1.0F) == 0);
    CHECK(ulps_between(0.0, -0.0) == 0);
    CHECK(ulps_between(1.0, moved(1.0, 3)) == 3);
    CHECK(ulps_between(moved(1.0F, 3), 1.0F) == 3);
    CHECK(ulps_between(std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::denorm_min()) ==
          2);
    CHECK(ulps_between(1.0, -1.0) > 1e18);
    CHECK(ulps_between(std::nanf(""), std::nanf("")) == kInfinite);
    CHECK(ulps_between(1.0, std::nan("")) == kInfinite);
    CHECK(ulps_between(kInfinite, std::numeric_limits<double>::max()) == kInfinite);
}
