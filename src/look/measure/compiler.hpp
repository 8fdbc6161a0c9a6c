// What a wheel of NVIDIA's compiler says: the host compilers that its headers take, and, where its ptxas may
// be run, the GPUs and the PTX that it takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

/// Newest majors of host compilers that crt/host_config.h does not refuse: "13", "17"; empty: it says
/// nothing.
struct HostLimits {
    std::string gcc_max;
    std::string clang_max;
};

/// Reads the #if lines of crt/host_config.h. Of several limits of clang the last one is that of clang on
/// Linux; those before are of NVIDIA's own clangs.
[[nodiscard]] HostLimits host_limits(std::string_view header);

struct CompilerSays {
    bool has_header = false;  ///< crt/host_config.h (since CUDA 13 in a wheel of its own)
    HostLimits limits;
    bool has_nvcc = false;
    bool has_ptxas = false;
    // Of a ptxas that was run:
    std::vector<std::string> targets;  ///< SASS, by compute capability, sorted: "9.0", "9.0a"; empty: not run
    std::string ptx_isa;               ///< the highest that it takes: "8.4"
};

/// "sm_50 sm_90a sm_100f" of the allowed values of --gpu-name in what `ptxas --help` prints, as "5.0",
/// "9.0a", "10.0f".
[[nodiscard]] std::vector<std::string> targets_in(std::string_view help);

/// Opens the wheel by range requests. With `workshop`, a folder that is there, the whole wheel is read, its
/// sha256 compared, and its ptxas written below `workshop`, run and removed. `bytes` grows by what came over
/// the network. Failures: those of HttpSource and Zip, another sha256, a ptxas that does not start or does
/// not say what is asked, an interrupt.
[[nodiscard]] Result<CompilerSays> ask_compiler(HttpConnection& connection, const IndexFile& file,
                                                const std::optional<std::filesystem::path>& workshop,
                                                const Cancellation* cancellation, std::uint64_t& bytes);

/// The processor that this program was built for, as the tags of wheels name it: what can be run.
[[nodiscard]] std::string_view own_processor();

}  // namespace cudamatrix::measure
