#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compute/check.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/exec/portable.hpp"
#include "kernels/support/philox.hpp"
#include "kernels/support/record.hpp"

/// Products of float32 matrices, and how they are checked: wherever a test needs one that float64 confirms.
namespace cudamatrix::suite {

struct SgemmInputs {
    int m = 0;
    int n = 0;
    int k = 0;
    std::vector<float> a;  ///< m x k
    std::vector<float> b;  ///< k x n

    [[nodiscard]] std::size_t results() const {
        return static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
    }
    [[nodiscard]] int blocks() const {
        return ((m + kSgemmTile - 1) / kSgemmTile) * ((n + kSgemmTile - 1) / kSgemmTile);
    }
    [[nodiscard]] std::string shape() const {
        return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    }
};

inline SgemmInputs product_inputs(const char* id, int m, int n, int k) {
    const Philox philox(seed_of(id));
    SgemmInputs in;
    in.m = m;
    in.n = n;
    in.k = k;
    in.a.resize(static_cast<std::size_t>(m) * static_cast<std::size_t>(k));
    in.b.resize(static_cast<std::size_t>(k) * static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < in.a.size(); ++i)
        in.a[i] = philox.uniform(i, 0);
    for (std::size_t i = 0; i < in.b.size(); ++i)
        in.b[i] = philox.uniform(i, 1);
    return in;
}

/// Row `i` of the float64 product and of sum |a||b|.
inline void reference_row(const SgemmInputs& in, int i, std::vector<double>& product,
                          std::vector<double>& magnitude) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (int d = 0; d < in.k; ++d) {
        const auto a = static_cast<double>(
            in.a[static_cast<std::size_t>(i) * static_cast<std::size_t>(in.k) + static_cast<std::size_t>(d)]);
        const float* b = in.b.data() + static_cast<std::size_t>(d) * product.size();
        for (std::size_t j = 0; j < product.size(); ++j) {
            const double term = a * static_cast<double>(b[j]);
            product[j] += term;
            magnitude[j] += std::fabs(term);
        }
    }
}

/// Two bounds on C: the Frobenius norm of the error relative to the result's, and each element's error
/// against 8 eps sum |a||b|, which catches the single wrong element that the norm dilutes.
inline void check_product(Record& record, const SgemmInputs& in, const std::vector<float>& c) {
    const auto columns = static_cast<std::size_t>(in.n);
    const double eps = static_cast<double>(std::numeric_limits<float>::epsilon());
    double error_squares = 0;
    double result_squares = 0;
    double worst = 0;  // largest error of an element in units of its own bound
    std::vector<double> product(columns);
    std::vector<double> magnitude(columns);
    for (int i = 0; i < in.m; ++i) {
        reference_row(in, i, product, magnitude);
        for (std::size_t j = 0; j < columns; ++j) {
            const double error =
                static_cast<double>(c[static_cast<std::size_t>(i) * columns + j]) - product[j];
            error_squares += error * error;
            result_squares += product[j] * product[j];
            const double share = std::fabs(error) / (8 * eps * magnitude[j]);
            if (!(share <= worst) && !std::isnan(worst)) worst = share;
        }
    }
    record.check_limit("e_F", std::sqrt(error_squares / result_squares), 2e-6 * std::sqrt(in.k / 1024.0));
    record.check_limit("max_element", worst, 1.0);
}

}  // namespace cudamatrix::suite
