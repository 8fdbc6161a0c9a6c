#include "look/measure/toolkit.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/tags.hpp"

namespace cudamatrix::measure {
namespace {

// "nvidia-cuda-nvcc==13.4.92.*; marker" as its project and its version.
std::optional<Component> pinned(std::string_view requirement) {
    const auto whole = requirement.substr(0, requirement.find(';'));
    const auto equals = whole.find("==");
    if (equals == std::string_view::npos) return std::nullopt;
    auto version = text::trim(whole.substr(equals + 2));
    if (version.ends_with(".*")) version.remove_suffix(2);
    if (!Version::parse(version)) return std::nullopt;
    return Component{text::normalised_project(text::trim(whole.substr(0, equals))), std::string(version)};
}

// Up to CUDA 12 a project's name ends in the major: nvidia-cuda-nvcc-cu12.
bool is_project(std::string_view name, std::string_view project) {
    return name == project || (name.starts_with(project) && name.substr(project.size()).starts_with("-cu"));
}

// The compiler's own wheels first, then whatever else the known row rests on.
std::vector<std::string> sources(const WheelInfo& compiler, const WheelInfo* headers,
                                 const std::optional<Row>& known) {
    std::vector<std::string> out{source_text(compiler)};
    if (headers != nullptr) out.push_back(source_text(*headers));
    if (!known) return out;
    for (const auto source : known->list("source")) {
        const bool is_compiler =
            source.starts_with("wheel:nvidia_cuda_nvcc") || source.starts_with("wheel:nvidia_cuda_crt");
        if (!is_compiler) out.emplace_back(source);
    }
    return out;
}

}  // namespace

Result<ToolkitRelease> toolkit_release(const WheelInfo& info) {
    ToolkitRelease out;
    const auto version = Version::parse(info.metadata.version);
    for (const auto& requirement : info.metadata.requires_dist) {
        auto component = pinned(requirement);
        if (!component) continue;
        if (out.nvcc.package.empty() && is_project(component->package, "nvidia-cuda-nvcc")) {
            out.nvcc = std::move(*component);
        } else if (!out.headers && is_project(component->package, "nvidia-cuda-crt")) {
            out.headers = std::move(*component);
        }
    }
    if (!version || version->size() < 3 || out.nvcc.package.empty())
        return input_failure(fmt::format("{}: its METADATA names no release of CUDA with an nvcc",
                                         text::printable(info.file)));
    // A meta package that was made again has a fourth number.
    out.cuda = fmt::format("{}.{}.{}", version->major(), version->minor(), version->part(2));
    out.minor = version->major_minor();
    out.source = source_text(info);
    return out;
}

std::vector<ToolkitRelease> newest_of_minors(const std::vector<ToolkitRelease>& releases) {
    std::vector<ToolkitRelease> out;
    for (const auto& release : releases) {
        const auto there = std::find_if(out.begin(), out.end(), [&](const ToolkitRelease& other) {
            return other.minor == release.minor;
        });
        if (there == out.end()) {
            out.push_back(release);
        } else if (*Version::parse(there->cuda) < *Version::parse(release.cuda)) {
            *there = release;
        }
    }
    return out;
}

std::optional<IndexFile> component_wheel(const std::vector<IndexFile>& files, const Component& component,
                                         std::string_view arch) {
    const auto wanted = pep440::Version::parse(component.version);
    for (const auto& file : files) {
        const auto name = parse_wheel_name(file.name);
        if (!name || linux_arch(*name) != arch) continue;
        const auto version = pep440::Version::parse(name->version);
        if (version && wanted && *version == *wanted) return file;
    }
    return std::nullopt;
}

MeasuredRow release_row(const ToolkitRelease& release) {
    return {
        "cuda_releases",
        "cuda-" + release.cuda,
        {scalar("cuda", release.cuda), scalar("minor", release.minor), scalar("nvcc", release.nvcc.version),
         scalar("source", release.source), scalar("confidence", "measured")}};
}

Result<MeasuredRow> toolkit_row(const ToolkitRelease& release, const WheelInfo& compiler,
                                const WheelInfo* headers, const Facts& facts) {
    MeasuredRow row{"cuda_toolkits", "cuda-toolkit-" + release.minor, {}};
    const auto known = facts.row(row.id);
    const auto& says = *compiler.compiler;
    if (!known && says.targets.empty())
        return input_failure(
            fmt::format("CUDA {}: no fact knows its targets and PTX, and its ptxas was not run (--execute)",
                        release.minor));
    row.cells = {scalar("cuda", release.minor), scalar("newest", release.cuda)};
    if (!says.targets.empty()) {
        row.cells.push_back(scalar("ptx_isa", says.ptx_isa));
        row.cells.push_back(list("targets", says.targets));
    }
    const auto& limits = says.has_header || headers == nullptr ? says.limits : headers->compiler->limits;
    if (!limits.gcc_max.empty()) row.cells.push_back(scalar("gcc_max", limits.gcc_max));
    if (!limits.clang_max.empty()) row.cells.push_back(scalar("clang_max", limits.clang_max));
    row.cells.push_back(scalar("nvcc_wheel", says.has_nvcc ? "true" : "false"));
    auto source = list("source", sources(compiler, headers, known));
    source.is_list = source.values.size() > 1;
    row.cells.push_back(std::move(source));
    row.cells.push_back(scalar("confidence", "measured"));
    return row;
}

}  // namespace cudamatrix::measure
