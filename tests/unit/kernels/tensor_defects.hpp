#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"
#include "unit/kernels/defects.hpp"

// Products of tensor cores made on the host, right and wrong ones.
namespace cudamatrix::suite::test {

inline constexpr TensorShape kSmall{64, 32, 128};

using Numbers = std::vector<double>;
using Rounding = double (*)(double);

inline double exact(double x) {
    return x;
}
inline double as_f16(double x) {
    return static_cast<double>(f16_value(f16_bits(static_cast<float>(x))));
}
inline double as_bf16(double x) {
    return static_cast<double>(bf16_value(bf16_bits(static_cast<float>(x))));
}

// A test's inputs as numbers, so that they can be spoiled.
template <class Format>
struct Operands {
    TensorShape shape;
    Numbers a;
    Numbers b;

    explicit Operands(const TensorInputs<Format>& in) : shape(in.shape), a(in.a.size()), b(in.b.size()) {
        std::transform(in.a.begin(), in.a.end(), a.begin(), Format::value);
        std::transform(in.b.begin(), in.b.end(), b.begin(), Format::value);
    }
    double& a_at(int row, int depth) {
        return a[tensor_size(row, shape.k) + static_cast<std::size_t>(depth)];
    }
    double& b_at(int depth, int col) {
        return b[tensor_size(depth, shape.n) + static_cast<std::size_t>(col)];
    }

