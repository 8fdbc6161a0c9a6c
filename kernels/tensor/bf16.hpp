#pragma once

#include <cstdint>

#include "kernels/support/context.hpp"
#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"

/// tc.bf16: products of bfloat16 with float32 sums on tensor cores, against float64.
namespace cudamatrix::suite {

struct TensorBf16 {
    static constexpr const char* kId = "tc.bf16";
    using Stored = std::uint16_t;
    using Sum = float;
    static constexpr int kM = 16;
    static constexpr int kN = 16;
    static constexpr int kK = 16;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return bf16_bits(beyond_f16(philox, i, stream));
    }
    static double value(Stored stored) { return static_cast<double>(bf16_value(stored)); }
};

[[nodiscard]] TensorInputs<TensorBf16> bf16_inputs(const TensorShape& shape = {});
[[nodiscard]] Record bf16_check(const TensorInputs<TensorBf16>& inputs,
                                const TensorOutputs<TensorBf16>& outputs, const char* backend);

}  // namespace cudamatrix::suite
