#pragma once

#include <optional>
#include <string>
#include <string_view>
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
};

enum class CodePath {
    sass,             ///< machine code for exactly this compute capability
    sass_same_major,  ///< machine code for an earlier minor of the same major
    ptx_jit,          ///< PTX, compiled by the driver when it is loaded
    none,
};

/// The path on which the code would run, and if there is none, what stood in the way.
struct Cover {
    CodePath code_path = CodePath::none;
    Code code;         ///< the piece that runs; meaningless for CodePath::none
    std::string text;  ///< "sass 7.5", "sass 8.0 (same major) for 8.6", "ptx 9.0 via JIT", "none: ..."
};

/// The best code path for a device, whose variant is ignored. Without `driver_isa`, the newest PTX ISA that
/// the driver compiles, PTX counts and the text says on what it depends.
[[nodiscard]] Cover cover(const std::vector<Code>& offered, const Arch& device,
                          std::optional<PtxIsa> driver_isa);

/// The SASS and PTX among the entries, each once.
[[nodiscard]] std::vector<Code> codes(const std::vector<Entry>& entries);

/// Inverse of summary(): "sass 7.5" or "ptx 9.0@8.4"; nothing for any other text.
[[nodiscard]] std::optional<Code> parse_code(std::string_view text);
[[nodiscard]] std::string to_text(const Code& code);

}  // namespace cudamatrix::fatbin
