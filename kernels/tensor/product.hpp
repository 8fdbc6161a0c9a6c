#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/support/philox.hpp"

/// What the tests of tensor cores share: C = A B from tiles, against a float64 (or exact) product.
///
/// A Format says which numbers a test multiplies:
///   Stored, Sum        elements of A and B, and of C, as they lie in memory
///   kM, kN, kK         the tile of one instruction
///   kId                the test: its seed
///   draw(philox, i, stream)    the i-th element of A (stream 0) or B (stream 1)
///   value(stored)      what an element means
namespace cudamatrix::suite {

inline constexpr int kTensorSide = 2;  ///< tiles of C along each edge of what a block computes: a warp each
inline constexpr int kTensorThreads = kTensorSide * kTensorSide * kWarp;

inline constexpr int kTensorMeasured = 4096;  ///< rows and columns of all three, where the speed is measured

/// Multiples of every format's tiles. They differ, so that no exchange of operands goes unseen.
struct TensorShape {
    int m = 96;
    int n = 64;
    int k = 544;
};

/// All stored row by row.
template <class Format>
struct TensorInputs {
    TensorShape shape;
    std::vector<typename Format::Stored> a;  ///< m x k
    std::vector<typename Format::Stored> b;  ///< k x n
};

template <class Format>
struct TensorOutputs {
    std::vector<typename Format::Sum> c;  ///< m x n, with a guard behind
    RunFlag flag;
};

/// What the kernel gets.
template <class Format>
struct TensorArgs {
    const typename Format::Stored* a;
    const typename Format::Stored* b;
    typename Format::Sum* c;
    TensorShape shape;
    RunFlag* flag;
};

inline std::size_t tensor_size(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

/// Elements of A near 2^30, of B near 2^-30: float16 can hold neither, and a format with more exponents taken
/// for it shows.
inline float beyond_f16(const Philox& philox, std::size_t i, unsigned stream) {
    constexpr auto kFactor = static_cast<float>(1 << 30);
    const float value = philox.uniform(i, stream);
    return stream == 0 ? value * kFactor : value / kFactor;
}

template <class Format>
TensorInputs<Format> tensor_inputs(const TensorShape& shape) {
    const Philox philox(seed_of(Format::kId));
    TensorInputs<Format> in;
    in.shape = shape;
    in.a.resize(tensor_size(shape.m, shape.k));
    in.b.resize(tensor_size(shape.k, shape.n));
    for (std::size_t i = 0; i < in.a.size(); ++i)
        in.a[i] = Format::draw(philox, i, 0);
    for (std::size_t i = 0; i < in.b.size(); ++i)
        in.b[i] = Format::draw(philox, i, 1);
    return in;
}

template <class Format>
int tensor_blocks(const TensorShape& shape) {
    return shape.m / (kTensorSide * Format::kM) * (shape.n / (kTensorSide * Format::kN));
}

/// Tiles of m x n that cover C, also where they stick out.
inline int tensor_tiles(const TensorShape& shape, int m, int n) {
    return (shape.m + m - 1) / m * ((shape.n + n - 1) / n);
}

template <class Format>
TensorOutputs<Format> tensor_blank(const TensorShape& shape) {
    return {blank_output<typename Format::Sum>(tensor_size(shape.m, shape.n)), {}};
}

/// A sum of products that keeps what float64 loses (Ogita, Rump, Oishi: "Accurate Sum and Dot Product", 2005,
/// algorithm 5.3): also a float64 product can be judged by it. Of the other formats each product is exact.
struct TensorSum {
    double sum = 0;
    double lost = 0;
    double magnitude = 0;  ///< of |a||b|

    template <bool kExactProducts>
    void add(double a, double b) {
        const double product = a * b;
        const double next = sum + product;
        const double part = next - sum;
        lost += (sum - (next - part)) + (product - part);
        if (!kExactProducts) lost += std::fma(a, b, -product);
        sum = next;
        magnitude += std::fabs(product);
    }
    [[nodiscard]] double get() const { return sum + lost; }
};

/// C, row by row.
template <class Format>
std::vector<TensorSum> tensor_reference(const TensorInputs<Format>& in) {
    constexpr bool kExactProducts = !std::is_same<typename Format::Stored, double>::value;
    const auto n = static_cast<std::size_t>(in.shape.n);
    const auto k = static_cast<std::size_t>(in.shape.k);
    std::vector<double> b(in.b.size());
    std::transform(in.b.begin(), in.b.end(), b.begin(), Format::value);
    std::vector<TensorSum> sums(tensor_size(in.shape.m, in.shape.n));
    for (std::size_t row = 0; row < sums.size(); row += n) {
        for (std::size_t d = 0; d < k; ++d) {
            const double a = Format::value(in.a[row / n * k + d]);
            for (std::size_t j = 0; j < n; ++j)
                sums[row + j].template add<kExactProducts>(a, b[d * n + j]);
        }
    }
    return sums;
}

/// Two bounds: e_F, the Frobenius norm of the error relative to the result's, and each element's error
/// against 8 eps sum |a||b| (eps that in which a GPU adds), which catches the single wrong element that the
/// norm dilutes and leaves room for sums that tensor cores cut instead of round.
template <class Format>
void check_bounds(Record& record, const std::vector<TensorSum>& reference, const TensorOutputs<Format>& out,
                  double limit, double eps) {
    double error_squares = 0;
    double result_squares = 0;
    double worst = 0;  // largest error of an element in units of its own bound
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double expected = reference[i].get();
        // What is left of the exact sum matters where it has more bits than a double.
        const double error = i < out.c.size()
                                 ? (static_cast<double>(out.c[i]) - reference[i].sum) - reference[i].lost
                                 : std::nan("");
        error_squares += error * error;
        result_squares += expected * expected;
        const double share = std::fabs(error) / (8 * eps * reference[i].magnitude);
        if (!(share <= worst) && !std::isnan(worst)) worst = share;
    }
    record.check_limit("e_F", std::sqrt(error_squares / result_squares), limit);
    record.check_limit("max_element", worst, 1.0);
}

/// Integers must be exact; of other numbers `limit` is that of e_F, and `eps` that of the sums.
template <class Format>
Record tensor_check(const TensorInputs<Format>& in, const TensorOutputs<Format>& out, double limit,
                    const char* backend,
                    double eps = static_cast<double>(std::numeric_limits<typename Format::Sum>::epsilon())) {
    const TensorShape& shape = in.shape;
    Record record;
    check_ran(record, out.flag, tensor_blocks<Format>(shape));
    check_written(record, out.c, tensor_size(shape.m, shape.n));
    const std::vector<TensorSum> reference = tensor_reference(in);
    if (std::is_integral<typename Format::Sum>::value) {
        const std::size_t wrong =
            mismatches(reference.size(), [&](std::size_t i) {
                return i < out.c.size() && static_cast<double>(out.c[i]) == reference[i].get();
            }).count;
        record.check("int32_exact", wrong == 0, std::to_string(wrong) + " sums are wrong");
    } else {
        check_bounds(record, reference, out, limit, eps);
    }
    return judge(record, "tolerance",
                 std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) +
                     " within the bounds (" + backend + ")");
}

}  // namespace cudamatrix::suite
