#pragma once

/// The functions of cmp.math, in the order of MathName.
namespace cudamatrix::suite {

enum MathName { kSin, kCos, kExp, kLog, kPow, kErf, kSqrt, kRsqrt, kDivide, kMathCount };

struct MathFunction {
    const char* name;
    int ulps32;  ///< largest error in float32
    int ulps64;  ///< and in float64
    float x_from, x_to;
    float y_from, y_to;  ///< of the second argument
};

/// Largest errors: CUDA C++ Programming Guide, chapter "Mathematical Functions", section 17.1 "Standard
/// Functions", tables 17 and 18, "Single-" and "Double-Precision Mathematical Standard Library Functions with
/// Maximum ULP Error": the distance from the correctly rounded result, without -use_fast_math and what it
/// implies. The ranges keep every result finite and hold the hard parts: angles of many turns, logarithms
/// near 0, erf where it becomes 1.
inline constexpr MathFunction kMathFunctions[kMathCount] = {
    {"sin", 2, 2, -1000, 1000, 0, 0},
    {"cos", 2, 2, -1000, 1000, 0, 0},
    {"exp", 2, 1, -80, 80, 0, 0},
    {"log", 1, 1, 0, 8, 0, 0},
    {"pow", 4, 2, 0.25F, 8, -16, 16},
    {"erf", 2, 2, -4, 4, 0, 0},
    {"sqrt", 0, 0, 0, 1e6F, 0, 0},
    {"rsqrt", 2, 1, 0, 1e6F, 0, 0},
    {"div", 0, 0, -1000, 1000, -1000, 1000},
};

}  // namespace cudamatrix::suite
