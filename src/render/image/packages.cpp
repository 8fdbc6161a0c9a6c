// packages: of a cell: what stands for auto and any, which wheels there are, what their dependencies may be.

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "knowledge/facts/lookup.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/wheel_tags.hpp"
#include "knowledge/resolve/unpinned.hpp"
#include "matrix/value.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {

// packages: {torchvision: auto, vllm: any}: the release that goes with the cell's torch, and the one that pip
// would take and the rules judged, from the facts: an image is pinned.

namespace {

// Their builds for one CUDA lie in the index of torch's variant, beside it.
bool has_variants(std::string_view package) {
    return package == "torchvision" || package == "torchaudio";
}

// The release that goes with the torch of the image.
std::optional<PackageRelease> companion(const Request& request, std::string_view package) {
    const auto& torch = request.torch->exact;
    if (package == "numpy") return lookup::numpy_companion(request.facts, request.image.python, torch);
    const auto row = lookup::torch_companion(request.facts, package, torch);
    if (!row) return std::nullopt;
    const auto text = row->text("version");
    return PackageRelease{text, pep440::Version::parse(text).value_or(pep440::Version{}), *row};
}

std::string find_unpinned(Request& request) {
    const auto released = rules::with_releases(request.cell, request.facts);
    if (!released) return {};
    auto& image = request.image;
    for (const auto& [name, release] : released->items) {
        for (auto& [own, version] : image.packages) {
            if (own != name || version != kAnyVersion) continue;
            if (release == kAnyVersion)
                return fmt::format(
                    "packages {} any: no fact says which release pip would take; write its "
                    "version",
                    name);
            version = release;
            const auto row = lookup::package_release(request.facts, pep440::canonical_name(name), release);
            image.companions.push_back(fmt::format("{} {} is what pip would take for any{}", name, release,
                                                   row ? fmt::format(" [{}]", row->id()) : ""));
        }
    }
    return {};
}

}  // namespace

std::string find_companions(Request& request) {
    if (auto reason = find_unpinned(request); !reason.empty()) return reason;
    auto& image = request.image;
    for (auto& [name, version] : image.packages) {
        if (version != kCompanionVersion) continue;
        if (!request.torch)
            return fmt::format("packages {} auto: the cell names no torch that it could go with", name);
        const auto package = pep440::canonical_name(name);
        if (package == "numpy" && image.python.empty())
            return fmt::format("packages {} auto: the cell names no python, and the tag of its image neither",
                               name);
        const auto found = companion(request, package);
        if (!found) {
            return fmt::format(
                "packages {} auto: no fact says which release goes with torch {}; write its version", name,
                image.torch);
        }
        version = found->text;
        image.companions.push_back(
            fmt::format("{} {} goes with torch {}{} [{}]", package, version, image.torch,
                        package == "numpy" ? " and python " + image.python : "", found->row.id()));
        if (!image.torch_index_default && has_variants(package)) version += "+" + image.torch_variant;
    }
    return {};
}

namespace {

bool has_wheel(const Row& release, std::string_view arch, const lookup::PythonAbi& python) {
    return lookup::any_serves(lookup::glibc_wheel_tags(release, arch), python);
}

// ": numpy 2.5.1 has one", the newest; empty where no release has.
std::string newest_with_wheel(const Request& request, const std::string& package,
                              const lookup::PythonAbi& python) {
    std::string_view newest;
    for (const auto& release : request.facts.package_releases(package)) {
        if (!lookup::is_yanked(release.row) && has_wheel(release.row, request.image.arch, python))
            newest = release.text;
    }
    return newest.empty() ? "" : fmt::format(": {} {} has one", package, newest);
}

}  // namespace

std::string find_wheels(Request& request) {
    const auto& image = request.image;
    const auto python = lookup::python_abi(image.python);
    if (!python) return {};
    for (const auto& [name, version] : image.packages) {
        const auto package = pep440::canonical_name(name);
        const auto release = lookup::package_release(request.facts, package, version);
        if (!release || !release->has("abi") || has_wheel(*release, image.arch, *python)) continue;
        return fmt::format(
            "packages {} {}: it has no wheel for python {} on {}, and images get wheels only, nothing is "
            "built from source; name another release or python{}",
            name, version, image.python, image.arch, newest_with_wheel(request, package, *python));
    }
    return {};
}

std::string find_constraints(Request& request) {
    constexpr std::string_view kAtLeast = ">=";
    auto& image = request.image;
    auto packages = image.packages;
    if (request.torch) packages.emplace_back("torch", image.torch);
    const auto is = [](std::string_view name) {
        return [name](const auto& package) { return pep440::canonical_name(package.first) == name; };
    };
    if (std::ranges::any_of(packages, is("numpy"))) return {};
    std::set<std::string> found;
    for (const auto& row : request.facts.rows("package_numpy_abi")) {
        if (!lookup::is_about_system(row, "linux")) continue;
        const auto versions = pep440::Specifiers::parse(row.text("versions"));
        const auto package = std::ranges::find_if(packages, is(row.text("package")));
        if (package == packages.end() || !versions || !row.text("numpy").starts_with(kAtLeast)) continue;
        const auto version = pep440::Version::parse(package->second);
        if (version && versions->admits(*version))
            found.insert(fmt::format("numpy<{}", row.text("numpy").substr(kAtLeast.size())));
    }
    image.constraints.assign(found.begin(), found.end());
    return {};
}

}  // namespace cudamatrix::family
