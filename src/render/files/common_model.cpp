
#include <algorithm>

#include "base/build_info.hpp"
#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

// A line of a requirements file; the hash makes pip refuse any other bytes.
std::string installer(const ImagePins* pins, const PackageRequests& wanted) {
    if (pins == nullptr || pins->installer.empty()) return text::join(wanted.installer, " ");
    const auto& pin = pins->installer.front();
    return fmt::format("{}=={} --hash=sha256:{}", pin.name, pin.version, pin.sha256);
}

// Archives of two distributions name different packages alike, so each distribution has a cache of its own:
// where nobody knows which one it is, each base.
Object cache_model(const Matrix& matrix, const Image& image) {
    const auto tag = image.base_reference.substr(image.base_reference.rfind(':') + 1);
    return {{"any", uses_cache_mounts(matrix)},
            {"packages", fmt::format("cudamatrix-{}-{}{}", image.package_manager,
                                     image.os.empty() ? image.family + "-" + tag : image.os,
                                     image.arch == "x86_64" ? "" : "-" + image.arch)}};
}

Object python_model(const Image& image) {
    const bool venv = has_venv(image);
    List options;
    if (image.torch_from_base) options = {"--system-site-packages", "--without-pip"};
    return {{"standalone", image.python_from == "standalone"},
            {"command", python_command(image)},
            {"run", venv ? std::string(kVenv) + "/bin/python" : python_command(image)},
            {"shares_base", image.torch_from_base},
            {"venv_any", venv},
            {"venv_bin", std::string(kVenv) + "/bin"},
            {"venv_options", std::move(options)}};
}

}  // namespace

Object common_model(const Matrix& matrix, const Image& image, const ImagePins* pins) {
    return {
        {"tool", Object{{"version", kVersion}}},
        {"image",
         Object{{"id", image.id}, {"repository", image_repository(matrix)}, {"title", image_title(image)}}},
        {"header", List{}},
        {"ca", !matrix.build.ca_bundle.empty()},
        {"netrc", !matrix.build.netrc.empty()},
        {"cache", cache_model(matrix, image)},
        {"copies", List{}},
        {"pip",
         Object{{"options", pip_options(image)}, {"installer", installer(pins, package_requests(image))}}},
        {"python", python_model(image)},
        {"interpreter",
         Object{{"release", image.python_release}, {"mirror", list_of_one(image.indexes.builds)}}}};
}

bool has_venv(const Image& image) {
    const bool installs_torch = !image.torch.empty() && !image.torch_from_base;
    return image.python_from == "standalone" || installs_torch || !image.packages.empty();
}

List package_list(const std::vector<AptPin>* pins, const std::vector<std::string>& wanted) {
    List out;
    if (pins != nullptr) {
        for (const auto& [package, version] : *pins)
            out.push_back(Object{{"package", package}, {"version", version}, {"pinned", true}});
    } else {
        for (const auto& package : wanted)
            out.push_back(Object{{"package", package}, {"version", kUnpinned}, {"pinned", false}});
    }
    return out;
}

std::string python_command(const Image& image) {
    return image.python_from == "standalone" ? "/opt/python/current/bin/python3" : "python3";
}

List list_of_one(const std::string& value) {
    return value.empty() ? List{} : List{value};
}

namespace {

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
    const bool debian = image.family == "cpu" || image.family == "debian";
    const bool dnf = image.package_manager == "dnf";
    const auto& [archive, security, snapshot] = image.sources;
    List apt;
    if (!dnf && !archive.empty()) {
        apt.push_back(Object{{"archive", archive},
                             {"security", list_of_one(security)},
                             {"universe", !debian},
                             {"snapshot", list_of_one(snapshot)}});
    }
    // Debian's toolkit is in parts of its archive that its official image does not ask.
    List components;
    if (image.family == "debian" && image.cuda_from == "archive") components = {"contrib", "non-free"};
    return Object{{"apt", std::move(apt)},
                  {"dnf", list_of_one(dnf ? archive : "")},
                  {"components_any", !components.empty()},
                  {"components", std::move(components)}};
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

// The data behind the Dockerfile that resolves what an image is pinned to.

namespace {

// What makes the environment in which `lock` resolves, where the distribution's python does.
List python_packages(const Image& image) {
    if (image.python_from != "distribution") return {};
    auto packages = List{"python3"};
    if (image.package_manager == "apt") packages.emplace_back("python3-venv");
    return List{Object{{"packages", std::move(packages)}}};
}

}  // namespace

mustache::Data::Object lock_model(const Matrix& matrix, const Image& image, const Lock* lock) {
    const auto wanted = package_requests(image);
    auto model = common_model(matrix, image, nullptr);
    // What is asked of archives and indexes is what they have now.
    model["cache"] = Object{{"any", false}, {"packages", std::string()}};
    const bool bootstrapped = image.references().empty();
    if (bootstrapped) model["bootstrap"] = Object{{"file", bootstrap_of(image, matrix).file}};
    // The digests of the lock that is being made are not known here: `lock` builds on the tags that it
    // resolved.
    if (!bootstrapped) add_registry_model(model, matrix, image, lock);
    const auto named = [](std::string_view name, const std::vector<std::string>& packages) {
        return packages.empty() ? List{} : List{Object{{"name", name}, {"packages", packages}}};
    };
    const std::vector<std::string> none;
    List apt;
    for (const auto& [name, packages] :
         {std::pair{"devel", bootstrapped ? &wanted.devel : &none}, std::pair{"python", &wanted.python},
          std::pair{"runtime", &wanted.runtime}}) {
        for (auto& item : named(name, *packages))
            apt.push_back(std::move(item));
    }
    List pip;
    List toolkit;
    if (!wanted.cuda.empty()) {
        (bootstrapped ? pip : toolkit)
            .push_back(
                Object{{"name", "cuda"}, {"options", List{"--no-deps"}}, {"requirements", wanted.cuda}});
    }
    if (!wanted.wheels.empty())
        pip.push_back(Object{{"name", "wheels"}, {"options", List{}}, {"requirements", wanted.wheels}});
    if (!wanted.installer.empty())
        pip.push_back(Object{
            {"name", "installer"}, {"options", List{"--no-deps"}}, {"requirements", wanted.installer}});
    const auto complete = [&](mustache::Data& item) {
        auto object = *item.object();
        auto options = *object["options"].list();
        for (const auto& option : pip_options(image))
            options.emplace_back(option);
        // With a torch of the base, what it already holds is not installed again.
        object["own"] = !(image.torch_from_base && *object["name"].text() == "wheels");
        object["options"] = std::move(options);
        const auto& constraints =
            *object["name"].text() == "wheels" ? image.constraints : std::vector<std::string>{};
        object["constraints_any"] = !constraints.empty();
        object["constraints"] = constraints;
        item = std::move(object);
    };
    std::ranges::for_each(pip, complete);
    std::ranges::for_each(toolkit, complete);
    const bool any = !pip.empty();
    model["resolve"] = Object{{"apt", std::move(apt)},
                              {"download", named("toolkit", wanted.toolkit)},
                              {"devel", bootstrapped ? none : wanted.devel},
                              {"devel_any", !bootstrapped},
                              {"python_packages", python_packages(image)},
                              {"pip_any", any},
                              {"toolkit", std::move(toolkit)},
                              {"pip_tool", image.resolver},
                              {"pip", std::move(pip)}};
    return model;
}

}  // namespace cudamatrix
