#pragma once

#include <cstdint>

#include "kernels/support/context.hpp"
#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"

/// tc.f16: products of float16 with float32 sums on tensor cores, against float64.
namespace cudamatrix::suite {

struct TensorF16 {
    static constexpr const char* kId = "tc.f16";
    using Stored = std::uint16_t;
    using Sum = float;
    static constexpr int kM = 16;
    static constexpr int kN = 16;
    static constexpr int kK = 16;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return f16_bits(philox.uniform(i, stream));
    }
    static double value(Stored stored) { return static_cast<double>(f16_value(stored)); }
};

[[nodiscard]] TensorInputs<TensorF16> f16_inputs(const TensorShape& shape = {});
[[nodiscard]] Record f16_check(const TensorInputs<TensorF16>& inputs, const TensorOutputs<TensorF16>& outputs,
                               const char* backend);

}  // namespace cudamatrix::suite
