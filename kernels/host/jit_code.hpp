#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fatbin/reader.hpp"
#include "kernels/support/record.hpp"

/// The code that tests have made at run time, and how it is looked at.
namespace cudamatrix::suite {

inline constexpr const char* kJitKernel = "cudamatrix_jit";

/// A kernel for run_add() in CUDA C++, whose sum of two floats is SUM(x, y).
inline constexpr const char* kJitSource = R"(
struct Flag { unsigned blocks; unsigned arch; };
struct Args { const float* a; const float* b; float* c; long long n; Flag* flag; };
extern "C" __global__ void cudamatrix_jit(Args args) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < args.n; i += stride)
        args.c[i] = SUM(args.a[i], args.b[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&args.flag->blocks, 1u);
        args.flag->arch = __CUDA_ARCH__;
    }
}
)";
inline constexpr const char* kJitSum = "#define SUM(x, y) ((x) + (y))\n";

/// What is wrong with a cubin that must be machine code for `arch` and define the kernel; "" when nothing is.
[[nodiscard]] inline std::string cubin_fault(const std::string& cubin, const fatbin::Arch& arch) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(cubin.data());
    const fatbin::Contents contents = fatbin::read({data, cubin.size()});
    if (!contents.error.empty()) return contents.error;
    if (contents.entries.size() != 1 || contents.entries.front().kind != fatbin::Kind::sass)
        return "it is no cubin";
    const fatbin::Entry& entry = contents.entries.front();
    if (entry.arch != arch)
        return "it is code for " + fatbin::to_text(entry.arch) + ", asked for was " + fatbin::to_text(arch);
    for (const std::string_view function : fatbin::functions(entry)) {
        if (function == kJitKernel) return "";
    }
    return std::string("it does not define ") + kJitKernel;
}

/// A check whose failure says what is wrong with the image: reason, fault and hint of the first one count.
inline bool must(Record& record, const std::string& name, bool ok, const std::string& note,
                 const char* reason, const char* fault, const char* hint) {
    record.check(name, ok, note);
    if (!ok && record.reason.empty()) {
        record.reason = reason;
        record.fault = fault;
        record.hint = hint;
    }
    return ok;
}

}  // namespace cudamatrix::suite
