#include <algorithm>

#include "advise/audit/parts.hpp"
#include "advise/sources/requirements.hpp"
#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"

namespace cudamatrix::audit {
namespace {

using sources::Index, sources::IndexKind, sources::Requirement;

std::string shown(const Requirement& requirement) {
    return text::printable(requirement.name + requirement.specifier);
}

std::string release_of(std::string_view text) {
    return std::string(text.substr(0, text.find('+')));
}

// An address of the default index or of a mirror of it, as far as anybody can tell.
bool is_default_like(const Index& index) {
    return index.kind == IndexKind::extra || index.url.find("/simple") != std::string::npos;
}

// What the indexes of an install say together.
struct Indexes {
    std::string variant;     // of those for one CUDA
    bool is_index = false;   // it takes the place of the default index
    bool elsewhere = false;  // there are others
    bool unknown = false;    // ... of which no fact knows the wheels
    bool links = false;
    std::string of_page;  // the variant of PyTorch's page of one CUDA
    std::string skipped;
};

// Below .../whl/ it lists every build, below .../whl/cu118/ those of one.
constexpr std::string_view kTorchPage = "/torch_stable.html";

Indexes understood(const std::vector<Index>& indexes) {
    Indexes out;
    for (const auto& index : indexes) {
        const auto variant = variant_of_index(index.url);
        if (is_open(index.url)) {
            out.skipped = "the address of its index is known in the build only";
        } else if (index.kind == IndexKind::find_links) {
            out.links = true;
            if (index.url.ends_with(kTorchPage))
                out.of_page = variant_of_index(
                    std::string_view(index.url).substr(0, index.url.size() - kTorchPage.size()));
        } else if (variant.empty()) {
            out.elsewhere = true;
            out.unknown = out.unknown || !is_default_like(index);
        } else if (out.variant.empty()) {
            out.variant = variant;
            out.is_index = index.kind == IndexKind::index;
        } else if (out.variant != variant) {
            out.skipped = "several indexes have it, and pip takes from any of them";
        }
    }
    return out;
}

// What the pins of the same install demand of torch: torchvision==0.15.2 decides which torch goes with it.
// Companions first, which demand one release; then what facts know of the pinned releases.
std::string specifier_of_pins(const Pins& pins, const Facts& facts) {
    for (const auto& row : facts.rows("torch_companions")) {
        const auto pin = pins.find(std::string(row.text("package")));
        if (pin == pins.end() || !row.has("torch")) continue;
        if (release_of(exact_version(pin->second->specifier)) == row.text("version"))
            return "==" + std::string(row.text("torch"));
    }
    std::vector<std::string> clauses;
    for (const auto& [name, requirement] : pins) {
        const auto release =
            lookup::package_release(facts, name, release_of(exact_version(requirement->specifier)));
        if (!release || !release->has("requires")) continue;
        for (const auto demand : release->list("requires")) {
            if (!demand.starts_with("torch ") || demand.find(';') != std::string_view::npos) continue;
            auto clause = text::replace_all(demand.substr(6), " ", "");
            if (clause.starts_with("==") && !exact_version(clause).empty()) return clause;
            clauses.push_back(clause);
        }
    }
    return text::join(clauses, ",");
}

TorchOutcome skipped(std::string why) {
    return {{}, std::move(why), {}, {}};
}

// https://.../torch-2.1.0%2Bcu121-cp310-cp310-linux_x86_64.whl
TorchOutcome torch_of_wheel(const TorchInstall& asked, const Facts& facts) {
    const auto& url = asked.requirement.url;
    const auto wheel = sources::wheel_name(url);
    if (!wheel || is_open(url) || asked.base.jetson)
        return skipped("its address names no wheel whose version is written");
    auto text = wheel->version;
    // Wheels of the PyTorch project lie in a folder of their variant.
    const auto variant = variant_of_index(std::string_view(url).substr(0, url.rfind('/')));
    if (text.find('+') == std::string::npos && !variant.empty()) text += "+" + variant;
    if (!lookup::torch(facts, text, asked.arch))
        return skipped(fmt::format("no fact knows torch {}", text::printable(text)));
    TorchOutcome out;
    out.torch = Torch{text, {}, asked.requirement.where, asked.python};
    const auto& tag = wheel->python;
    if (tag.starts_with("cp") && tag.size() > 3)
        out.torch->python = {fmt::format("{}.{}", tag[2], tag.substr(3)), asked.requirement.where};
    return out;
}

void find_mistakes(const TorchInstall& asked, const Indexes& indexes, const TorchDemand& demand,
                   const TorchChoice& choice, TorchOutcome& out) {
    const auto& requirement = asked.requirement;
    if (exact_version(demand.specifier).empty() && !indexes.variant.empty() && !indexes.is_index &&
        asked.compares_indexes) {
        out.findings.push_back(found(
            "torch-from-any-index", requirement.where,
            fmt::format(
                "{} leaves the release open: {} takes the highest of the index {} and of the default one, whatever CUDA that is built for",
                shown(requirement), asked.install.tool, indexes.variant),
            fmt::format("pin it (torch==VERSION+{}), or give the index as --index-url", indexes.variant)));
    }
    const auto& before = asked.before;
    if (!before || choice.chosen || before->variant.empty() || !indexes.variant.empty() ||
        choice.text.find('+') != std::string::npos)
        return;
    if (release_of(choice.text) == release_of(before->text)) return;
    out.findings.push_back(found(
        "requirement-replaces-torch", requirement.where,
        fmt::format("{} replaces the torch {} that was installed before, and comes from the default index",
                    shown(requirement), before->text),
        fmt::format("write torch=={}, or leave torch out here", release_of(before->text))));
}

}  // namespace

TorchOutcome torch_of(const TorchInstall& asked, const Facts& facts) {
    const auto& requirement = asked.requirement;
    if (!requirement.url.empty()) return torch_of_wheel(asked, facts);
    if (is_open(requirement.specifier)) return skipped("its version is known in the build only");
    const auto indexes = understood(asked.indexes);
    const auto exact = exact_version(requirement.specifier);
    const bool names_build = exact.find('+') != std::string::npos;
    if (!indexes.skipped.empty()) return skipped(indexes.skipped);
    if (indexes.variant == "nightly" || exact.find("dev") != std::string::npos)
        return skipped("a nightly build of the day of the build");
    const auto local = names_build ? exact.substr(exact.find('+') + 1) : std::string();
    if (indexes.variant == "rocm" || indexes.variant == "xpu" || local.starts_with("rocm") ||
        local.starts_with("xpu"))
        return skipped("a build for another kind of GPU");
    if (asked.base.jetson) {
        auto out = skipped("no fact describes the wheels for Jetson");
        if (asked.indexes.empty())
            out.findings.push_back(found(
                "jetson-cpu-torch", requirement.where,
                fmt::format(
                    "{} comes from the Python index and takes the place of the torch for Jetson: its wheels are not built for that",
                    shown(requirement)),
                "leave torch out here, or name the index with wheels for Jetson"));
        return out;
    }
    // pip prefers a local version to the plain one of the default index (PEP 440).
    const auto of_page = exact + "+" + indexes.of_page;
    if (!names_build && !exact.empty() && indexes.of_page.starts_with("cu") && asked.indexes.size() == 1) {
        const auto known = lookup::torch(facts, of_page, asked.arch);
        if (known && known->wheel) {
            TorchOutcome out;
            out.torch = Torch{of_page, indexes.of_page, requirement.where, asked.python};
            return out;
        }
    }
    if (!names_build && indexes.links)
        return skipped("which build of a page of links pip takes is not written");
    if (!names_build && indexes.unknown && indexes.variant.empty())
        return skipped("no fact describes the wheels of its index");
    TorchDemand demand{
        requirement.specifier, indexes.variant, indexes.is_index && !indexes.elsewhere && !indexes.links,
        asked.python.text,     asked.arch,      asked.today};
    if (exact.empty()) {
        const auto named = specifier_of_pins(asked.pins, facts);
        const bool decides = !exact_version(named).empty();
        if (decides || demand.specifier.empty()) {
            demand.specifier = named;
        } else if (!named.empty()) {
            demand.specifier += "," + named;
        }
    }
    const auto choice = torch_choice(demand, facts);
    if (choice.text.empty()) return skipped("no fact knows a release that its conditions admit");
    if (choice.chosen && asked.is_open)
        return skipped("which release pip takes depends on what is not known of the image");
    TorchOutcome out;
    find_mistakes(asked, indexes, demand, choice, out);
    if (choice.chosen) out.note = fmt::format("{} is {} today", shown(requirement), choice.text);
    out.torch = Torch{choice.text, indexes.variant, requirement.where, asked.python};
    return out;
}

TorchOutcome torch_of_conda(const sources::CondaInstall& install, const Chosen& python,
                            const std::string& arch, const Facts& facts) {
    const sources::CondaInstall::Spec* torch = nullptr;
    std::string cuda;
    bool is_cpu = false;
    for (const auto& spec : install.specs) {
        if (spec.name == "pytorch-cuda" || spec.name == "cudatoolkit")
            cuda = spec.version.starts_with("==") ? exact_version(spec.version) : spec.version;
        if (spec.name == "cpuonly") is_cpu = true;
        if (spec.name == "pytorch") torch = &spec;
    }
    if (torch == nullptr) return {};
    const bool of_pytorch =
        torch->channel == "pytorch" ||
        (torch->channel.empty() && std::ranges::find(install.channels, "pytorch") != install.channels.end());
    const bool plain = !torch->version.empty() && text::is_digit(torch->version[0]) &&
                       torch->version.find_first_of("*<>,|") == std::string::npos;
    const auto version = plain ? torch->version : exact_version(torch->version);
    const auto parts = text::split(cuda, '.');
    const auto variant = is_cpu              ? std::string("cpu")
                         : parts.size() >= 2 ? "cu" + parts[0] + parts[1]
                                             : std::string();
    if (is_open(torch->version) || is_open(cuda)) return skipped("its version is known in the build only");
    if (!of_pytorch || !torch->build.empty())
        return skipped("no fact describes conda's builds but those of the channel pytorch");
    if (variant.empty() || version.empty()) return skipped("which build conda takes is not written");
    const auto text = version + "+" + variant;
    const auto known = lookup::torch(facts, text, arch);
    if (!known || !known->wheel)
        return skipped(fmt::format("no fact describes a build {} of it", text::printable(text)));
    TorchOutcome out;
    out.torch = Torch{text, variant, torch->where, python};
    return out;
}

}  // namespace cudamatrix::audit
