#include "kernels/compute/sgemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/compute/check.hpp"
#include "kernels/compute/sgemm_body.hpp"
#include "kernels/exec/cpu_block.hpp"
#include "kernels/support/philox.hpp"

namespace cudamatrix::suite {
namespace {

std::size_t size(int n) {
    return static_cast<std::size_t>(n);
}

/// Row `i` of the float64 product and of sum |a||b|.
void reference_row(const SgemmInputs& in, int i, std::vector<double>& product,
                   std::vector<double>& magnitude) {
    std::fill(product.begin(), product.end(), 0.0);
    std::fill(magnitude.begin(), magnitude.end(), 0.0);
    for (int d = 0; d < in.k; ++d) {
        const auto a = static_cast<double>(in.a[size(i) * size(in.k) + size(d)]);
        const float* b = in.b.data() + size(d) * size(in.n);
        for (std::size_t j = 0; j < size(in.n); ++j) {
            const double term = a * static_cast<double>(b[j]);
            product[j] += term;
            magnitude[j] += std::fabs(term);
        }
    }
}

}  // namespace

SgemmInputs sgemm_inputs() {
    return sgemm_inputs(391, 389, 1021);
}

SgemmInputs sgemm_inputs(int m, int n, int k) {
    const Philox philox(seed_of(kSgemmId));
    SgemmInputs in;
    in.m = m;
    in.n = n;
    in.k = k;
    in.a.resize(size(m) * size(k));
    in.b.resize(size(k) * size(n));
    for (std::size_t i = 0; i < in.a.size(); ++i)
        in.a[i] = philox.uniform(i, 0);
    for (std::size_t i = 0; i < in.b.size(); ++i)
        in.b[i] = philox.uniform(i, 1);
    return in;
}

int sgemm_blocks(const SgemmInputs& in) {
    return ((in.m + kSgemmTile - 1) / kSgemmTile) * ((in.n + kSgemmTile - 1) / kSgemmTile);
}

SgemmOutputs sgemm_blank(const SgemmInputs& in) {
    return {blank_output(size(in.m) * size(in.n)), {}};
}

SgemmOutputs sgemm_on_cpu(const SgemmInputs& in) {
    SgemmOutputs out = sgemm_blank(in);
    const SgemmArgs args{in.a.data(), in.b.data(), out.c.data(), in.m, in.n, in.k, &out.flag};
    SgemmShared shared{};
    run_on_cpu(sgemm_blocks(in), kSgemmThreads, [&](CpuBlock& block) { sgemm_body(block, shared, args); });
    return out;
}

Record sgemm_check(const SgemmInputs& in, const SgemmOutputs& out, const char* backend) {
    Record record;
    check_ran(record, out.flag, sgemm_blocks(in));
    check_written(record, out.c, size(in.m) * size(in.n));
    const double eps = static_cast<double>(std::numeric_limits<float>::epsilon());
    double error_squares = 0;
    double result_squares = 0;
    double worst = 0;  // largest error of an element in units of its own bound
    std::vector<double> product(size(in.n));
    std::vector<double> magnitude(size(in.n));
    for (int i = 0; i < in.m; ++i) {
        reference_row(in, i, product, magnitude);
        for (std::size_t j = 0; j < size(in.n); ++j) {
            const double error = static_cast<double>(out.c[size(i) * size(in.n) + j]) - product[j];
            error_squares += error * error;
            result_squares += product[j] * product[j];
            const double share = std::fabs(error) / (8 * eps * magnitude[j]);
            if (!(share <= worst) && !std::isnan(worst)) worst = share;
        }
    }
    record.check_limit("e_F", std::sqrt(error_squares / result_squares), 2e-6 * std::sqrt(in.k / 1024.0));
    record.check_limit("max_element", worst, 1.0);
    const std::string shape = std::to_string(in.m) + "x" + std::to_string(in.n) + "x" + std::to_string(in.k);
    return judge(record, "tolerance", shape + " within the bounds (" + backend + ")");
}

Record sgemm_cpu_part(const Context&) {
    const SgemmInputs inputs = sgemm_inputs();
    return sgemm_check(inputs, sgemm_on_cpu(inputs), "CPU");
}

}  // namespace cudamatrix::suite
