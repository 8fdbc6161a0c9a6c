// cmp.fma: red on every planted defect, green on its kernel's body as it is.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/compute/floats.hpp"
#include "kernels/compute/fma.hpp"
#include "kernels/compute/fma_body.hpp"
#include "unit/kernels/defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

// The chains with another step than the right one.
template <class T, class Step>
void with_step(std::vector<T>& ends, const FmaNumbers<T>& in, Step step) {
    for (std::size_t i = 0; i < in.start.size(); ++i) {
        const std::size_t of_item = i / kFmaChains * 2;
        T value = in.start[i];
        for (int round = 0; round < kFmaRounds; ++round) {
            for (std::size_t s = of_item; s < of_item + 2; ++s)
                value = step(value, in.factor[s], in.addend[s]);
        }
        ends[i] = value;
    }
}

template <class T>
T rounded_twice(T a, T b, T c) {
    const volatile T product = a * b;  // kept from being fused
    return product + c;
}

}  // namespace

TEST_CASE("cmp.fma: green as it is, red with each planted defect") {
    const FmaInputs in = fma_inputs(1009);
    const FmaOutputs good = fma_on_cpu(in);
    const std::size_t n = in.n * kFmaChains;
    FmaInputs earlier = in;
    for (double& x : earlier.f64.start)
        x = -x;
    const FmaOutputs old = fma_on_cpu(earlier);
    check_defects<FmaInputs, FmaOutputs>(
        fma_check, in, good,
        {{"no-op kernel", [&](auto& out) { out = fma_blank(in); }},
         {"reports, but writes nothing",
          [&](auto& out) {
              out = fma_blank(in);
              out.flag = good.flag;
          }},
         {"nothing reports", [](auto& out) { out.flag = {}; }},
         {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
         {"float32 products rounded before the sum",
          [&](auto& out) { with_step(out.f32, in.f32, rounded_twice<float>); }},
         {"float64 products rounded before the sum",
          [&](auto& out) { with_step(out.f64, in.f64, rounded_twice<double>); }},
         {"float32 where float64 was asked",
          [&](auto& out) {
              with_step(out.f64, in.f64, [](double a, double b, double c) {
                  return double{
                      std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))};
              });
          }},
         {"rounded towards zero",
          [&](auto& out) {
              std::fesetround(FE_TOWARDZERO);
              out = fma_on_cpu(in);
              std::fesetround(FE_TONEAREST);
          }},
         {"factors exchanged",
          [&](auto& out) {
              FmaInputs other = in;
              for (std::size_t i = 0; i < in.n; ++i)
                  std::swap(other.f32.factor[2 * i], other.f32.factor[2 * i + 1]);
              out = fma_on_cpu(other);
          }},
         {"addends left out",
          [&](auto& out) { with_step(out.f64, in.f64, [](double a, double b, double) { return a * b; }); }},
         {"stale buffer: the last item is of an earlier run",
          [&](auto& out) { std::copy_n(&old.f64[n - kFmaChains], kFmaChains, &out.f64[n - kFmaChains]); }},
         {"two chains exchanged", [](auto& out) { std::swap(out.f32[1], out.f32[2]); }},
         {"the last float32 never written", [&](auto& out) { blank(out.f32, n - 1, 1); }},
         {"the last float64 never written", [&](auto& out) { blank(out.f64, n - 1, 1); }},
         {"writes beyond the end of float32", [&](auto& out) { out.f32[n] = 0; }},
         {"writes beyond the end of float64", [&](auto& out) { out.f64.back() = 0; }},
         {"not a number in float32", [](auto& out) { out.f32[5] = std::nanf(""); }},
         {"not a number in float64", [](auto& out) { out.f64[5] = std::nan(""); }},
         {"output cut short", [&](auto& out) { out.f64.resize(n / 2); }}});
    // Any one bit of any of some ends.
    for (const std::size_t i : {std::size_t{0}, n - 1}) {
        for (int bit = 0; bit < 64; ++bit) {
            FmaOutputs out = good;
            const std::uint64_t wide = float_bits(out.f64[i]) ^ (std::uint64_t{1} << bit);
            std::memcpy(&out.f64[i], &wide, sizeof wide);
            CHECK_MESSAGE(red(fma_check(in, out, "CPU")), bit);
            out = good;
            const std::uint32_t narrow = float_bits(out.f32[i]) ^ (1U << bit % 32);
            std::memcpy(&out.f32[i], &narrow, sizeof narrow);
            CHECK_MESSAGE(red(fma_check(in, out, "CPU")), bit);
        }
    }
}

TEST_CASE("cmp.fma: an error of any step is still there at the end") {
    const FmaInputs in = fma_inputs(1009);
    for (int wrong = 0; wrong < 2 * kFmaRounds; ++wrong) {
        FmaOutputs out = fma_on_cpu(in);
        int step = 0;
        with_step(out.f32, in.f32, [&](float a, float b, float c) {
            const float right = std::fma(a, b, c);
            return step++ % (2 * kFmaRounds) == wrong ? moved(right, 1) : right;
        });
        CHECK_MESSAGE(red(fma_check(in, out, "CPU")), wrong);
    }
    CHECK(green(fma_cpu_part({})));
}
