#include "fatbin/cover.hpp"

#include <set>

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

/// `who` has it: "nothing here runs on 13.0 (sass 9.0)".
std::string none_text(const std::vector<Code>& offered, const Arch& device, std::optional<PtxIsa> driver_isa,
                      const std::string& who = "") {
    for (const Code& code : offered) {
        if (code.kind == Kind::ptx && ptx_compiles_for(code.arch, device) && driver_isa)
            return "none: " + who + "ptx " + to_text(code.arch) + " is PTX ISA " + to_text(code.isa) +
                   ", the driver knows up to " + to_text(*driver_isa);
    }
    if (offered.empty())
        return "none: " + (who.empty() ? "no device code found" : who + "link-time code only");
    std::string list;
    for (const Code& code : offered)
        list += (list.empty() ? "" : ", ") + to_text(code);
    return "none: " + who + "nothing here runs on " + std::to_string(device.major) + "." +
           std::to_string(device.minor) + " (" + list + ")";
}

/// Of two parts that both have code: is `a` the one that asks more of the driver?
bool asks_more(const Cover& a, const Cover& b) {
    if (a.code_path != b.code_path) return a.code_path > b.code_path;
    return a.code_path == CodePath::ptx_jit && b.code.isa < a.code.isa;
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

namespace {

/// The driver links all parts or none.
Cover cover_linked(const Offer& offer, const Arch& device, std::optional<PtxIsa> driver_isa) {
    Cover worst;
    const std::vector<Code>* lacking = nullptr;
    std::size_t lack = 0;
    std::size_t total = 0;
    for (const auto& [code, count] : offer.parts) {
        const Cover each = cover(code, device, driver_isa);
        total += count;
        if (each.code_path == CodePath::none) {
            if (lacking == nullptr) lacking = &code;
            lack += count;
        } else if (worst.code_path == CodePath::none || asks_more(each, worst)) {
            worst = each;
        }
    }
    if (lack == 0) {
        worst.linked = true;
        return worst;
    }
    Cover none;
    none.text = lack == total ? none_text(offer.all(), device, driver_isa)
                              : none_text(*lacking, device, driver_isa,
                                          std::to_string(lack) + " of " + std::to_string(total) +
                                              " relocatable parts cannot be linked: ");
    return none;
}

}  // namespace

Cover cover(const Offer& offer, const Arch& device, std::optional<PtxIsa> driver_isa) {
    Cover loaded = cover(std::vector<Code>(offer.loaded.begin(), offer.loaded.end()), device, driver_isa);
    if (loaded.code_path != CodePath::none || offer.parts.empty()) return loaded;
    return cover_linked(offer, device, driver_isa);
}

std::vector<Code> Offer::all() const {
    std::set<Code> all = loaded;
    for (const auto& [code, count] : parts)
        all.insert(code.begin(), code.end());
    return {all.begin(), all.end()};
}

Offer offer_of(const Contents& contents, const std::vector<bool>& with_code) {
    Offer offer;
    bool kernels = false;
    std::set<Code> part;
    const std::vector<Entry>& entries = contents.entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        // Entries before a fault belong to no whole container: what they are is known, what they lack is not.
        const bool counts = entry.container >= with_code.size() || with_code[entry.container];
        const bool relocatable = entry.section == kRelocatableSection;
        if ((relocatable || counts) && (entry.kind == Kind::sass || entry.kind == Kind::ptx))
            (relocatable ? part : offer.loaded).insert({entry.kind, entry.arch, entry.isa});
        kernels = kernels || (relocatable && counts);
        const bool last = i + 1 == entries.size() || entries[i + 1].container != entry.container;
        if (!relocatable || !last) continue;
        // Whoever links a static library makes code of its link-time code; a driver does not.
        if (!part.empty() || contents.members == 0) ++offer.parts[{part.begin(), part.end()}];
        part.clear();
    }
    if (!kernels) offer.parts.clear();
    return offer;
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
