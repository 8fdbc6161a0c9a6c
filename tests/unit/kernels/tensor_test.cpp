// The checkers of tensor cores' products: red on every planted defect, green on right products made
// otherwise.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "kernels/tensor/bf16.hpp"
#include "kernels/tensor/f16.hpp"
#include "kernels/tensor/f64.hpp"
#include "kernels/tensor/fp8.hpp"
#include "kernels/tensor/s8.hpp"
#include "kernels/tensor/tcgen05.hpp"
#include "kernels/tensor/tf32.hpp"
#include "kernels/tensor/wgmma.hpp"
#include "unit/kernels/tensor_defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

double as_f32(double x) {
    return static_cast<double>(static_cast<float>(x));
}
double as_tf32(double x) {
    return static_cast<double>(round_to_tf32(static_cast<float>(x)));
}
double as_e4m3(double x) {
    return TensorE4m3::value(fp8_bits(static_cast<float>(x), kE4m3));
}
double as_e5m2(double x) {
    return TensorE5m2::value(fp8_bits(static_cast<float>(x), kE5m2));
}
double saturated(double x, double most) {
    return std::clamp(x, -most - 1, most);
}

}  // namespace

TEST_CASE("tc.f16: green as it is, red with each planted defect") {
    const auto in = f16_inputs(kSmall);
    const Operands<TensorF16> numbers(in);
    check_tensor<TensorF16>(
        f16_check, in,
        {inputs_as("inputs as bfloat16", numbers, as_bf16), sums_as("sums in float16", numbers, as_f16),
         stored_as("results rounded to float16", numbers, as_f16),
         inputs_as("the inputs' bits taken for those of bfloat16", numbers,
                   [](double x) { return static_cast<double>(bf16_value(f16_bits(static_cast<float>(x)))); }),
         not_a_number<TensorF16>(), infinite<TensorF16>()});
    check_size(f16_inputs());
}

TEST_CASE("tc.s8: green as it is, red with each planted defect") {
    const auto in = s8_inputs(kSmall);
    const Operands<TensorS8> numbers(in);
    check_tensor<TensorS8>(
        s8_check, in,
        {stored_as("sums that stay within int8", numbers, [](double x) { return saturated(x, 127); }),
         stored_as("sums that stay within int16", numbers, [](double x) { return saturated(x, 32767); }),
         sums_as("partial sums that stay within int16", numbers,
                 [](double x) { return saturated(x, 32767); }),
         stored_as("sums modulo 2^16", numbers,
                   [](double x) { return double(static_cast<std::int16_t>(static_cast<std::int32_t>(x))); }),
         inputs_as("inputs without a sign", numbers, [](double x) { return x < 0 ? x + 256 : x; }),
         inputs_as("inputs cut to 7 bits", numbers, [](double x) { return std::floor(x / 2) * 2; }),
         inputs_as("-128 taken for -127", numbers, [](double x) { return std::max(x, -127.0); }),
         sums_as("sums in float16", numbers, as_f16),
         {"a sum off by one", [](auto& out) { out.c[100] += 1; }}});
    check_size(s8_inputs());
}

TEST_CASE("tc.s8: all 256 values are multiplied") {
    const auto in = s8_inputs();
    CHECK(std::set<int>(in.a.begin(), in.a.end()).size() == 256);
    CHECK(std::set<int>(in.b.begin(), in.b.end()).size() == 256);
}

TEST_CASE("tc.bf16: green as it is, red with each planted defect") {
    const auto in = bf16_inputs(kSmall);
    const Operands<TensorBf16> numbers(in);
    check_tensor<TensorBf16>(
        bf16_check, in,
        {inputs_as("inputs as float16", numbers, as_f16), sums_as("sums in bfloat16", numbers, as_bf16),
         stored_as("results rounded to bfloat16", numbers, as_bf16),
         stored_as("results rounded to float16", numbers, as_f16),
         inputs_as("the inputs' bits taken for those of float16", numbers,
                   [](double x) { return static_cast<double>(f16_value(bf16_bits(static_cast<float>(x)))); }),
         not_a_number<TensorBf16>(), infinite<TensorBf16>()});
    check_size(bf16_inputs());
}

