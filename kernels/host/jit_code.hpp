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

/// The same kernel in two files for the linker: this goes before kJitSource, the other one defines what it
/// calls.
inline constexpr const char* kJitSumElsewhere =
    "extern \"C\" __device__ float cudamatrix_jit_sum(float x, float y);\n#define SUM cudamatrix_jit_sum\n";
inline constexpr const char* kJitElsewhere =
    "extern \"C\" __device__ float cudamatrix_jit_sum(float x, float y) { return x + y; }\n";

/// The same kernel in PTX for 7.5 and later, behind a line with its `.version`. It says that it is code for
/// kJitPtxArch.
inline constexpr unsigned kJitPtxArch = 750;
inline constexpr const char* kJitPtx = R"(
.target sm_75
.address_size 64
.visible .entry cudamatrix_jit(.param .align 8 .b8 args[40])
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<14>;
    ld.param.u64 %rd1, [args];
    ld.param.u64 %rd2, [args+8];
    ld.param.u64 %rd3, [args+16];
    ld.param.u64 %rd4, [args+24];
    ld.param.u64 %rd5, [args+32];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    cvta.to.global.u64 %rd3, %rd3;
    cvta.to.global.u64 %rd5, %rd5;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %rd6, %r1, %r2;
    cvt.u64.u32 %rd7, %r3;
    add.s64 %rd6, %rd6, %rd7;
    mul.wide.u32 %rd8, %r4, %r2;
NEXT:
    setp.ge.s64 %p1, %rd6, %rd4;
    @%p1 bra DONE;
    shl.b64 %rd9, %rd6, 2;
    add.s64 %rd10, %rd1, %rd9;
    add.s64 %rd11, %rd2, %rd9;
    add.s64 %rd12, %rd3, %rd9;
    ld.global.f32 %f1, [%rd10];
    ld.global.f32 %f2, [%rd11];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd12], %f3;
    add.s64 %rd6, %rd6, %rd8;
    bra NEXT;
DONE:
    bar.sync 0;
    setp.ne.s32 %p2, %r3, 0;
    @%p2 bra END;
    atom.global.add.u32 %r5, [%rd5], 1;
    mov.u32 %r6, 750;
    st.global.u32 [%rd5+4], %r6;
END:
    ret;
}
)";

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
