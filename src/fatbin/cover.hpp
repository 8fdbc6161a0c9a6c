#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fatbin/arch.hpp"
#include "fatbin/reader.hpp"

namespace cudamatrix::fatbin {

/// One piece of code that a file offers: what the cover rule looks at.
struct Code {
    Kind kind = Kind::other;
    Arch arch;
    PtxIsa isa;  ///< PTX only

    friend bool operator==(const Code& a, const Code& b) {
        return a.kind == b.kind && a.arch == b.arch && a.isa == b.isa;
    }
    /// SASS before PTX; each by capability, then by ISA.
    friend bool operator<(const Code& a, const Code& b) {
        return std::tie(a.kind, a.arch, a.isa) < std::tie(b.kind, b.arch, b.isa);
    }
};

/// What a driver may take of one file.
struct Offer {
    std::set<Code> loaded;  ///< of containers that are loaded as they are: one piece of code is enough
    /// The code of relocatable parts, one for each object file, and how many hold just that; empty:
    /// link-time code only. Where nothing of `loaded` runs, the driver compiles and links them, and fails
    /// when one has neither PTX nor SASS for the device:
    /// https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/ (separate compilation, just-in-time linking).
    /// Static libraries of such objects are nothing but parts. In a file that also holds code of whole
    /// programs, that code alone makes a code path, as everywhere.
    std::map<std::vector<Code>, std::size_t> parts;

    /// Every piece of code, sorted, each once.
    [[nodiscard]] std::vector<Code> all() const;
};

/// The SASS and PTX of the file's containers. `with_code` tells for each whether it holds kernels
/// (containers_with_code): what holds none is not loaded for its own sake, but linked all the same.
[[nodiscard]] Offer offer_of(const Contents& contents, const std::vector<bool>& with_code);

enum class CodePath {
    sass,             ///< machine code for exactly this compute capability
    sass_same_major,  ///< machine code for an earlier minor of the same major
    ptx_jit,          ///< PTX, compiled by the driver when it is loaded
    none,
};

/// The path on which the code would run, and if there is none, what stood in the way.
struct Cover {
    CodePath code_path = CodePath::none;
    Code code;            ///< the piece that runs; meaningless for CodePath::none
    std::string text;     ///< "sass 7.5", "sass 8.0 (same major) for 8.6", "ptx 9.0 via JIT", "none: ..."
    bool linked = false;  ///< of relocatable parts, by the one that is worst off
};

/// The best code path for a device, whose variant is ignored. Without `driver_isa`, the newest PTX ISA that
/// the driver compiles, PTX counts and the text says on what it depends.
[[nodiscard]] Cover cover(const std::vector<Code>& offered, const Arch& device,
                          std::optional<PtxIsa> driver_isa);
[[nodiscard]] Cover cover(const Offer& offer, const Arch& device, std::optional<PtxIsa> driver_isa);

/// The SASS and PTX among the entries, each once.
[[nodiscard]] std::vector<Code> codes(const std::vector<Entry>& entries);

/// Inverse of summary(): "sass 7.5" or "ptx 9.0@8.4"; nothing for any other text.
[[nodiscard]] std::optional<Code> parse_code(std::string_view text);
[[nodiscard]] std::string to_text(const Code& code);

}  // namespace cudamatrix::fatbin