TEST_CASE("tc.tf32: green as it is, red with each planted defect") {
    const auto in = tf32_inputs(kSmall);
    const Operands<TensorTf32> numbers(in);
    check_tensor<TensorTf32>(
        tf32_check, in,
        {inputs_as("inputs as float16", numbers, as_f16), inputs_as("inputs as bfloat16", numbers, as_bf16),
         inputs_as("inputs with one bit less", numbers,
                   [](double x) { return static_cast<double>(rounded_mantissa(static_cast<float>(x), 14)); }),
         sums_as("sums in TF32", numbers, as_tf32), stored_as("results rounded to TF32", numbers, as_tf32),
         not_a_number<TensorTf32>(), infinite<TensorTf32>()});
    check_size(tf32_inputs());
}

TEST_CASE("tc.f64: green as it is, red with each planted defect") {
    const auto in = f64_inputs(kSmall);
    const Operands<TensorF64> numbers(in);
    check_tensor<TensorF64>(
        f64_check, in,
        {inputs_as("inputs as float32", numbers, as_f32), inputs_as("inputs as TF32", numbers, as_tf32),
         sums_as("sums in float32", numbers, as_f32),
         stored_as("results rounded to float32", numbers, as_f32), not_a_number<TensorF64>(),
         infinite<TensorF64>()});
    check_size(f64_inputs());
}

TEST_CASE("tc.fp8: green as it is, red with each planted defect") {
    const auto e4m3 = e4m3_inputs(kSmall);
    const Operands<TensorE4m3> four(e4m3);
    check_tensor<TensorE4m3>(
        e4m3_check, e4m3,
        {inputs_as("inputs as E5M2", four, as_e5m2),
         inputs_as("the inputs' bits taken for those of E5M2", four,
                   [](double x) { return TensorE5m2::value(fp8_bits(static_cast<float>(x), kE4m3)); }),
         sums_as("sums in bfloat16", four, as_bf16), stored_as("results rounded to E4M3", four, as_e4m3),
         not_a_number<TensorE4m3>(), infinite<TensorE4m3>()},
        kFp8SumEps);
    check_size(e4m3_inputs());
    const auto e5m2 = e5m2_inputs(kSmall);
    const Operands<TensorE5m2> five(e5m2);
    check_tensor<TensorE5m2>(
        e5m2_check, e5m2,
        {inputs_as("inputs as E4M3", five, as_e4m3),
         inputs_as("the inputs' bits taken for those of E4M3", five,
                   [](double x) { return TensorE4m3::value(fp8_bits(static_cast<float>(x), kE5m2)); }),
         sums_as("sums in bfloat16", five, as_bf16), stored_as("results rounded to E5M2", five, as_e5m2),
         not_a_number<TensorE5m2>(), infinite<TensorE5m2>()},
        kFp8SumEps);
    check_size(e5m2_inputs());
}

TEST_CASE("tc.wgmma: green as it is, red with each planted defect") {
    // Tiles that stick out along M, N and K, for both blocks of a cluster.
    const auto in = wgmma_inputs({136, 264, 72});
    const Operands<TensorWgmma> numbers(in);
    const auto n = std::size_t(in.shape.n);
    Operands<TensorWgmma> other_part = numbers;  // one of the copies of B brought what another one did
    for (int depth = 0; depth < in.shape.k; ++depth) {
        for (int column = 64; column < 128; ++column)
            other_part.b_at(depth, column) = other_part.b_at(depth, column - 64);
    }
    Operands<TensorWgmma> unswizzled = numbers;  // 16 bytes of A where another row's are
    for (int column = 8; column < 16; ++column)
        std::swap(unswizzled.a_at(1, column), unswizzled.a_at(1, column - 8));
    // What the second block of the cluster did, with another C's.
    const auto second_block = [n](auto& out, const auto& other) {
        std::copy(other.c.begin() + long(TensorWgmma::kM * n), other.c.end(),
                  out.c.begin() + long(TensorWgmma::kM * n));
    };
    Operands<TensorWgmma> half_of_b = numbers;
    for (int depth = 0; depth < in.shape.k; ++depth) {
        for (int column = 0; column < TensorWgmma::kN / kWgmmaBlocks; ++column)
            half_of_b.b_at(depth, column) = 0;
    }
    const auto tile = [n](auto& out, auto f) {
        for (std::size_t i = 0; i < std::size_t(TensorWgmma::kM); ++i)
            std::transform(out.c.begin() + long(i * n), out.c.begin() + long(i * n) + TensorWgmma::kN,
                           out.c.begin() + long(i * n), f);
    };
    const float blank = tensor_blank<TensorWgmma>(in.shape).c[0];
    check_tensor<TensorWgmma>(
        wgmma_check, in,
        {inputs_as("inputs as float16", numbers, as_f16),
         sums_as("sums in bfloat16", numbers, as_bf16),
         stored_as("results rounded to bfloat16", numbers, as_bf16),
         {"the second part of B is the first", [=](auto& out) { out = product(other_part); }},
         {"the swizzle of one row is another's", [=](auto& out) { out = product(unswizzled); }},
         {"the last stage, which sticks out, dropped",
          [=](auto& out) { out = product(numbers.without(64, 72)); }},
         {"one block's half of B does not come to the other block",
          [=](auto& out) { second_block(out, product(half_of_b)); }},
         {"the second block has the first one's rows",
          [=](auto& out) {
              std::copy_n(out.c.begin(), long(8 * n), out.c.begin() + long(TensorWgmma::kM * n));
          }},
         {"the second group of the block has the first one's rows",
          [=](auto& out) { std::copy_n(out.c.begin(), long(64 * n), out.c.begin() + long(64 * n)); }},
         {"a tile that the walk leaves out", [=](auto& out) { tile(out, [=](float) { return blank; }); }},
         {"a tile that the walk does twice", [](auto& out) { out.flag.blocks += kWgmmaBlocks; }},
         {"a tile whose sums begin with those of the tile before",
          [=](auto& out) { tile(out, [](float x) { return 2 * x; }); }},
         not_a_number<TensorWgmma>(),
         infinite<TensorWgmma>()});
}