    Operands rounded(Rounding round) const {
        Operands other = *this;
        std::transform(a.begin(), a.end(), other.a.begin(), round);
        std::transform(b.begin(), b.end(), other.b.begin(), round);
        return other;
    }
    Operands without(int from, int to) const {
        Operands other = *this;
        for (int row = 0; row < shape.m; ++row) {
            for (int depth = from; depth < to; ++depth)
                other.a_at(row, depth) = 0;
        }
        return other;
    }
    // Both operands' slice of K at `from` as it was one step before: multiplied before it was loaded.
    Operands stale_slice(int from) const {
        Operands other = *this;
        for (int depth = from; depth < from + Format::kK; ++depth) {
            for (int row = 0; row < shape.m; ++row)
                other.a_at(row, depth) = other.a_at(row, depth - Format::kK);
            for (int col = 0; col < shape.n; ++col)
                other.b_at(depth, col) = other.b_at(depth - Format::kK, col);
        }
        return other;
    }
    // The first tile of B read column by column, though it lies row by row.
    Operands wrong_order() const {
        const Operands old = *this;
        Operands other = *this;
        for (int i = 0; i < Format::kK * Format::kN; ++i) {
            const std::size_t from = tensor_size(i / Format::kN, shape.n) + std::size_t(i % Format::kN);
            other.b_at(i % Format::kK, i / Format::kK) = old.b[from];
        }
        return other;
    }
    // Each buffer where the other belongs.
    Operands swapped() const {
        Operands other = *this;
        for (std::size_t i = 0; i < a.size(); ++i)
            other.a[i] = b[i % b.size()];
        for (std::size_t i = 0; i < b.size(); ++i)
            other.b[i] = a[i % a.size()];
        return other;
    }
};

// C, each partial sum of four products rounded by `round`, and at the end by `store`.
template <class Format>
TensorOutputs<Format> product(const Operands<Format>& in, Rounding round = exact, Rounding store = exact) {
    TensorOutputs<Format> out = tensor_blank<Format>(in.shape);
    const auto k = std::size_t(in.shape.k);
    const auto n = std::size_t(in.shape.n);
    for (std::size_t i = 0; i < tensor_size(in.shape.m, in.shape.n); ++i) {
        double sum = 0;
        for (std::size_t d = 0; d < k; ++d) {
            sum += in.a[i / n * k + d] * in.b[d * n + i % n];
            if (d % 4 == 3) sum = round(sum);
        }
        out.c[i] = static_cast<typename Format::Sum>(store(sum));
    }
    out.flag = {unsigned(tensor_blocks<Format>(in.shape)), 900};
    return out;
}

template <class Format>
using Defects = std::vector<Defect<TensorOutputs<Format>>>;

// What can go wrong with any of them.
template <class Format>
Defects<Format> defects_of_any(const Operands<Format>& in, const TensorOutputs<Format>& good) {
    using Outputs = TensorOutputs<Format>;
    using Sum = typename Format::Sum;
    constexpr int kK = Format::kK;
    const auto n = std::size_t(in.shape.n);
    const std::size_t size = tensor_size(in.shape.m, in.shape.n);
    const auto blank = tensor_blank<Format>(in.shape);
    const auto from = [](const Operands<Format>& other) {
        return [=](Outputs& out) { out = product(other); };
    };
    const auto exchange_tiles = [=](Outputs& out, std::size_t first, std::size_t second) {
        for (std::size_t row = 0; row < std::size_t(Format::kM); ++row)
            std::swap_ranges(out.c.begin() + long(first + row * n),
                             out.c.begin() + long(first + row * n) + Format::kN,
                             out.c.begin() + long(second + row * n));
    };
    Operands<Format> earlier = in;
    for (double& x : earlier.b)
        x = -x - 1;
    const auto old = product(earlier);
    return {
        {"no-op kernel", [=](auto& out) { out = blank; }},
        {"no code for this GPU: nothing reports, nothing is written",
         [=](auto& out) {
             out = {blank.c, {0, 0}};
         }},
        {"reports but writes nothing", [=](auto& out) { out.c = blank.c; }},
        {"reports but writes zeros", [=](auto& out) { std::fill_n(out.c.begin(), size, Sum{0}); }},
        {"right numbers from elsewhere: nothing reports", [](auto& out) { out.flag = {}; }},
        {"one block did not come to its end", [](auto& out) { out.flag.blocks -= 1; }},
        {"one block ran twice", [](auto& out) { out.flag.blocks += 1; }},
        {"a flag without the code's target", [](auto& out) { out.flag.arch = 0; }},
        {"the first block of K dropped", from(in.without(0, kK))},
        {"a block of K dropped", from(in.without(3 * kK, 4 * kK))},
        {"the last block of K dropped", from(in.without(in.shape.k - kK, in.shape.k))},
        {"the last column of A left out", from(in.without(in.shape.k - 1, in.shape.k))},
        {"a slice multiplied before it was loaded", from(in.stale_slice(2 * kK))},
        {"a tile of B read in the wrong order", from(in.wrong_order())},
        {"A and B swapped", from(in.swapped())},
        {"a transposed tile",
         [=](auto& out) {
             const std::size_t rows = std::min(std::size_t(Format::kN), size / n);
             for (std::size_t i = 0; i < std::size_t(Format::kM); ++i) {
                 for (std::size_t j = 0; j < rows; ++j)
                     out.c[i * n + j] = good.c[j * n + i];
             }
         }},
        {"two tiles of a block exchanged", [=](auto& out) { exchange_tiles(out, 0, Format::kN); }},
        {"stale buffer: all of an earlier product", [=](auto& out) { out.c = old.c; }},
        {"stale buffer: one tile of an earlier product",
         [=](auto& out) {
             for (std::size_t row = 0; row < std::size_t(Format::kM); ++row)
                 std::copy_n(old.c.begin() + long(row * n), Format::kN, out.c.begin() + long(row * n));
         }},
        {"stale buffer: one element of an earlier product",
         [=](auto& out) { out.c[size / 2] = old.c[size / 2]; }},
        {"the last element not written", [=](auto& out) { out.c[size - 1] = blank.c[0]; }},
        {"writes beyond the end", [=](auto& out) { out.c[size] = good.c[0]; }},
        {"writes far beyond the end", [](auto& out) { out.c.back() = 0; }},
        {"output cut short", [=](auto& out) { out.c.resize(size / 2); }},
        {"output without a guard", [=](auto& out) { out.c.resize(size); }},
    };
}

// Any one bit of some elements, down to twice their bound; of integers each bit.
template <class Format>
void check_flipped_bits(Record (*check)(const TensorInputs<Format>&, const TensorOutputs<Format>&,
                                        const char*),
                        const TensorInputs<Format>& in, const TensorOutputs<Format>& good, double eps) {
    using Sum = typename Format::Sum;
    const std::vector<TensorSum> reference = tensor_reference(in);
    const std::size_t size = reference.size();
    int flips = 0;
    for (const std::size_t i : {std::size_t{0}, size / 2 + 5, size - 1}) {
        for (std::size_t bit = 0; bit < 8 * sizeof(Sum); ++bit) {
            TensorOutputs<Format> out = good;
            unsigned char bytes[sizeof(Sum)];
            std::memcpy(bytes, &out.c[i], sizeof bytes);
            bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1U << bit % 8));
            std::memcpy(&out.c[i], bytes, sizeof bytes);
            const double change = std::fabs(static_cast<double>(out.c[i]) - static_cast<double>(good.c[i]));
            if (change <= 2 * 8 * eps * reference[i].magnitude) continue;
            ++flips;
            CHECK_MESSAGE(red(check(in, out, "CPU")), "element " << i << ", bit " << bit);
        }
    }
    CHECK(flips > 30);
}

