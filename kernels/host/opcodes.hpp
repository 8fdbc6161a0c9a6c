#pragma once

#include <cstddef>
#include <string_view>

/// The instructions that make a kernel what its test says of it.
namespace cudamatrix::suite {

enum class Language { ptx, sass };

/// One instruction that must be in a kernel, for code of compute capability `from` to below `below` ("" = no
/// bound). `pattern`: an opcode without predicate and operands; `*` stands for any characters, `|` separates
/// alternatives.
struct WantedOpcode {
    std::string_view id;      ///< of the test
    std::string_view kernel;  ///< ... and which of its kernels
    Language language;
    std::string_view from;
    std::string_view below;
    std::string_view pattern;
};

/// THE list. PTX opcodes: PTX ISA, "Instruction Set"; what nvcc 13.0 makes of these kernels has them. SASS is
/// not documented by NVIDIA: read off what nvdisasm 13.2 shows of these kernels for 7.5 to 12.1.
inline constexpr WantedOpcode kWantedOpcodes[] = {
    {"cmp.vadd", "cudamatrix_vadd", Language::ptx, "", "", "add.f32|add.rn.f32"},
    {"mem.pattern", "cudamatrix_pattern_write", Language::ptx, "", "", "st.global.*"},
    {"mem.pattern", "cudamatrix_pattern_verify", Language::ptx, "", "", "ld.global.*"},
    {"mem.copy", "cudamatrix_copy", Language::ptx, "", "", "ld.*.v4.*"},
    {"mem.copy", "cudamatrix_copy", Language::ptx, "", "", "st.*.v4.*"},
    {"mem.copy", "cudamatrix_copy", Language::sass, "7.5", "", "LDG.E.128*"},
    {"mem.copy", "cudamatrix_copy", Language::sass, "7.5", "", "STG.E.128*"},
    {"mem.triad", "cudamatrix_triad", Language::ptx, "", "", "fma.rn.f64"},
    {"mem.triad", "cudamatrix_triad", Language::sass, "7.5", "", "DFMA"},
    {"mem.pcie", "cudamatrix_pcie", Language::ptx, "", "", "xor.b32|lop3.b32"},
    {"cmp.reduce", "cudamatrix_reduce", Language::ptx, "", "", "shfl.sync.down.b32"},
    {"cmp.reduce", "cudamatrix_reduce", Language::ptx, "", "", "atom.*add.f64|red.*add.f64"},
    {"cmp.reduce", "cudamatrix_reduce", Language::ptx, "", "", "atom.*add.u64|red.*add.u64"},
    {"cmp.reduce", "cudamatrix_reduce", Language::sass, "7.5", "", "SHFL.DOWN"},
    {"cmp.reduce", "cudamatrix_reduce", Language::sass, "7.5", "", "RED.*ADD.F64*|REDG.*ADD.F64*"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::ptx, "", "", "fma.rn.f32"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::ptx, "", "", "ld.global.*v4.*"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::ptx, "", "", "ld.shared.*v4.*"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::sass, "7.5", "", "FFMA*"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::sass, "7.5", "", "LDG.E.128*"},
    {"cmp.sgemm", "cudamatrix_sgemm", Language::sass, "7.5", "", "LDS.*128*"},
    {"cmp.fma", "cudamatrix_fma", Language::ptx, "", "", "fma.rn.f32"},
    {"cmp.fma", "cudamatrix_fma", Language::ptx, "", "", "fma.rn.f64"},
    {"cmp.fma", "cudamatrix_fma", Language::sass, "7.5", "", "FFMA*"},
    {"cmp.fma", "cudamatrix_fma", Language::sass, "7.5", "", "DFMA"},
    {"cmp.fma", "cudamatrix_fma_rate", Language::ptx, "", "", "fma.rn.f32"},
    {"cmp.math", "cudamatrix_math", Language::ptx, "", "", "sqrt.rn.f32"},
    {"cmp.math", "cudamatrix_math", Language::ptx, "", "", "sqrt.rn.f64"},
    {"cmp.math", "cudamatrix_math", Language::ptx, "", "", "div.rn.f32"},
    {"cmp.math", "cudamatrix_math", Language::ptx, "", "", "div.rn.f64"},
    {"tc.f16", "cudamatrix_tc_f16", Language::ptx, "7.0", "", "wmma.mma.*.m16n16k16.f32.f32"},
    {"tc.f16", "cudamatrix_tc_f16", Language::sass, "7.5", "8.0", "HMMA.1688.F32"},
    {"tc.f16", "cudamatrix_tc_f16", Language::sass, "8.0", "", "HMMA.16816.F32"},
    {"tc.s8", "cudamatrix_tc_s8", Language::ptx, "7.2", "", "wmma.mma.*.m16n16k16.s32.s8.s8.s32"},
    {"tc.s8", "cudamatrix_tc_s8", Language::sass, "7.5", "8.0", "IMMA.8816.S8.S8"},
    {"tc.s8", "cudamatrix_tc_s8", Language::sass, "8.0", "", "IMMA.16816.S8.S8"},
    {"tc.bf16", "cudamatrix_tc_bf16", Language::ptx, "8.0", "", "wmma.mma.*.m16n16k16.f32.bf16.bf16.f32"},
    {"tc.bf16", "cudamatrix_tc_bf16", Language::sass, "8.0", "", "HMMA.16816.F32.BF16"},
    {"tc.tf32", "cudamatrix_tc_tf32", Language::ptx, "8.0", "", "wmma.mma.*.m16n16k8.f32.tf32.tf32.f32"},
    {"tc.tf32", "cudamatrix_tc_tf32", Language::sass, "8.0", "", "HMMA.1684.F32.TF32|HMMA.1688.F32.TF32"},
    {"tc.f64", "cudamatrix_tc_f64", Language::ptx, "8.0", "", "wmma.mma.*.m8n8k4.f64.f64.f64.f64*"},
    {"tc.f64", "cudamatrix_tc_f64", Language::sass, "8.0", "", "DMMA.*"},
    {"tc.fp8", "cudamatrix_tc_e4m3", Language::ptx, "8.9", "",
     "mma.sync.*.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"tc.fp8", "cudamatrix_tc_e5m2", Language::ptx, "8.9", "",
     "mma.sync.*.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
    // For 9.0 and 10.x nvcc makes products of float16 of them: their own units are those of wgmma and
    // tcgen05.
    {"tc.fp8", "cudamatrix_tc_e4m3", Language::sass, "8.9", "9.0", "QMMA.16832.F32.E4M3.E4M3"},
    {"tc.fp8", "cudamatrix_tc_e4m3", Language::sass, "12.0", "", "QMMA.16832.F32.E4M3.E4M3"},
    {"tc.fp8", "cudamatrix_tc_e5m2", Language::sass, "8.9", "9.0", "QMMA.16832.F32.E5M2.E5M2"},
    {"tc.fp8", "cudamatrix_tc_e5m2", Language::sass, "12.0", "", "QMMA.16832.F32.E5M2.E5M2"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::ptx, "", "", "wgmma.mma_async.*.m64n256k16.f32.bf16.bf16"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::ptx, "", "", "cp.async.bulk.tensor.2d.*multicast::cluster"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::ptx, "", "", "mbarrier.arrive.*shared::cluster.b64"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::ptx, "", "", "setmaxnreg.inc.*"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::sass, "", "", "HGMMA.64x256x16.F32.BF16"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::sass, "", "", "UTMALDG.2D.MULTICAST*"},
    {"tc.wgmma", "cudamatrix_tc_wgmma", Language::sass, "", "", "USETMAXREG*"},
    {"tc.tcgen05", "cudamatrix_tc_tcgen05", Language::ptx, "", "", "tcgen05.mma.*kind::f16"},
    {"tc.tcgen05", "cudamatrix_tc_tcgen05", Language::ptx, "", "", "cp.async.bulk.tensor.2d.*"},
    {"tc.tcgen05", "cudamatrix_tc_tcgen05", Language::sass, "", "", "UTCHMMA*"},
    {"tc.tcgen05", "cudamatrix_tc_tcgen05", Language::sass, "", "", "UTMALDG.2D*"},
    {"tc.nvfp4", "cudamatrix_tc_nvfp4", Language::ptx, "12.0", "",
     "mma.sync.*kind::mxf4nvf4.*scale_vec::4X.*m16n8k64.*f32.e2m1.e2m1.f32.ue4m3"},
    {"tc.nvfp4", "cudamatrix_tc_nvfp4", Language::sass, "12.0", "", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X"},
    {"con.streams", "cudamatrix_streams", Language::ptx, "", "", "ld.global.*"},
    {"con.streams", "cudamatrix_streams", Language::ptx, "", "", "st.global.*"},
    {"fault.illegal", "cudamatrix_illegal_write", Language::ptx, "", "", "st.*"},
    {"fault.illegal", "cudamatrix_illegal_sums", Language::ptx, "", "", "add.f32|add.rn.f32"},
    {"fault.assert", "cudamatrix_assert", Language::ptx, "", "", "call*"},
    {"stress.leak", "cudamatrix_leak", Language::ptx, "", "", "st.global.*"},
    {"stress.sustained", "cudamatrix_sustained", Language::ptx, "", "", "fma.rn.f32"},
    {"stress.sustained", "cudamatrix_sustained_compare", Language::ptx, "", "", "atom.*add.u64|red.*add.u64"},
    {"stress.oom", "cudamatrix_oom_sums", Language::ptx, "", "", "add.f32|add.rn.f32"},
};

/// Machine code of a kernel that does nothing takes 128 bytes: an exit, and padding.
inline constexpr std::size_t kEmptyKernel = 128;
/// Kernels that do so little that their size does not tell.
inline constexpr std::string_view kTinyKernels[] = {"cudamatrix_illegal_write"};

}  // namespace cudamatrix::suite