TEST_CASE("tc.wgmma: what is multiplied sticks out, and the ring goes on from tile to tile") {
    const auto real = wgmma_inputs().shape;
    CHECK(real.m % TensorWgmma::kM != 0);
    CHECK(real.n % TensorWgmma::kN != 0);
    CHECK(real.k % kWgmmaDepth != 0);
    CHECK(real.n % 8 == 0);  // TMA: rows of a multiple of 16 bytes
    CHECK(real.k % 8 == 0);
    const WgmmaTiles tiles = wgmma_tiles(real);
    CHECK(tiles.rows > 1);
    CHECK(tiles.columns > 1);
    CHECK(tiles.count() >= 2 * kWgmmaClusters);  // each walks
    const int steps = (real.k + kWgmmaDepth - 1) / kWgmmaDepth;
    CHECK(steps % kWgmmaStages != 0);                              // the second tile begins in the ring
    CHECK(tiles.count() / kWgmmaClusters * steps > kWgmmaStages);  // each stage is used again
    CHECK(tensor_blocks<TensorWgmma>(real) == 8);
    CHECK(tensor_blocks<TensorWgmma>({1, 1, 64}) == 2);
    CHECK(tensor_blocks<TensorWgmma>({256, 256, 64}) == 2);
    CHECK(tensor_blocks<TensorWgmma>({257, 256, 64}) == 4);
    CHECK(tensor_blocks<TensorWgmma>({256, 257, 64}) == 4);
}

TEST_CASE("tc.wgmma: the walk comes to each tile once") {
    for (const TensorShape& shape :
         {kWgmmaShape, TensorShape{1, 1, 8}, TensorShape{256, 5000, 8}, TensorShape{5000, 256, 8},
          TensorShape{2048, 777, 8}, TensorShape{2049, 777, 8}, TensorShape{4500, 3000, 8}}) {
        CAPTURE(shape.m);
        CAPTURE(shape.n);
        const WgmmaTiles tiles = wgmma_tiles(shape);
        std::set<std::pair<int, int>> found;
        for (int number = 0; number < tiles.count(); ++number) {
            for (int rank = 0; rank < kWgmmaBlocks; ++rank) {
                const WgmmaTile tile = wgmma_tile(tiles, number, rank);
                CHECK(tile.row / TensorWgmma::kM % kWgmmaBlocks == rank);
                CHECK(tile.column < shape.n);
                CHECK(tile.row - rank * TensorWgmma::kM < shape.m);
                CHECK(tile.row % TensorWgmma::kM == 0);
                CHECK(tile.column % TensorWgmma::kN == 0);
                found.emplace(tile.row, tile.column);
            }
        }
        CHECK(int(found.size()) == tensor_blocks<TensorWgmma>(shape));
    }
    // What runs at once is near each other.
    const WgmmaTiles large = wgmma_tiles({8192, 8192, 8192});
    std::set<int> rows;
    std::set<int> columns;
    for (int number = 0; number < 66; ++number) {
        rows.insert(wgmma_tile(large, number, 0).row);
        columns.insert(wgmma_tile(large, number, 0).column);
    }
    CHECK(rows.size() == 8);
    CHECK(columns.size() == 9);
}

