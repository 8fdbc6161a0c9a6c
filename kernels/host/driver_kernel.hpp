#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fatbin/arch.hpp"
#include "kernels/host/driver_probe.hpp"
#include "kernels/support/record.hpp"

/// A kernel in an image of device code (cubin, PTX or fat binary) that the driver is given to load: it adds
/// two vectors, whose sums are known to the bit. By the driver's API alone, whose answers no runtime
/// translates.
namespace cudamatrix::suite {

/// What the kernel takes, with addresses on the device: VaddArgs of compute/vadd_body.hpp.
struct AddArgs {
    std::uint64_t a;  ///< `n` floats, as b and c
    std::uint64_t b;
    std::uint64_t c;
    std::int64_t n;
    std::uint64_t flag;  ///< AddFlag
};

/// RunFlag of exec/portable.hpp.
struct AddFlag {
    unsigned blocks = 0;  ///< how many came to their end
    unsigned arch = 0;    ///< __CUDA_ARCH__ of the code that ran
};

inline constexpr int kAddLength = 4099;
inline constexpr int kAddBlocks = 6;
inline constexpr int kAddThreads = 128;

/// What came of it. The first call that failed is the last that was made.
struct AddRun {
    std::string call;  ///< that failed; "" = none
    int code = 0;
    std::string log;         ///< what the driver's compiler said
    double load_ms = 0;      ///< of cuModuleLoadDataEx, which compiles PTX
    std::vector<float> out;  ///< the sums, and what lies behind them
    AddFlag flag;
};

/// Loads `image` on the first GPU and runs its kernel once. The driver must have passed judge_driver().
[[nodiscard]] AddRun run_add(const DriverFacts& driver, const std::string& image, const char* kernel);

/// Every sum exact, nothing written beyond them, every block at its end, and the code that ran one of
/// `arches` (arch_macro). `prefix`: of the checks' names.
void check_add(Record& record, const AddRun& run, const std::vector<unsigned>& arches,
               const std::string& prefix = "");

/// __CUDA_ARCH__ of code for an architecture: 860 for 8.6.
[[nodiscard]] inline unsigned arch_macro(const fatbin::Arch& arch) {
    return static_cast<unsigned>(arch.major * 100 + arch.minor * 10);
}

/// What a driver's answer to an image means for the cell.
struct CodeMeaning {
    int code;
    const char* reason;
    const char* fault;
    const char* hint;
};

/// The record of a run whose `call` failed.
[[nodiscard]] Record add_failure(const AddRun& run, const std::vector<CodeMeaning>& meanings);

}  // namespace cudamatrix::suite
