#pragma once

#include <cstddef>
#include <vector>

#include "kernels/exec/portable.hpp"
#include "kernels/support/context.hpp"
#include "kernels/support/record.hpp"

/// mem.triad: a = b + s * c in float64, each a single fused multiply-add, exact.
namespace cudamatrix::suite {

inline constexpr const char* kTriadId = "mem.triad";
inline constexpr int kTriadThreads = 256;
inline constexpr int kTriadBlocks = 512;
/// The three arrays together exceed every GPU's second-level cache.
inline constexpr std::size_t kTriadLarge = (std::size_t{8} << 20) + 3;
inline constexpr std::size_t kTriadSmall = (std::size_t{256} << 10) + 3;  ///< on the CPU
inline constexpr std::size_t kTriadMeasured = std::size_t{32} << 20;  ///< elements, where speed is measured

struct TriadInputs {
    std::vector<double> b;
    std::vector<double> c;
    double s = 0;
};

/// `a` is longer than the inputs: what lies beyond must stay as it was.
struct TriadOutputs {
    std::vector<double> a;
    RunFlag flag;
};

/// Inputs of full precision, of which every product has to be rounded.
[[nodiscard]] TriadInputs triad_inputs(std::size_t n);
[[nodiscard]] TriadOutputs triad_blank(const TriadInputs& inputs);
[[nodiscard]] TriadOutputs triad_on_cpu(const TriadInputs& inputs);
/// Compares with std::fma. `backend` is "GPU" or "CPU", for the summary.
[[nodiscard]] Record triad_check(const TriadInputs& inputs, const TriadOutputs& outputs, const char* backend);
[[nodiscard]] Record triad_cpu_part(const Context& context);

}  // namespace cudamatrix::suite
