// numpy beside torch, which converts tensors to and from its arrays and asks for it in no wheel.
#include <algorithm>

#include "base/text.hpp"
#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/wheel_tags.hpp"
#include "knowledge/resolve/packages.hpp"
#include "render/image/families.hpp"

namespace cudamatrix::family {
namespace {

constexpr std::string_view kNumpy = "numpy";

bool is_torch_companion(const Facts& facts, std::string_view package) {
    return std::ranges::any_of(facts.rows("torch_companions"),
                               [&](const Row& row) { return row.text("package") == package; });
}

// What torch and its companions say of it.
std::vector<pep440::Specifiers> numpy_demands(const Request& request) {
    const auto& image = request.image;
    const Value python{image.python, {}, {}};
    const Value arch{image.arch, {}, {}};
    const auto view = rules::ProjectedCell(request.cell, FieldSet{Field::python, Field::arch})
                          .with(Field::python, &python)
                          .with(Field::arch, &arch);
    const rules::Context context{view, request.facts, {}, nullptr, nullptr};
    std::vector<pep440::Specifiers> out;
    // "numpy<2": the interface that they are compiled for.
    for (const auto& constraint : image.constraints) {
        if (auto read = pep440::Specifiers::parse(constraint.substr(kNumpy.size())))
            out.push_back(*std::move(read));
    }
    auto packages = image.packages;
    packages.emplace_back("torch", image.torch);
    for (const auto& [name, version] : packages) {
        const auto row = lookup::package_release(request.facts, pep440::canonical_name(name),
                                                 version.substr(0, version.find('+')));
        if (!row) continue;
        for (const auto& demand : rules::demands_of(context, *row)) {
            if (demand.name == kNumpy) out.push_back(demand.specifiers());
        }
    }
    return out;
}

std::optional<PackageRelease> newest_numpy(const Request& request,
                                           const std::vector<pep440::Specifiers>& demands) {
    const auto python = lookup::python_abi(request.image.python);
    if (!python) return std::nullopt;
    std::optional<PackageRelease> newest;
    for (const auto& release : request.facts.package_releases(kNumpy)) {  // sorted
        if (lookup::is_yanked(release.row) || release.version.is_prerelease()) continue;
        const auto tags = lookup::glibc_wheel_tags(release.row, request.image.arch);
        const bool fits = std::ranges::all_of(
            demands, [&](const auto& specifiers) { return specifiers.admits(release.version); });
        if (fits && lookup::any_serves(tags, *python)) newest = release;
    }
    return newest;
}

}  // namespace

std::string find_numpy(Request& request) {
    auto& image = request.image;
    if (image.torch_from_base) image.refuses_numpy = false;  // whose torch comes with one
    if (image.torch.empty() || image.torch_from_base || image.refuses_numpy) return {};
    // Other packages bring their own, or have dependencies with demands on it that only pip finds.
    const bool alone = std::ranges::all_of(image.packages, [&](const auto& item) {
        return is_torch_companion(request.facts, pep440::canonical_name(item.first));
    });
    if (!alone) return {};
    const auto numpy = newest_numpy(request, numpy_demands(request));
    if (!numpy) {
        image.companions.push_back(fmt::format(
            "no numpy: none is known that goes with torch {} and python {}", image.torch, image.python));
        return {};
    }
    image.numpy = numpy->text;
    image.companions.push_back(fmt::format("numpy {} goes with torch {} and python {} [{}]", image.numpy,
                                           image.torch, image.python, numpy->row.id()));
    image.constraints.clear();  // all of them are about numpy, and the pin keeps to them
    return {};
}

}  // namespace cudamatrix::family
