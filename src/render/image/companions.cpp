// packages: {torchvision: auto}: the release that goes with the cell's torch, from the facts.
#include "knowledge/facts/companions.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "matrix/value.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

// Their builds for one CUDA lie in the index of torch's variant, beside it.
bool has_variants(std::string_view package) {
    return package == "torchvision" || package == "torchaudio";
}

}  // namespace

std::string find_companions(Request& request) {
    auto& image = request.image;
    for (auto& [name, version] : image.packages) {
        if (version != kCompanionVersion) continue;
        if (!request.torch)
            return fmt::format("packages {} auto: the cell names no torch that it could go with", name);
        const auto package = pep440::canonical_name(name);
        const auto& torch = request.torch->exact;
        if (package == "numpy" && image.python.empty())
            return fmt::format("packages {} auto: the cell names no python, and the tag of its image neither",
                               name);
        const auto row = package == "numpy" ? lookup::numpy_companion(request.facts, image.python, torch)
                                            : lookup::torch_companion(request.facts, package, torch);
        if (!row) {
            return fmt::format(
                "packages {} auto: no fact says which release goes with torch {}; write its version", name,
                image.torch);
        }
        version = row->text("version");
        image.companions.push_back(
            fmt::format("{} {} goes with torch {}{} [{}]", package, version, image.torch,
                        package == "numpy" ? " and python " + image.python : "", row->id()));
        if (!image.torch_index_default && has_variants(package)) version += "+" + image.torch_variant;
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
    if (std::any_of(packages.begin(), packages.end(), is("numpy"))) return {};
    std::set<std::string> found;
    for (const auto& row : request.facts.rows("package_numpy_abi")) {
        const auto versions = pep440::Specifiers::parse(row.text("versions"));
        const auto package = std::find_if(packages.begin(), packages.end(), is(row.text("package")));
        if (package == packages.end() || !versions || !row.text("numpy").starts_with(kAtLeast)) continue;
        const auto version = pep440::Version::parse(package->second);
        if (version && versions->admits(*version))
            found.insert(fmt::format("numpy<{}", row.text("numpy").substr(kAtLeast.size())));
    }
    image.constraints.assign(found.begin(), found.end());
    return {};
}

}  // namespace cudamatrix::family
