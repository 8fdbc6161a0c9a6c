#include "render/registry_model.hpp"

#include <algorithm>

#include "base/mirrors.hpp"
#include "render/wanted.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

constexpr std::string_view kUnpinned = "unpinned";
constexpr std::string_view kVenv = "/opt/venv";

// A base by the name that it is pulled by, with the digest of the lock; without one by its tag alone.
Object base_model(const std::string& reference, const Matrix& matrix, const Lock* lock) {
    const auto* pin = lock == nullptr ? nullptr : lock->registry_base(reference);
    auto from = pulled_reference(reference, matrix.mirrors);
    if (pin != nullptr) from += "@" + pin->digest;
    return Object{{"reference", reference},
                  {"digest", pin == nullptr ? std::string(kUnpinned) : pin->digest},
                  {"from", std::move(from)}};
}

List only(const std::string& value) {
    return value.empty() ? List{} : List{value};
}

// What takes the place of the base's own package sources.
Object sources_model(const Image& image) {
    const bool debian = image.family == "cpu";
    const bool dnf = image.package_manager == "dnf";
    const auto& [archive, security, snapshot] = image.sources;
    List apt;
    if (!dnf && !archive.empty()) {
        apt.push_back(Object{{"archive", archive},
                             {"security", only(security)},
                             {"universe", !debian},
                             {"snapshot", only(snapshot)}});
    }
    return Object{{"apt", std::move(apt)}, {"dnf", only(dnf ? archive : "")}};
}

// What a tag leaves open and the cell says.
Object check_model(const Image& image) {
    const bool tag_is_silent = image.family == "pytorch" || image.family == "ngc";
    const auto arch = only(image.arch == "x86_64" ? "" : image.arch);
    const auto os = only(tag_is_silent ? image.os : "");
    List python;
    if (tag_is_silent && !image.python.empty())
        python.push_back(Object{{"command", python_command(image)}, {"minor", image.python}});
    const bool any = !arch.empty() || !os.empty() || !python.empty();
    return Object{{"any", any}, {"arch", arch}, {"os", os}, {"python", std::move(python)}};
}

Object python_model(const Image& image, bool wheels) {
    const bool standalone = image.python_from == "standalone";
    const bool venv = wheels || standalone;
    List options;
    if (image.torch_from_base) options = {"--system-site-packages", "--without-pip"};
    return Object{{"standalone", standalone},
                  {"command", python_command(image)},
                  {"run", venv ? std::string(kVenv) + "/bin/python" : python_command(image)},
                  {"shares_base", image.torch_from_base},
                  {"venv_any", venv},
                  {"venv_bin", std::string(kVenv) + "/bin"},
                  {"venv_options", std::move(options)}};
}

}  // namespace

std::string python_command(const Image& image) {
    return image.python_from == "standalone" ? "/opt/python/python3" : "python3";
}

void add_registry_model(Object& model, const Matrix& matrix, const Image& image, const Lock* lock) {
    model["base"] = base_model(image.base_reference, matrix, lock);
    List devel;
    if (!image.devel_reference.empty()) devel.emplace_back(base_model(image.devel_reference, matrix, lock));
    model["devel"] = Object{{"own", std::move(devel)}};
    auto interpreter = base_model(
        image.installer_reference.empty() ? image.base_reference : image.installer_reference, matrix, lock);
    interpreter["release"] = image.python_release;
    interpreter["mirror"] = only(image.indexes.builds);
    model["interpreter"] = std::move(interpreter);
    model["python"] = python_model(image, !wanted_of(image).wheels.empty());
    model["dnf"] = image.package_manager == "dnf";
    model["sources"] = sources_model(image);
    model["check"] = check_model(image);
}

}  // namespace cudamatrix
