#include "look/measure/toolkit.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "knowledge/facts/pep440.hpp"
#include "look/measure/image_news.hpp"

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
        const auto there = std::ranges::find_if(
            out, [&](const ToolkitRelease& other) { return other.minor == release.minor; });
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

namespace {

using Versions = std::map<std::string, std::string, std::less<>>;  // by package

constexpr std::string_view kNote = "read in the archive's list of packages; nothing was compiled with it";

using text::is_digit;

Versions versions_of(std::string_view packages) {
    constexpr std::string_view name = "Package: ", version = "Version: ";
    Versions out;
    std::string inside;
    for (const auto& line : text::split(packages, '\n')) {
        if (line.empty()) inside.clear();
        if (line.starts_with(name)) inside = line.substr(name.size());
        if (line.starts_with(version) && !inside.empty()) out[inside] = line.substr(version.size());
    }
    return out;
}

// The release of the toolkit that a version is of: "11.8.0-5~deb12u1" of "11.8.89~11.8.0-5~deb12u1", where
// the component's own version comes first, and of itself.
std::string_view release_of(std::string_view version) {
    const auto mark = version.find('~');
    const bool is_component =
        mark != version.npos && mark + 1 < version.size() && is_digit(version[mark + 1]);
    return is_component ? version.substr(mark + 1) : version;
}

// "libcudart" of "libcudart11.0": the package of the next release may have another number.
std::string_view stem_of(std::string_view package) {
    while (!package.empty() && (is_digit(package.back()) || package.back() == '.'))
        package.remove_suffix(1);
    return package;
}

// The package that is now what `package` was; empty: there is none. Others than the toolkit's own keep their
// names, wherever in the archive they are.
std::string successor(const std::string& package, const Versions& versions, std::string_view release) {
    const auto there = versions.find(package);
    if (there != versions.end() && release_of(there->second) == release) return package;
    const auto stem = stem_of(package);
    if (stem == package) return package;
    for (const auto& [other, version] : versions) {
        if (other != package && stem_of(other) == stem && release_of(version) == release) return other;
    }
    return there != versions.end() ? package : std::string();
}

// The known row with what the archive has now.
Result<MeasuredRow> archive_row(const Row& known, std::string_view os, const std::string& found,
                                const Versions& versions) {
    const auto release = release_of(found);
    const auto here = fmt::format("archive of {}: {} {}", os, known.text("package"), text::printable(found));
    const auto cuda = Version::parse(release.substr(0, release.find('-')));
    if (!cuda || cuda->size() != 3 || !cuda->suffix().empty())
        return input_failure(here +
                             " names no release of CUDA; a version such as 11.2.2-3 or "
                             "12.4.131~12.4.1-2 would");
    MeasuredRow row{"toolkit_sources", std::string(known.id()), {}};
    for (const auto& column : known.columns()) {
        if (column.name == "id" || column.name == "as_of" || column.name == "note") continue;
        if (column.name == "source") row.cells.push_back(scalar("note", std::string(kNote)));
        Cell cell{std::string(column.name), {column.values.begin(), column.values.end()}, column.is_list};
        if (cell.name == "cuda") cell.values = {cuda->text()};
        if (cell.name == "package_version") cell.values = {found};
        if (cell.name == "confidence") cell.values = {"read"};
        if (cell.name == "unpack" || cell.name == "runtime") {
            for (auto& package : cell.values) {
                auto now = successor(package, versions, release);
                if (now.empty())
                    return input_failure(fmt::format("{} comes without {} or another {} of that release",
                                                     here, package, stem_of(package)));
                package = std::move(now);
            }
        }
        row.cells.push_back(std::move(cell));
    }
    return row;
}

}  // namespace

News archive_news(std::string_view packages, std::string_view os, const Facts& facts) {
    News news;
    const auto versions = versions_of(packages);
    for (const auto& row : facts.rows("toolkit_sources")) {
        if (row.text("os") != os || row.text("cuda_from") != "archive") continue;
        const auto package = std::string(row.text("package"));
        const auto known = std::string(row.text("package_version"));
        const auto name = fmt::format("{} ({})", package, os);
        const auto found = versions.find(package);
        if (found == versions.end()) {
            news.changes.push_back({Change::Kind::vanished, name, known});
        } else if (found->second != known) {
            news.changes.push_back(
                {Change::Kind::replaced, name, found->second, fmt::format("the facts have {}", known)});
            auto now = archive_row(row, os, found->second, versions);
            if (now.ok()) {
                news.rows.push_back(std::move(now).value());
            } else {
                news.not_measured.push_back(now.failure().diagnostics.front().message);
            }
        }
    }
    return news;
}

}  // namespace cudamatrix::measure
