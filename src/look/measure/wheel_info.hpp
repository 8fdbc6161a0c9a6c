// What one wheel says of itself, read by range requests into its zip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/process.hpp"
#include "look/measure/demand.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

// What a wheel of NVIDIA's compiler says: the host compilers that its headers take, and, where its ptxas may
// be run, the GPUs and the PTX that it takes.

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

/// What one library of a wheel holds for GPUs, by compute capability: "7.5", "9.0a".
struct LibraryCode {
    std::string path;  ///< in the wheel
    std::vector<std::string> sass;
    std::vector<std::string> ptx;
    friend bool operator==(const LibraryCode&, const LibraryCode&) = default;
};

/// Raw, so that a later version of this program can make other rows of it without asking the index again.
struct WheelInfo {
    std::string file;
    std::string
        sha256;  ///< as the index gives it; the wheel as a whole is not read, so it cannot be checked here
    Metadata metadata;
    // Of torch only:
    std::string build;              ///< __version__ of torch/version.py: "2.6.0+cu124"
    std::string cuda;               ///< "12.4"; empty: built without
    std::optional<bool> cxx11_abi;  ///< of TorchConfig.cmake; nothing where that does not say
    std::optional<std::string>
        arch;  ///< what torch.cuda.get_arch_list() splits: "sm_80 sm_90"; where the wheel has none, and its
               ///< main library was read, what most kernels of that are for; nothing: not found
    std::optional<std::vector<LibraryCode>> library_code;  ///< nothing: its libraries were not read
    bool some_libraries = false;  ///< only those were read that a task named, and no sha256 was compared
    std::optional<CompilerSays> compiler;  ///< of a wheel of NVIDIA's compiler that was asked
    std::uint64_t bytes = 0;               ///< that came over the network for it
};

/// Opens the wheel; `torch`: reads what only torch has, up to the architecture list, which is a string in the
/// middle of libtorch_python.so (about 8 MB). Failures: those of HttpSource and Zip, and a wheel without
/// METADATA.
[[nodiscard]] Result<WheelInfo> inspect_wheel(HttpConnection& connection, const IndexFile& file, bool torch);

[[nodiscard]] Json to_json(const WheelInfo& info);
/// Nothing for what `to_json` did not write.
[[nodiscard]] std::optional<WheelInfo> wheel_info_from(const Json& json);

/// The architecture list in a library's bytes: "sm_50 sm_60 compute_60" between two NUL bytes, the first with
/// two entries, else the longest with one. Fed in pieces.
class ArchListFinder {
  public:
    void feed(std::string_view bytes);
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

  private:
    std::string carry_;
    std::optional<std::string> found_;
    bool done_ = false;
};

/// "12.4" of the line "cuda: Optional[str] = '12.4'" of torch/version.py; empty for None and where there is
/// no such line.
[[nodiscard]] std::string python_constant(std::string_view text, std::string_view name);

}  // namespace cudamatrix::measure
