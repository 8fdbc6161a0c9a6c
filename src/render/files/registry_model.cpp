#include "render/files/registry_model.hpp"

#include <algorithm>

#include "base/mirrors.hpp"
#include "render/files/common_model.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

// A base by the name that it is pulled by, with the digest of the lock; without one by its tag alone.
Object base_model(const std::string& reference, const Matrix& matrix, const Lock* lock) {
    const auto* pin = lock == nullptr ? nullptr : lock->registry_base(reference);
    auto from = pulled_reference(reference, matrix.mirrors);
    if (pin != nullptr) from += "@" + pin->digest;
    return Object{{"reference", reference},
                  {"digest", pin == nullptr ? std::string(kUnpinned) : pin->digest},
                  {"from", std::move(from)}};
}

// What takes the place of the base's own package sources.
Object sources_model(const Image& image) {
    const bool debian = image.family == "cpu";
    const bool dnf = image.package_manager == "dnf";
    const auto& [archive, security, snapshot] = image.sources;
    List apt;
    if (!dnf && !archive.empty()) {
        apt.push_back(Object{{"archive", archive},
                             {"security", list_of_one(security)},
                             {"universe", !debian},
                             {"snapshot", list_of_one(snapshot)}});
    }
    return Object{{"apt", std::move(apt)}, {"dnf", list_of_one(dnf ? archive : "")}};
}

// What a tag leaves open and the cell says.
Object check_model(const Image& image) {
    const bool tag_is_silent = image.family == "pytorch" || image.family == "ngc";
    const auto arch = list_of_one(image.arch == "x86_64" ? "" : image.arch);
    const auto os = list_of_one(tag_is_silent ? image.os : "");
    List python;
    if (tag_is_silent && !image.python.empty())
        python.push_back(Object{{"command", python_command(image)}, {"minor", image.python}});
    const bool any = !arch.empty() || !os.empty() || !python.empty();
    return Object{{"any", any}, {"arch", arch}, {"os", os}, {"python", std::move(python)}};
}

}  // namespace

void add_registry_model(Object& model, const Matrix& matrix, const Image& image, const Lock* lock) {
    model["base"] = base_model(image.base_reference, matrix, lock);
    List devel;
    if (!image.devel_reference.empty()) devel.emplace_back(base_model(image.devel_reference, matrix, lock));
    model["devel"] = Object{{"own", std::move(devel)}};
    auto interpreter = base_model(
        image.installer_reference.empty() ? image.base_reference : image.installer_reference, matrix, lock);
    auto common = *model["interpreter"].object();
    interpreter.merge(common);
    model["interpreter"] = std::move(interpreter);
    model["dnf"] = image.package_manager == "dnf";
    model["sources"] = sources_model(image);
    model["check"] = check_model(image);
}

}  // namespace cudamatrix
