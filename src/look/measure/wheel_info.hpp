// What one wheel says of itself, read by range requests into its zip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "look/measure/compiler.hpp"
#include "look/measure/demand.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

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
        arch;  ///< what torch.cuda.get_arch_list() splits: "sm_80 sm_90"; nothing: not found
    std::optional<std::vector<LibraryCode>> library_code;  ///< nothing: its libraries were not read
    std::optional<CompilerSays> compiler;                  ///< of a wheel of NVIDIA's compiler that was asked
    std::uint64_t bytes = 0;                               ///< that came over the network for it
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
