#pragma once

#include <cstddef>

#include "kernels/support/context.hpp"
#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"

/// tc.tf32: products of TF32 with float32 sums on tensor cores, against float64.
namespace cudamatrix::suite {

struct TensorTf32 {
    static constexpr const char* kId = "tc.tf32";
    using Stored = float;
    using Sum = float;
    static constexpr int kM = 16;
    static constexpr int kN = 16;
    static constexpr int kK = 8;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return round_to_tf32(beyond_f16(philox, i, stream));
    }
    static double value(Stored stored) { return static_cast<double>(stored); }
};

[[nodiscard]] TensorInputs<TensorTf32> tf32_inputs(const TensorShape& shape = {});
[[nodiscard]] Record tf32_check(const TensorInputs<TensorTf32>& inputs,
                                const TensorOutputs<TensorTf32>& outputs, const char* backend);

}  // namespace cudamatrix::suite
