// The checker of tc.nvfp4: red on every planted defect, green on right products made otherwise.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "kernels/tensor/nvfp4.hpp"
#include "unit/kernels/tensor_defects.hpp"

using namespace cudamatrix::suite;
using namespace cudamatrix::suite::test;

namespace {

constexpr TensorShape kFewTiles{64, 32, 256};
using Bytes = std::vector<std::uint8_t>;

// The product of what a kernel with a mistake would multiply.
Defect<TensorOutputs<TensorNvfp4>> spoiled(const char* name, const Nvfp4Inputs& in,
                                           const std::function<void(Nvfp4Inputs&)>& spoil) {
    Nvfp4Inputs other = in;
    spoil(other);
    const Operands<TensorNvfp4> numbers(nvfp4_numbers(other));
    return {name, [=](auto& out) { out = product(numbers); }};
}

void swap_nibbles(Bytes& bytes, std::size_t from, std::size_t n) {
    for (std::size_t i = from; i < from + n; ++i)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] << 4 | bytes[i] >> 4);
}

// Of the four scales of one step of a line.
void each_step(Bytes& scales, const std::function<void(std::uint8_t*)>& change) {
    for (std::size_t i = 0; i < scales.size(); i += kNvfp4Chunks)
        change(&scales[i]);
}

Defects<TensorNvfp4> wrong_numbers(const Nvfp4Inputs& in) {
    const std::size_t step = TensorNvfp4::kK / 2;  // bytes
    return {
        spoiled("nibbles of A swapped", in, [](auto& x) { swap_nibbles(x.a, 0, x.a.size()); }),
        spoiled("nibbles of B swapped", in, [](auto& x) { swap_nibbles(x.b, 0, x.b.size()); }),
        spoiled("nibbles of one step of one row swapped", in, [=](auto& x) { swap_nibbles(x.a, 0, step); }),
        spoiled("nibbles of one byte swapped", in, [](auto& x) { swap_nibbles(x.b, 5, 1); }),
        spoiled("bytes of each word of A in the other order", in,
                [](auto& x) {
                    for (std::size_t i = 0; i < x.a.size(); i += 4)
                        std::reverse(x.a.begin() + long(i), x.a.begin() + long(i) + 4);
                }),
        spoiled("the halves of a step of A exchanged", in,
                [=](auto& x) {
                    for (std::size_t i = 0; i < x.a.size(); i += step)
                        std::rotate(x.a.begin() + long(i), x.a.begin() + long(i + step / 2),
                                    x.a.begin() + long(i + step));
                }),
        spoiled("one element of A with the other sign", in, [](auto& x) { x.a[3] ^= 0x80; }),
        spoiled("no signs", in,
                [](auto& x) {
                    for (auto& byte : x.a)
                        byte &= 0x77;
                }),
        spoiled("the lowest bit of the numbers lost", in,
                [](auto& x) {
                    for (auto& byte : x.b)
                        byte &= 0xee;
                }),
    };
}

Defects<TensorNvfp4> wrong_scales(const Nvfp4Inputs& in) {
    const std::size_t line = std::size_t(in.shape.k / kNvfp4Block);
    const auto one = std::uint8_t{0x38};  // 1.0
    return {
        spoiled("no scales of A", in, [=](auto& x) { std::fill(x.a_scales.begin(), x.a_scales.end(), one); }),
        spoiled("no scales of B", in, [=](auto& x) { std::fill(x.b_scales.begin(), x.b_scales.end(), one); }),
        spoiled("scales of A and B exchanged", in,
                [](auto& x) {
                    for (std::size_t i = 0; i < x.b_scales.size(); ++i)
                        std::swap(x.a_scales[i], x.b_scales[i]);
                }),
        spoiled("the first scale of a step for all of it", in,
                [](auto& x) { each_step(x.a_scales, [](auto* s) { s[1] = s[2] = s[3] = s[0]; }); }),
        spoiled("a scale for each 32", in,
                [](auto& x) {
                    each_step(x.b_scales, [](auto* s) {
                        s[1] = s[0];
                        s[3] = s[2];
                    });
                }),
        spoiled("scales of a step in the other order", in,
                [](auto& x) { each_step(x.a_scales, [](auto* s) { std::reverse(s, s + kNvfp4Chunks); }); }),
        spoiled("scales of the row 8 below", in,
                [=](auto& x) {
                    for (int tile = 0; tile < x.shape.m; tile += TensorNvfp4::kM) {
                        const auto begin = x.a_scales.begin() + long(std::size_t(tile) * line);
                        std::rotate(begin, begin + long(8 * line), begin + long(16 * line));
                    }
                }),
        spoiled("scales of the next row", in,
                [=](auto& x) {
                    std::rotate(x.a_scales.begin(), x.a_scales.begin() + long(line), x.a_scales.end());
                }),
        spoiled("scales of the next column", in,
                [=](auto& x) {
                    std::rotate(x.b_scales.begin(), x.b_scales.begin() + long(line), x.b_scales.end());
                }),
        spoiled("scales of the step before", in,
                [](auto& x) {
                    std::rotate(x.b_scales.begin(), x.b_scales.end() - kNvfp4Chunks, x.b_scales.end());
                }),
        spoiled("the scales of lanes that have wrong ones", in,
                [](auto& x) { std::fill_n(x.a_scales.begin(), kNvfp4Chunks, std::uint8_t{0x7e}); }),
        spoiled("one scale off by its last bit", in, [](auto& x) { x.a_scales[7] ^= 1; }),
        spoiled("scales as powers of two", in,
                [](auto& x) {
                    for (auto& scale : x.a_scales)
                        scale &= 0x78;
                }),
        spoiled("scales twice as large", in,
                [](auto& x) {
                    for (auto& scale : x.b_scales)
                        scale = static_cast<std::uint8_t>(scale + 8);
                }),
    };
}

}  // namespace

