#pragma once

#include <cstdint>

#include "kernels/support/context.hpp"
#include "kernels/tensor/product.hpp"

/// tc.s8: products of int8 with int32 sums on tensor cores, exact.
namespace cudamatrix::suite {

struct TensorS8 {
    static constexpr const char* kId = "tc.s8";
    using Stored = std::int8_t;
    using Sum = std::int32_t;
    static constexpr int kM = 16;
    static constexpr int kN = 16;
    static constexpr int kK = 16;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return static_cast<Stored>(philox.bits(i, stream) >> 24);  // any of the 256
    }
    static double value(Stored stored) { return static_cast<double>(stored); }
};

[[nodiscard]] TensorInputs<TensorS8> s8_inputs(const TensorShape& shape = {});
[[nodiscard]] Record s8_check(const TensorInputs<TensorS8>& inputs, const TensorOutputs<TensorS8>& outputs,
                              const char* backend);

}  // namespace cudamatrix::suite
