#include "fatbin/arch.hpp"

namespace cudamatrix::fatbin {
namespace {

/// One or more digits without a leading zero, at most three; the text shrinks by what was read.
std::optional<int> take_number(std::string_view& text) {
    std::size_t n = 0;
    int value = 0;
    while (n < text.size() && text[n] >= '0' && text[n] <= '9') {
        if (n == 3) return std::nullopt;
        value = value * 10 + (text[n] - '0');
        ++n;
    }
    if (n == 0 || (n > 1 && text[0] == '0')) return std::nullopt;
    text.remove_prefix(n);
    return value;
}

/// "major.minor" at the front of the text.
std::optional<PtxIsa> take_pair(std::string_view& text) {
    const auto major = take_number(text);
    if (!major || text.empty() || text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
    const auto minor = take_number(text);
    if (!minor) return std::nullopt;
    return PtxIsa{*major, *minor};
}

const char* suffix(Variant variant) {
    return variant == Variant::specific ? "a" : variant == Variant::family ? "f" : "";
}

}  // namespace

std::optional<Arch> parse_arch(std::string_view text) {
    const auto pair = take_pair(text);
    // The minor of a compute capability is one digit: sm_ names leave no room for more.
    if (!pair || pair->major == 0 || pair->minor > 9) return std::nullopt;
    for (const Variant variant : {Variant::base, Variant::specific, Variant::family}) {
        if (text == suffix(variant)) return Arch{pair->major, pair->minor, variant};
    }
    return std::nullopt;
}

std::string to_text(const Arch& arch) {
    return std::to_string(arch.major) + "." + std::to_string(arch.minor) + suffix(arch.variant);
}

std::optional<PtxIsa> parse_ptx_isa(std::string_view text) {
    const auto pair = take_pair(text);
    if (!pair || pair->major == 0 || !text.empty()) return std::nullopt;
    return pair;
}

std::string to_text(PtxIsa isa) {
    return std::to_string(isa.major) + "." + std::to_string(isa.minor);
}

Arch arch_from_number(unsigned number, Variant variant) {
    return Arch{static_cast<int>(number / 10), static_cast<int>(number % 10), variant};
}

std::string sm_number(const Arch& arch) {
    return std::to_string(arch.major) + std::to_string(arch.minor) + suffix(arch.variant);
}

bool same_capability(const Arch& a, const Arch& b) {
    return a.major == b.major && a.minor == b.minor;
}

// Compiled into images, where there are no facts: a test holds it to the table architectures.
bool is_tegra(const Arch& arch) {
    static constexpr int kTegra[][2] = {{3, 2}, {5, 3}, {6, 2}, {7, 2}, {8, 7}, {10, 1}, {11, 0}};
    for (const auto& cc : kTegra) {
        if (arch.major == cc[0] && arch.minor == cc[1]) return true;
    }
    return false;
}

bool sass_runs_on(const Arch& code, const Arch& device) {
    if (same_capability(code, device)) return true;
    if (code.variant == Variant::specific || code.major != device.major || code.minor > device.minor)
        return false;
    return !is_tegra(code) && !is_tegra(device);
}

bool ptx_compiles_for(const Arch& code, const Arch& device) {
    if (code.variant != Variant::base) return sass_runs_on(code, device);
    if (code.major != device.major) return code.major < device.major;
    return code.minor <= device.minor;
}

}  // namespace cudamatrix::fatbin
