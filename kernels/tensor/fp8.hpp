#pragma once

#include <cstdint>

#include "kernels/support/context.hpp"
#include "kernels/tensor/formats.hpp"
#include "kernels/tensor/product.hpp"

/// tc.fp8: products of 8-bit floating-point numbers with float32 sums on tensor cores, against float64.
namespace cudamatrix::suite {

struct TensorE4m3 {
    static constexpr const char* kId = "tc.fp8";
    using Stored = std::uint8_t;
    using Sum = float;
    static constexpr int kM = 16;
    static constexpr int kN = 8;
    static constexpr int kK = 32;

    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        return fp8_bits(philox.uniform(i, stream), kE4m3);
    }
    static double value(Stored stored) { return static_cast<double>(fp8_value(stored, kE4m3)); }
};

/// Elements of A near 2^11, of B near 2^-11: E4M3 can hold neither.
struct TensorE5m2 : TensorE4m3 {
    static Stored draw(const Philox& philox, std::size_t i, unsigned stream) {
        constexpr float kFactor = 1 << 11;
        const float value = philox.uniform(i, 2 + stream);
        return fp8_bits(stream == 0 ? value * kFactor : value / kFactor, kE5m2);
    }
    static double value(Stored stored) { return static_cast<double>(fp8_value(stored, kE5m2)); }
};

/// Tensor cores of 8.9 and 9.0 add such products in fewer bits than float32 has: 14 are reckoned with.
inline constexpr double kFp8SumEps = 0x1p-13;

[[nodiscard]] TensorInputs<TensorE4m3> e4m3_inputs(const TensorShape& shape = {});
[[nodiscard]] TensorInputs<TensorE5m2> e5m2_inputs(const TensorShape& shape = {});
[[nodiscard]] Record e4m3_check(const TensorInputs<TensorE4m3>& inputs,
                                const TensorOutputs<TensorE4m3>& outputs, const char* backend);
[[nodiscard]] Record e5m2_check(const TensorInputs<TensorE5m2>& inputs,
                                const TensorOutputs<TensorE5m2>& outputs, const char* backend);

/// One record of both: passed when both are, else the first that is not. Its checks say which format they are
/// of.
[[nodiscard]] Record both_formats(Record e4m3, Record e5m2);

}  // namespace cudamatrix::suite