TEST_CASE("tc.tcgen05: green as it is, red with each planted defect") {
    const auto in = tcgen05_inputs({136, 136, 88});
    const Operands<TensorTcgen05> numbers(in);
    check_tensor<TensorTcgen05>(tcgen05_check, in,
                                {inputs_as("inputs as float16", numbers, as_f16),
                                 sums_as("sums in bfloat16", numbers, as_bf16),
                                 stored_as("results rounded to bfloat16", numbers, as_bf16),
                                 {"the first product is added to what was there",
                                  [=](auto& out) {
                                      for (float& x : out.c)
                                          x += 1;
                                  }},
                                 {"lanes of tensor memory read by the wrong warp",
                                  [n = std::size_t(in.shape.n)](auto& out) {
                                      std::swap_ranges(out.c.begin(), out.c.begin() + long(32 * n),
                                                       out.c.begin() + long(32 * n));
                                  }},
                                 {"the last stage, which sticks out, dropped",
                                  [=](auto& out) { out = product(numbers.without(64, 88)); }},
                                 not_a_number<TensorTcgen05>(),
                                 infinite<TensorTcgen05>()});
    const auto real = tcgen05_inputs();
    CHECK(real.shape.m % TensorTcgen05::kM != 0);
    CHECK(real.shape.n % TensorTcgen05::kN != 0);
    CHECK(real.shape.k % kTcgen05Depth != 0);
    CHECK(real.shape.k > 2 * kTcgen05Stages * kTcgen05Depth);  // each stage is used again
    CHECK(real.shape.n % 8 == 0);                              // TMA: rows of a multiple of 16 bytes
    CHECK(real.shape.k % 8 == 0);
    CHECK(tensor_blocks<TensorTcgen05>(real.shape) == 4);
    CHECK(tensor_blocks<TensorTcgen05>({129, 128, 64}) == 2);
}

TEST_CASE("tc.fp8: sums of 14 bits that are cut are within the bounds") {
    const auto cut = [](double x) {
        int exponent = 0;
        const double fraction = std::frexp(x, &exponent);
        return std::ldexp(std::trunc(std::ldexp(fraction, 14)), exponent - 14);
    };
    const auto e4m3 = e4m3_inputs();
    CHECK(green(e4m3_check(e4m3, product(Operands<TensorE4m3>(e4m3), cut), "CPU")));
    const auto e5m2 = e5m2_inputs();
    CHECK(green(e5m2_check(e5m2, product(Operands<TensorE5m2>(e5m2), cut), "CPU")));
}

TEST_CASE("tc.fp8: both formats have to pass") {
    const auto passed = [](const char* name) {
        Record record;
        record.check(name, true);
        return judge(record, "tolerance", "within");
    };
    const auto failed = [](const char* name) {
        Record record;
        record.check(name, false, "no");
        return judge(record, "tolerance", "within");
    };
    const auto both = both_formats(passed("a"), passed("b"));
    CHECK(both.status == Status::pass);
    CHECK(both.summary == "e4m3 and e5m2: within");
    REQUIRE(both.checks.size() == 2);
    CHECK(both.checks[0].name == "e4m3_a");
    CHECK(both.checks[1].name == "e5m2_b");
    const auto first = both_formats(failed("a"), failed("b"));
    CHECK(first.status == Status::fail);
    CHECK(first.summary == "e4m3: a: no");
    const auto second = both_formats(passed("a"), failed("b"));
    CHECK(second.status == Status::fail);
    CHECK(second.summary == "e5m2: b: no");
    CHECK(both_formats(Record::broken("cuda", "no"), passed("b")).status == Status::error);
    CHECK(both_formats(passed("a"), Record::broken("cuda", "no")).status == Status::error);
}

TEST_CASE("tensor cores: sums that are cut instead of rounded are within the bounds") {
    const auto f16 = f16_inputs();
    CHECK(green(f16_check(f16, product(Operands<TensorF16>(f16), cut_to_float), "CPU")));
    const auto bf16 = bf16_inputs();
    CHECK(green(bf16_check(bf16, product(Operands<TensorBf16>(bf16), cut_to_float), "CPU")));
    const auto tf32 = tf32_inputs();
    CHECK(green(tf32_check(tf32, product(Operands<TensorTf32>(tf32), cut_to_float), "CPU")));
}

TEST_CASE("tensor cores: products of the size that images run are within the bounds") {
    const auto s8 = s8_inputs();
    CHECK(green(s8_check(s8, product(Operands<TensorS8>(s8)), "CPU")));
    const auto f64 = f64_inputs();
    CHECK(green(f64_check(f64, product(Operands<TensorF64>(f64)), "CPU")));
}
