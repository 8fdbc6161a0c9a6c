// Every checker must turn red on every planted defect, and stay green on the kernel bodies as they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/compute/reduce.hpp"
#include "kernels/compute/reduce_body.hpp"
#include "kernels/compute/sgemm.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/compute/vadd.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "unit/kernels/defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

float to_bf16(float value) {
    std::uint32_t bits = bits_of(value);
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
    return float_of(bits);
}

std::vector<float> to_bf16(std::vector<float> values) {
    for (float& value : values)
        value = to_bf16(value);
    return values;
}

}  // namespace

TEST_CASE("cmp.vadd: green as it is, red with each planted defect") {
    const VaddInputs in = vadd_inputs();
    const VaddOutputs good = vadd_on_cpu(in);
    const std::size_t n = in.a.size();
    VaddInputs earlier = in;
    for (float& x : earlier.a)
        x += 1.0F;
    const VaddOutputs old = vadd_on_cpu(earlier);
    check_defects<VaddInputs, VaddOutputs>(
        vadd_check, in, good,
        {{"no-op kernel", [&](auto& out) { out = vadd_blank(in); }},
         {"kernel whose work was cut away: it reports, but writes nothing",
          [&](auto& out) {
              out = vadd_blank(in);
              out.flag = good.flag;
          }},
         {"right numbers from elsewhere: nothing reports", [](auto& out) { out.flag = {}; }},
         {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
         {"stale buffer: the last block's part is of an earlier run",
          [&](auto& out) { std::copy_n(old.c.begin() + long(n) - 256, 256, out.c.begin() + long(n) - 256); }},
         {"off by one at the end",
          [&](auto& out) { std::memcpy(&out.c[n - 1], &kBlankBits, sizeof(float)); }},
         {"writes beyond the end", [&](auto& out) { out.c[n] = 0; }},
         {"inputs rounded to bf16",
          [&](auto& out) {
              out = vadd_on_cpu({to_bf16(in.a), to_bf16(in.b)});
          }},
         {"wrong operand",
          [&](auto& out) {
              out = vadd_on_cpu({in.a, in.a});
          }},
         {"shifted by one element",
          [&](auto& out) { std::memmove(out.c.data() + 1, good.c.data(), (n - 1) * sizeof(float)); }},
         {"output cut short", [&](auto& out) { out.c.resize(n / 2); }}});
    VaddOutputs silent = good;
    silent.flag = {};
    CHECK(vadd_check(in, silent, "CPU").summary.rfind("ran_flag", 0) == 0);
    // Any one bit of any of some elements.
    for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
        for (int bit = 0; bit < 32; ++bit) {
            VaddOutputs out = good;
            out.c[i] = flipped(out.c[i], bit);
            CHECK_MESSAGE(red(vadd_check(in, out, "CPU")), bit);
        }
    }
}

TEST_CASE("cmp.reduce: green as it is, red with each planted defect") {
    const ReduceInputs in = reduce_inputs();
    const ReduceOutputs good = reduce_on_cpu(in);
    const auto on_cpu = [&](const auto& change) {
        ReduceInputs other = in;
        change(other);
        return reduce_on_cpu(other);
    };
    check_defects<ReduceInputs, ReduceOutputs>(
        reduce_check, in, good,
        {{"no-op kernel", [](auto& out) { out = reduce_blank(); }},
         {"reports but adds nothing",
          [&](auto& out) {
              out = reduce_blank();
              out.flag = good.flag;
          }},
         {"one block dropped from the totals",
          [](auto& out) { out.total -= static_cast<double>(out.block_sums[7]); }},
         {"one block added twice", [](auto& out) { out.total += static_cast<double>(out.block_sums[7]); }},
         {"stale totals: not set to zero before the run",
          [](auto& out) {
              out.total *= 2;
              out.integer_total *= 2;
          }},
         {"two blocks' sums exchanged", [](auto& out) { std::swap(out.block_sums[3], out.block_sums[4]); }},
         {"inputs rounded to bf16",
          [&](auto& out) { out = on_cpu([](auto& other) { other.values = to_bf16(other.values); }); }},
         {"the last element left out",
          [&](auto& out) {
              out = on_cpu([](auto& other) {
                  other.values.pop_back();
                  other.integers.pop_back();
              });
          }},
         // What a mask of 0xffff does: the sums of lanes 16 to 31 never arrive.
         {"a shuffle without its upper half",
          [&](auto& out) {
              out.integer_total = on_cpu([](auto& half) {
                                      for (std::size_t i = 0; i < half.integers.size(); ++i) {
                                          if (i % 32 >= 16) half.integers[i] = 0;
                                      }
                                  }).integer_total;
          }},
         {"the total is not a number", [](auto& out) { out.total = std::nan(""); }},
         {"a block's sum is not a number", [](auto& out) { out.block_sums[9] = std::nanf(""); }}});
    // Any one bit of the integer total; a bit of a block's sum, down to the tolerance.
    for (int bit = 0; bit < 64; ++bit) {
        ReduceOutputs out = good;
        out.integer_total ^= 1ULL << bit;
        CHECK_MESSAGE(red(reduce_check(in, out, "CPU")), bit);
    }
    for (int bit = 5; bit < 32; ++bit) {
        ReduceOutputs out = good;
        out.block_sums[100] = flipped(out.block_sums[100], bit);
        CHECK_MESSAGE(red(reduce_check(in, out, "CPU")), bit);
    }
}

