#include <algorithm>

#include "advise/audit/parts.hpp"
#include "advise/sources/sources.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::audit {

std::string variant_of_index(std::string_view url) {
    while (url.ends_with("/"))
        url.remove_suffix(1);
    if (url.find("/nightly") != std::string_view::npos) return "nightly";
    const auto last = url.substr(url.find_last_of("/:") + 1);
    if (last == "cpu") return "cpu";
    if (last.starts_with("rocm")) return "rocm";
    if (last.starts_with("xpu")) return "xpu";
    const bool cuda = last.starts_with("cu") && last.size() >= 4 && last.size() <= 5 &&
                      std::ranges::all_of(last.substr(2), text::is_digit);
    return cuda ? std::string(last) : std::string();
}

std::string exact_version(std::string_view specifier) {
    if (!specifier.starts_with("==")) return {};
    auto version = specifier.substr(specifier.starts_with("===") ? 3 : 2);
    if (version.find_first_of(",*<>!") != std::string_view::npos) return {};
    return std::string(version);
}

namespace {

// Not one that came out later.
bool is_out(const Row& wheel, std::string_view today, const Facts& facts) {
    const auto release = facts.row(fmt::format("torch-{}", wheel.text("torch")));
    return today.empty() || !release || !release->has("released") || release->text("released") <= today;
}

bool fits_python(const Row& wheel, std::string_view python) {
    return python.empty() || !wheel.has("pythons") || facts::contains(wheel.list("pythons"), python);
}

// The newest release of a build, as pip would take it; `variant` empty: of the default index.
std::optional<std::string> newest(const TorchDemand& demand, const pep440::Specifiers& admits,
                                  std::string_view variant, const Facts& facts) {
    std::optional<pep440::Version> best;
    for (const auto& wheel : facts.rows("torch_wheels")) {
        const bool of_index =
            variant.empty() ? wheel.text("default_index") == "true" : wheel.text("variant") == variant;
        if (!of_index || wheel.text("arch") != demand.arch || !fits_python(wheel, demand.python) ||
            !is_out(wheel, demand.today, facts) || lookup::is_yanked_build(facts, wheel))
            continue;
        auto version = pep440::Version::parse(wheel.text("torch"));
        if (!version || version->is_prerelease() || !admits.admits(*version)) continue;
        if (!best || *version > *best) best = std::move(version);
    }
    return best ? std::optional(best->text()) : std::nullopt;
}

}  // namespace

TorchChoice torch_choice(const TorchDemand& demand, const Facts& facts) {
    const auto with_variant = [&](const std::string& version) {
        return demand.variant.empty() || version.find('+') != std::string::npos
                   ? version
                   : version + "+" + demand.variant;
    };
    if (const auto exact = exact_version(demand.specifier); !exact.empty()) {
        if (demand.only_index || demand.variant.empty() || exact.find('+') != std::string::npos)
            return {with_variant(exact), false};
        // Of several indexes pip takes the one that has it; an index that never was is named all the same.
        const auto there = lookup::torch(facts, with_variant(exact), demand.arch);
        const bool has_index = std::ranges::any_of(facts.rows("torch_wheels"), [&](const Row& row) {
            return row.text("variant") == demand.variant;
        });
        return {(there && there->wheel) || !has_index ? with_variant(exact) : exact, false};
    }
    const auto admits = pep440::Specifiers::parse(demand.specifier.empty() ? ">=0" : demand.specifier);
    if (!admits) return {};
    if (!demand.variant.empty()) {
        if (auto version = newest(demand, *admits, demand.variant, facts))
            return {with_variant(*version), true};
        const bool has_index = std::ranges::any_of(facts.rows("torch_wheels"), [&](const Row& row) {
            return row.text("variant") == demand.variant;
        });
        if (has_index) return {};
    }
    auto version = newest(demand, *admits, {}, facts);
    return version ? TorchChoice{with_variant(*version), true} : TorchChoice{};
}

}  // namespace cudamatrix::audit