TEST_CASE("tc.nvfp4: green as it is, red with each planted defect") {
    const Nvfp4Inputs in = nvfp4_inputs(kFewTiles);
    const auto numbers = nvfp4_numbers(in);
    const Operands<TensorNvfp4> operands(numbers);
    Defects<TensorNvfp4> own = {sums_as("sums in bfloat16", operands, as_bf16),
                                sums_as("sums in float16", operands, as_f16),
                                stored_as("results rounded to float16", operands, as_f16),
                                not_a_number<TensorNvfp4>(), infinite<TensorNvfp4>()};
    for (const auto& more : {wrong_numbers(in), wrong_scales(in)})
        own.insert(own.end(), more.begin(), more.end());
    CHECK(own.size() > 25);
    check_tensor<TensorNvfp4>(nvfp4_check, numbers, own);
    check_size(nvfp4_numbers(nvfp4_inputs()));
}

TEST_CASE("tc.nvfp4: each number and each scale of a range is multiplied") {
    const Nvfp4Inputs in = nvfp4_inputs();
    CHECK(in.shape.k % (4 * TensorNvfp4::kK) == TensorNvfp4::kK);  // one selector more often than the rest
    for (const Bytes* bytes : {&in.a, &in.b})
        CHECK(std::set<int>(bytes->begin(), bytes->end()).size() == 256);
    for (const Bytes* scales : {&in.a_scales, &in.b_scales}) {
        CHECK(std::set<int>(scales->begin(), scales->end()).size() == 32);
        CHECK(std::all_of(scales->begin(), scales->end(), [](std::uint8_t scale) {
            return ue4m3_value(scale) >= 0.25F && ue4m3_value(scale) <= 3.75F;
        }));
    }
    CHECK(in.a.size() == 96 * 576 / 2);
    CHECK(in.b.size() == 64 * 576 / 2);
    CHECK(in.a_scales.size() == 96 * 36);
    CHECK(in.b_scales.size() == 64 * 36);
}

TEST_CASE("tc.nvfp4: numbers are what their bits say") {
    const float sizes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (unsigned bits = 0; bits < 8; ++bits) {
        CHECK(e2m1_value(bits) == sizes[bits]);
        CHECK(e2m1_value(bits | 8) == -sizes[bits]);
    }
    CHECK(ue4m3_value(0x38) == 1);
    CHECK(ue4m3_value(0x7e) == 448);
    CHECK(ue4m3_value(0x01) == 0x1p-9F);
    Nvfp4Inputs in;
    in.shape = {1, 2, 32};
    in.a.assign(16, 0);
    in.a[0] = 0x21;  // 0.5, then 1
    in.a[15] = 0xf0;
    in.a_scales = {0x38, 0x40};
    in.b.assign(32, 0x22);
    in.b_scales = {0x38, 0x38, 0x44, 0x48};
    const auto numbers = nvfp4_numbers(in);
    CHECK(numbers.a[0] == 0.5F);
    CHECK(numbers.a[1] == 1);
    CHECK(numbers.a[30] == 0);
    CHECK(numbers.a[31] == -12);
    CHECK(numbers.b[0] == 1);
    CHECK(numbers.b[1] == 3);
    CHECK(numbers.b[62] == 1);
    CHECK(numbers.b[63] == 4);
}

TEST_CASE("tc.nvfp4: sums that are cut to float32 behind each instruction are within the bounds") {
    const Operands<TensorNvfp4> in(nvfp4_numbers(nvfp4_inputs()));
    auto out = product(in, cut_to_float);
    CHECK(green(nvfp4_check(nvfp4_numbers(nvfp4_inputs()), out, "CPU")));
}