TEST_CASE("cmp.sgemm: green as it is, red with each planted defect") {
    const SgemmInputs in = sgemm_inputs(150, 140, 256);
    const SgemmOutputs good = sgemm_on_cpu(in);
    const auto n = static_cast<std::size_t>(in.n);
    // The product without the columns `from` to `to` of A.
    const auto without = [&](int from, int to) {
        SgemmInputs dropped = in;
        for (int i = 0; i < in.m; ++i)
            std::fill_n(dropped.a.begin() + i * in.k + from, to - from, 0.0F);
        return sgemm_on_cpu(dropped);
    };
    const auto with_a = [&](const auto& change) {
        SgemmInputs other = in;
        for (float& x : other.a)
            x = change(x);
        return other;
    };
    const auto rounded = with_a([](float x) { return to_bf16(x); });
    check_defects<SgemmInputs, SgemmOutputs>(
        sgemm_check, in, good,
        {{"no-op kernel", [&](auto& out) { out = sgemm_blank(in); }},
         {"reports but writes zeros",
          [](auto& out) { std::fill(out.c.begin(), out.c.end() - kGuard, 0.0F); }},
         {"a dropped block of K", [&](auto& out) { out = without(32, 32 + kSgemmDepth); }},
         {"the last column of A left out", [&](auto& out) { out = without(in.k - 1, in.k); }},
         // The first slice's product uses what the shared memory held before, here zeros.
         {"a missing barrier: a tile is multiplied before it is loaded",
          [&](auto& out) { out = without(0, kSgemmDepth); }},
         {"a transposed 8 x 8 tile",
          [&](auto& out) {
              for (std::size_t i = 0; i < 8; ++i) {
                  for (std::size_t j = 0; j < 8; ++j)
                      out.c[i * n + j] = good.c[j * n + i];
              }
          }},
         {"two rows exchanged",
          [&](auto& out) { std::swap_ranges(out.c.begin(), out.c.begin() + in.n, out.c.begin() + in.n); }},
         {"a stale tile of an earlier product",
          [&](auto& out) {
              SgemmInputs earlier = in;
              for (float& x : earlier.b)
                  x = -x;
              const SgemmOutputs old = sgemm_on_cpu(earlier);
              for (std::size_t j = 128; j < n; ++j)
                  out.c[149 * n + j] = old.c[149 * n + j];
          }},
         {"one input rounded to bf16", [&](auto& out) { out = sgemm_on_cpu(rounded); }},
         {"both inputs rounded to bf16",
          [&](auto& out) {
              auto both = rounded;
              both.b = to_bf16(in.b);
              out = sgemm_on_cpu(both);
          }},
         {"inputs cut to the 10 bits of TF32",
          [&](auto& out) {
              out = sgemm_on_cpu(with_a([](float x) { return float_of(bits_of(x) & 0xffffe000); }));
          }},
         {"not a number in one element", [](auto& out) { out.c[5] = std::nanf(""); }},
         {"writes beyond the end", [](auto& out) { out.c[out.c.size() - kGuard] = 1; }},
         {"blocks that did not report", [](auto& out) { out.flag.blocks = 3; }},
         {"a flag that was not set", [](auto& out) {
              out.flag = {4, 0};
          }}});
    // One bit of one element, down to the tolerance.
    for (const std::size_t i : {std::size_t{0}, 77 * n + 5, static_cast<std::size_t>(in.m) * n - 1}) {
        for (int bit = 12; bit < 32; ++bit) {
            SgemmOutputs out = good;
            out.c[i] = flipped(out.c[i], bit);
            const double change = std::fabs(static_cast<double>(out.c[i]) - static_cast<double>(good.c[i]));
            // Twice the bound for these sizes; smaller elements have smaller bits.
            if (change >= 1e-3) CHECK_MESSAGE(red(sgemm_check(in, out, "CPU")), bit);
        }
    }
}

