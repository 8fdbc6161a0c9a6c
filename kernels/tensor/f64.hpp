#pragma once

#include <cstddef>

#include "kernels/support/context.hpp"
#include "kernels/tensor/product.hpp"

/// tc.f64: products of float64 on tensor cores, against a product that keeps what float64 loses.
namespace cudamatrix::suite {

struct TensorF64 {
    static constexpr const char* kId = "tc.f64";
    using Stored = double;
    using Sum = double;
    static constexpr int kM = 8;
    static constexpr int kN = 8;
    static constexpr int kK = 4;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return philox.uniform64(i, stream);
    }
    static double value(Stored stored) { return stored; }
};

[[nodiscard]] TensorInputs<TensorF64> f64_inputs(const TensorShape& shape = {});
[[nodiscard]] Record f64_check(const TensorInputs<TensorF64>& inputs, const TensorOutputs<TensorF64>& outputs,
                               const char* backend);

}  // namespace cudamatrix::suite
