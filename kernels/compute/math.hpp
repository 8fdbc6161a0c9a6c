#pragma once

#include <vector>

#include "kernels/compute/math_functions.hpp"
#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// cmp.math: the mathematical functions that nvcc links from its device library, in float32 and float64.
namespace cudamatrix::suite {

inline constexpr const char* kMathId = "cmp.math";
inline constexpr int kMathThreads = 128;
inline constexpr int kMathBlocksEach = 8;  ///< that share one function
inline constexpr int kMathBlocks = kMathCount * kMathBlocksEach;
inline constexpr int kMathLength = 4099;  ///< inputs of each function and type; nothing divides it
inline constexpr int kMathAllowance = 1;  ///< ULPs beyond the guide's: its errors are measured, not proved

/// Arguments: kMathLength for each function, one function after the other.
template <typename T>
struct MathNumbers {
    std::vector<T> x;
    std::vector<T> y;
};

struct MathInputs {
    MathNumbers<float> f32;
    MathNumbers<double> f64;
};

/// Values in the order of the arguments, with a guard behind.
struct MathOutputs {
    std::vector<float> f32;
    std::vector<double> f64;
    RunFlag flag;
};

template <typename T>
struct MathArrays {
    const T* x;
    const T* y;
    T* value;
};

struct MathArgs {
    MathArrays<float> f32;
    MathArrays<double> f64;
    RunFlag* flag;
};

[[nodiscard]] MathInputs math_inputs();
[[nodiscard]] MathOutputs math_blank();
/// The value that the host computes in a wider type, rounded to this one.
[[nodiscard]] float math_expected(int function, float x, float y);
[[nodiscard]] double math_expected(int function, double x, double y);
/// Each function's largest distance from these, in ULPs, against its bound.
[[nodiscard]] Record math_check(const MathInputs& inputs, const MathOutputs& outputs, const char* backend);

}  // namespace cudamatrix::suite