// All of it, with the defects of the test's own.
template <class Format>
void check_tensor(Record (*check)(const TensorInputs<Format>&, const TensorOutputs<Format>&, const char*),
                  const TensorInputs<Format>& in, Defects<Format> own,
                  double eps = static_cast<double>(std::numeric_limits<typename Format::Sum>::epsilon())) {
    const Operands<Format> numbers(in);
    const auto good = product(numbers);
    auto defects = defects_of_any(numbers, good);
    CHECK(defects.size() >= 20);
    defects.insert(defects.end(), own.begin(), own.end());
    check_defects<TensorInputs<Format>, TensorOutputs<Format>>(check, in, good, defects);
    check_flipped_bits(check, in, good, eps);
    auto silent = good;
    silent.flag = {};
    CHECK(check(in, silent, "CPU").summary.rfind("ran_flag", 0) == 0);
}

// The size that images run: whole tiles, and K long enough for errors to add up.
template <class Format>
void check_size(const TensorInputs<Format>& in) {
    CHECK(in.shape.m % (kTensorSide * Format::kM) == 0);
    CHECK(in.shape.n % (kTensorSide * Format::kN) == 0);
    CHECK(in.shape.k % Format::kK == 0);
    CHECK(in.shape.k >= 512);
    CHECK(in.shape.m != in.shape.n);
    CHECK(in.a.size() == tensor_size(in.shape.m, in.shape.k));
    CHECK(in.b.size() == tensor_size(in.shape.k, in.shape.n));
}

// Towards zero, as tensor cores may cut their sums.
inline double cut_to_float(double x) {
    const auto nearest = static_cast<float>(x);
    const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
    return static_cast<double>(beyond ? std::nextafter(nearest, 0.0F) : nearest);
}

// Inputs and sums of float64 that a kernel of `Format` would get wrong.
template <class Format>
Defect<TensorOutputs<Format>> inputs_as(const char* name, const Operands<Format>& in, Rounding round) {
    return {name, [=](auto& out) { out = product(in.rounded(round)); }};
}
template <class Format>
Defect<TensorOutputs<Format>> sums_as(const char* name, const Operands<Format>& in, Rounding round) {
    return {name, [=](auto& out) { out = product(in, round); }};
}
template <class Format>
Defect<TensorOutputs<Format>> stored_as(const char* name, const Operands<Format>& in, Rounding store) {
    return {name, [=](auto& out) { out = product(in, exact, store); }};
}
template <class Format>
Defect<TensorOutputs<Format>> not_a_number() {
    return {"not a number in one element",
            [](auto& out) { out.c[5] = std::numeric_limits<typename Format::Sum>::quiet_NaN(); }};
}
template <class Format>
Defect<TensorOutputs<Format>> infinite() {
    return {"one element is infinite",
            [](auto& out) { out.c[7] = std::numeric_limits<typename Format::Sum>::infinity(); }};
}

}  // namespace cudamatrix::suite::test