TEST_CASE("cmp.sgemm: every size is right, aligned or not, and at every edge") {
    // Of each dimension: one, around a group of four, around the depth of a slice, around a tile.
    for (const int m : {1, 5, 128, 129}) {
        for (const int n : {1, 3, 4, 8, 127, 132}) {
            for (const int k : {1, 3, 4, 15, 16, 17, 20, 36}) {
                const SgemmInputs in = sgemm_inputs(m, n, k);
                const SgemmOutputs out = sgemm_on_cpu(in);
                std::vector<double> product(static_cast<std::size_t>(n));
                std::vector<double> magnitude(product.size());
                std::size_t wrong = 0;
                for (int i = 0; i < m; ++i) {
                    reference_row(in, i, product, magnitude);
                    for (std::size_t j = 0; j < product.size(); ++j) {
                        const auto c =
                            static_cast<double>(out.c[static_cast<std::size_t>(i) * product.size() + j]);
                        if (!(std::fabs(c - product[j]) <= 1e-6 * magnitude[j])) ++wrong;
                    }
                }
                CHECK_MESSAGE(wrong == 0, in.shape());
                CHECK_MESSAGE(is_blank(out.c[in.results()]), in.shape());
            }
        }
    }
}

TEST_CASE("cmp.sgemm: both products must be right") {
    const SgemmInputs odd = sgemm_inputs(5, 7, 9);
    const SgemmInputs aligned = sgemm_aligned_inputs();
    CHECK(aligned.k % kFour == 0);
    CHECK(aligned.n % kFour == 0);
    for (const int size : {aligned.m, aligned.n})
        CHECK(size % kSgemmTile != 0);
    CHECK(aligned.k % kSgemmDepth != 0);
    const auto record = [](const SgemmInputs& in, bool good) {
        SgemmOutputs out = sgemm_on_cpu(in);
        if (!good) out.c[3] = -out.c[3];
        return sgemm_check(in, out, "CPU");
    };
    const Record both = sgemm_both(record(odd, true), record(aligned, true));
    CHECK(green(both));
    CHECK(both.checks.size() == 10);
    CHECK(both.checks.back().name == "aligned_max_element");
    CHECK(both.summary == "5x7x9 within the bounds (CPU), 260x132x68 within the bounds (CPU)");
    CHECK(red(sgemm_both(record(odd, false), record(aligned, true))));
    CHECK(red(sgemm_both(record(odd, true), record(aligned, false))));
    CHECK(red(sgemm_both(record(odd, false), record(aligned, false))));
    const Record skipped = sgemm_both(Record::skip("no_device", "none"), record(aligned, true));
    CHECK(skipped.status == Status::skip);
    CHECK(sgemm_both(record(odd, true), Record::broken("x", "y")).status == Status::error);
}

TEST_CASE("cmp.sgemm: no two threads of a warp that store to one depth meet in a bank, nor groups part") {
    for (int depth = 0; depth < kSgemmDepth; ++depth) {
        std::vector<int> seen(kSgemmTile);
        for (int row = 0; row < kSgemmTile; ++row) {
            const int place = sgemm_place(depth, row);
            REQUIRE((place >= 0 && place < kSgemmTile));
            seen[static_cast<std::size_t>(place)] += 1;
            CHECK(place % kFour == row % kFour);
            CHECK(place / kFour == sgemm_place(depth, row / kFour * kFour) / kFour);
        }
        CHECK(std::count(seen.begin(), seen.end(), 1) == kSgemmTile);
    }
    // The i-th store of each thread of a warp, of A's first slice.
    std::vector<int> banks(kWarp);
    for (int t = 0; t < kWarp; ++t) {
        const int depth = t % (kSgemmDepth / kFour) * kFour;
        const int word = depth * kSgemmTile + sgemm_place(depth, t / (kSgemmDepth / kFour));
        banks[static_cast<std::size_t>(word % kWarp)] += 1;
    }
    CHECK(std::count(banks.begin(), banks.end(), 1) == kWarp);
}

TEST_CASE("the parts that images run pass") {
    CHECK(green(vadd_cpu_part({})));
    CHECK(green(reduce_cpu_part({})));
    CHECK(green(sgemm_cpu_part({})));
}
