// The data behind the Dockerfile that resolves what an image is pinned to.
#include "render/files/common_model.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/registry_model.hpp"
#include "render/image/wanted.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

// What makes the environment in which `lock` resolves, where the distribution's python does.
List python_packages(const Image& image) {
    if (image.python_from != "distribution") return {};
    auto packages = List{"python3"};
    if (image.package_manager == "apt") packages.emplace_back("python3-venv");
    return List{Object{{"packages", std::move(packages)}}};
}

}  // namespace

mustache::Data::Object lock_model(const Matrix& matrix, const Image& image, const Lock* lock) {
    const auto wanted = wanted_of(image);
    auto model = common_model(matrix, image, nullptr);
    // What is asked of archives and indexes is what they have now.
    model["cache"] = Object{{"any", false}, {"packages", std::string()}};
    const bool bootstrapped = image.references().empty();
    if (bootstrapped) model["bootstrap"] = Object{{"file", bootstrap_of(image, matrix).file}};
    // The digests of the lock that is being made are not known here: `lock` builds on the tags that it
    // resolved.
    if (!bootstrapped) add_registry_model(model, matrix, image, lock);
    model["apt"] = Object{{"python", package_list(nullptr, wanted.python)}};
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
    if (!wanted.cuda.empty())
        pip.push_back(
            Object{{"name", "cuda"}, {"options", List{"--no-deps"}}, {"requirements", wanted.cuda}});
    if (!wanted.wheels.empty())
        pip.push_back(Object{{"name", "wheels"}, {"options", List{}}, {"requirements", wanted.wheels}});
    if (!wanted.installer.empty())
        pip.push_back(Object{
            {"name", "installer"}, {"options", List{"--no-deps"}}, {"requirements", wanted.installer}});
    for (auto& item : pip) {
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
    }
    const bool any = !pip.empty();
    model["resolve"] = Object{{"apt", std::move(apt)},
                              {"download", named("toolkit", wanted.toolkit)},
                              {"devel", bootstrapped ? none : wanted.devel},
                              {"devel_any", !bootstrapped},
                              {"python_packages", python_packages(image)},
                              {"pip_any", any},
                              {"pip_tool", image.resolver},
                              {"pip", std::move(pip)}};
    return model;
}

}  // namespace cudamatrix
