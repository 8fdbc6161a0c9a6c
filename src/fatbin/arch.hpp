#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace cudamatrix::fatbin {

/// Which devices code may use: `base` runs on later minors too, `family` (written "f") inside its family,
/// `specific` (written "a") on one compute capability only.
enum class Variant { base, family, specific };

/// A compute capability with its variant. Text forms: "7.5", "9.0a", "12.0f".
struct Arch {
    int major = 0;
    int minor = 0;
    Variant variant = Variant::base;

    /// By capability, then base < family < specific.
    [[nodiscard]] auto key() const { return std::make_tuple(major, minor, variant); }
    friend bool operator==(const Arch& a, const Arch& b) { return a.key() == b.key(); }
    friend bool operator!=(const Arch& a, const Arch& b) { return a.key() != b.key(); }
    friend bool operator<(const Arch& a, const Arch& b) { return a.key() < b.key(); }
};

/// A version of the PTX language, as in the `.version` line of a PTX file.
struct PtxIsa {
    int major = 0;
    int minor = 0;

    friend bool operator==(PtxIsa a, PtxIsa b) { return a.major == b.major && a.minor == b.minor; }
    friend bool operator<(PtxIsa a, PtxIsa b) {
        return a.major != b.major ? a.major < b.major : a.minor < b.minor;
    }
};

/// "7.5", "9.0a", "12.0f"; nothing else is accepted (no "75", no "sm_75", no leading zeros, no blanks).
[[nodiscard]] std::optional<Arch> parse_arch(std::string_view text);
[[nodiscard]] std::string to_text(const Arch& arch);

/// "8.4". Same strictness.
[[nodiscard]] std::optional<PtxIsa> parse_ptx_isa(std::string_view text);
[[nodiscard]] std::string to_text(PtxIsa isa);

/// From the number in a fat binary's entry or an sm_ name: 75 -> 7.5, 121 -> 12.1. The last digit is the
/// minor.
[[nodiscard]] Arch arch_from_number(unsigned number, Variant variant = Variant::base);

/// The number in sm_ and compute_ names: 7.5 -> "75", 9.0a -> "90a".
[[nodiscard]] std::string sm_number(const Arch& arch);

/// Equal but for the variant.
[[nodiscard]] bool same_capability(const Arch& a, const Arch& b);

/// Whether it is of an integrated GPU (Tegra: Jetson, Drive).
[[nodiscard]] bool is_tegra(const Arch& arch);

/// May SASS of `code` be loaded on a device of compute capability `device`?
/// Plain code: same major, same or lower minor. "f": the same within its family. "a": only its own
/// capability. Devices of the Tegra line take no SASS but their own, and theirs runs nowhere else. Source:
/// https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (binary compatibility; family- and
/// architecture-specific features).
[[nodiscard]] bool sass_runs_on(const Arch& code, const Arch& device);

/// May PTX of `code` be compiled for `device`? Plain PTX: any later device. "f" and "a": as SASS.
/// Whether the driver knows the PTX ISA is a separate question (see cover()).
[[nodiscard]] bool ptx_compiles_for(const Arch& code, const Arch& device);

}  // namespace cudamatrix::fatbin
