#include "fatbin/cover.hpp"

namespace cudamatrix::fatbin {

namespace {

/// Higher is better: the driver prefers machine code to PTX, and of each the nearest.
bool better(const Cover& found, CodePath code_path, const Code& code) {
    if (found.code_path == CodePath::none) return true;
    if (code_path != found.code_path) return code_path < found.code_path;
    // Of one capability the plain form: a file that has both holds its special kernels in the other.
    if (same_capability(found.code.arch, code.arch)) return code.arch.variant < found.code.arch.variant;
    return found.code.arch < code.arch;
}

std::string code_path_text(CodePath code_path, const Code& code, const Arch& device, bool isa_known) {
    const std::string arch = to_text(code.arch);
    if (code_path == CodePath::sass) return "sass " + arch;
    if (code_path == CodePath::sass_same_major)
        return "sass " + arch + " (same major) for " + std::to_string(device.major) + "." +
               std::to_string(device.minor);
    std::string text = "ptx " + arch + " via JIT";
    if (!isa_known) text += ", if the driver knows PTX ISA " + to_text(code.isa);
    return text;
}

std::string none_text(const std::vector<Code>& offered, const Arch& device,
                      std::optional<PtxIsa> driver_isa) {
    if (offered.empty()) return "none: no device code found";
    for (const Code& code : offered) {
        if (code.kind == Kind::ptx && ptx_compiles_for(code.arch, device) && driver_isa)
            return "none: ptx " + to_text(code.arch) + " is PTX ISA " + to_text(code.isa) +
                   ", the driver knows up to " + to_text(*driver_isa);
    }
    std::string list;
    for (const Code& code : offered)
        list += (list.empty() ? "" : ", ") + to_text(code);
    return "none: nothing here runs on " + std::to_string(device.major) + "." + std::to_string(device.minor) +
           " (" + list + ")";
}

}  // namespace

Cover cover(const std::vector<Code>& offered, const Arch& device, std::optional<PtxIsa> driver_isa) {
    Cover best;
    for (const Code& code : offered) {
        CodePath code_path = CodePath::none;
        if (code.kind == Kind::sass && sass_runs_on(code.arch, device)) {
            code_path = same_capability(code.arch, device) ? CodePath::sass : CodePath::sass_same_major;
        } else if (code.kind == Kind::ptx && ptx_compiles_for(code.arch, device) &&
                   !(driver_isa && *driver_isa < code.isa)) {
            code_path = CodePath::ptx_jit;
        }
        if (code_path != CodePath::none && better(best, code_path, code))
            best = {code_path, code, code_path_text(code_path, code, device, driver_isa.has_value())};
    }
    if (best.code_path == CodePath::none) best.text = none_text(offered, device, driver_isa);
    return best;
}

std::vector<Code> codes(const std::vector<Entry>& entries) {
    std::vector<Code> result;
    for (const std::string& line : summary(entries)) {
        if (const auto code = parse_code(line)) result.push_back(*code);
    }
    return result;
}

std::optional<Code> parse_code(std::string_view text) {
    const bool sass = text.substr(0, 5) == "sass ";
    const auto at = text.find('@');
    if (!sass && (text.substr(0, 4) != "ptx " || at == std::string_view::npos)) return std::nullopt;
    const auto arch = parse_arch(sass ? text.substr(5) : text.substr(4, at - 4));
    const auto isa = sass ? std::optional<PtxIsa>(PtxIsa{}) : parse_ptx_isa(text.substr(at + 1));
    if (!arch || !isa) return std::nullopt;
    return Code{sass ? Kind::sass : Kind::ptx, *arch, *isa};
}

std::string to_text(const Code& code) {
    if (code.kind == Kind::sass) return "sass " + to_text(code.arch);
    if (code.kind == Kind::ptx) return "ptx " + to_text(code.arch) + "@" + to_text(code.isa);
    return (code.kind == Kind::lto ? "lto " : "other ") + to_text(code.arch);
}

}  // namespace cudamatrix::fatbin
