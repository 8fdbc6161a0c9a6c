#include "render/dockerfile_model.hpp"

#include <algorithm>
#include <map>

#include "base/build_info.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/context.hpp"
#include "render/dockerfile_header.hpp"
#include "render/lock_lists.hpp"
#include "render/registry_model.hpp"
#include "render/wanted.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

constexpr std::string_view kVenv = "/opt/venv";
constexpr std::string_view kToolkit = "/usr/local/cuda";
constexpr std::string_view kUserId =
    "65532";  // the number that hardened images use for "nobody in particular"
// Reads metadata by range requests; older ones download every wheel. The newest of them that runs on the
// image's python: 25.3, on python 3.8 25.0.1, on 3.7 24.0 (the index says which, PEP 503).
constexpr std::string_view kPipTool = "pip>=24.0,<=25.3";
constexpr std::string_view kUnpinned = "unpinned";
constexpr std::size_t kCellsInLabel = 100;

// The archive's multiarch folder.
std::string library_folder(const Image& image) {
    return fmt::format("/usr/lib/{}-linux-gnu", image.arch);
}

std::string cuda_major(const Image& image) {
    return text::split(image.cuda, '.').front();
}

List apt_list(const std::vector<AptPin>* pins, const std::vector<std::string>& wanted) {
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

List wheel_list(const std::vector<WheelPin>* pins, const std::vector<std::string>& wanted) {
    List out;
    if (pins != nullptr) {
        for (const auto& pin : *pins) {
            out.push_back(Object{
                {"name", pin.name}, {"version", pin.version}, {"sha256", pin.sha256}, {"pinned", true}});
        }
    } else {
        for (const auto& requirement : wanted) {
            const auto at = requirement.find("==");
            out.push_back(Object{{"name", requirement.substr(0, at)},
                                 {"version", requirement.substr(at + 2)},
                                 {"sha256", kUnpinned},
                                 {"pinned", false}});
        }
    }
    return out;
}

// A line of a requirements file; the hash makes pip refuse any other bytes.
std::string installer(const std::vector<WheelPin>* pins, const Wanted& wanted) {
    if (pins == nullptr || pins->empty()) return text::join(wanted.installer, " ");
    const auto& pin = pins->front();
    return fmt::format("{}=={} --hash=sha256:{}", pin.name, pin.version, pin.sha256);
}

Object cuda_model(const Image& image, bool pinned) {
    const bool archive = image.cuda_from == "archive";
    const bool wheels = image.cuda_from == "wheels";
    const auto root = std::string(kToolkit);
    const auto paths = toolkit_paths(image);
    Object cuda{{"present", !image.cuda.empty()},
                {"version", image.cuda},
                {"from_archive", archive},
                {"from_wheels", wheels},
                {"unpack", archive && !wanted_of(image).toolkit.empty()},
                {"nvcc", paths.nvcc},
                {"ccbin", paths.ccbin},
                {"include", paths.include},
                {"lib", paths.lib},
                {"requirements", "requirements-cuda.txt"},
                {"hashed", pinned},
                {"wheel_root", "nvidia/cu" + cuda_major(image)},
                {"runtime_files", List{}}};
    if (wheels) {
        cuda["runtime_files"] = List{
            Object{{"source", fmt::format("{}/lib/{}", root, image.cudart)}, {"target", root + "/lib/"}}};
    }
    return cuda;
}

List environment(const Image& image) {
    std::map<std::string, std::string> variables;
    if (image.family != "cpu")
        variables = {{"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}, {"NVIDIA_VISIBLE_DEVICES", "all"}};
    for (const auto& [name, value] : image.env)
        variables[name] = value;
    List out;
    for (const auto& [name, value] : variables)
        out.push_back(Object{{"name", name}, {"value", value}});
    return out;
}

Object healthcheck_model(const Healthcheck& check) {
    List test;
    for (const auto& word : check.test)
        test.push_back(Object{{"word", word}, {"first", test.empty()}});
    List options;
    for (const auto& [name, value] :
         {std::pair{"interval", &check.interval}, std::pair{"timeout", &check.timeout},
          std::pair{"start-period", &check.start_period}, std::pair{"retries", &check.retries}}) {
        if (!value->empty()) options.push_back(Object{{"name", name}, {"value", *value}});
    }
    return {{"any", !test.empty()}, {"test", std::move(test)}, {"options", std::move(options)}};
}

std::string cells_label(const Image& image) {
    const auto shown = std::min(image.cells.size(), kCellsInLabel);
    auto label =
        text::join({image.cells.begin(), image.cells.begin() + static_cast<std::ptrdiff_t>(shown)}, " ");
    if (shown < image.cells.size()) label += fmt::format(" and {} more", image.cells.size() - shown);
    return label;
}

List labels(const ImageInput& input) {
    std::vector<std::pair<std::string, std::string>> all{
        {"org.opencontainers.image.title", image_title(input.image)},
        {"io.cudamatrix.cells", cells_label(input.image)},
        {"io.cudamatrix.facts", fmt::format("{} {}", input.settings.facts_hash, input.settings.facts_date)},
        {"io.cudamatrix.image", input.image.id},
        {"io.cudamatrix.lock", pins_hash(input.image, input.lock)},
        {"io.cudamatrix.matrix", input.matrix.name},
        {"io.cudamatrix.version", kVersion}};
    const auto& reference = input.image.base_reference;
    if (!reference.empty()) all.emplace_back("org.opencontainers.image.base.name", reference);
    if (const auto* base = input.lock.registry_base(reference);
        base != nullptr && input.lock.covers(input.image))
        all.emplace_back("org.opencontainers.image.base.digest", base->digest);
    List out;
    for (const auto& [name, value] : all)
        out.push_back(Object{{"name", name}, {"value", value}});
    return out;
}

std::string search_path(const Image& image) {
    std::string path;
    if (!wanted_of(image).wheels.empty()) path += std::string(kVenv) + "/bin:";
    if (image.cuda_from == "wheels" && image.flavour == "devel") path += std::string(kToolkit) + "/bin:";
    return path + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
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

// What both kinds of Dockerfile say about themselves.
Object common_model(const Matrix& matrix, const Image& image) {
    return {{"tool", Object{{"version", kVersion}}},
            {"image", Object{{"id", image.id}, {"title", image_title(image)}}},
            {"header", List{}},
            {"ca", !matrix.build.ca_bundle.empty()},
            {"netrc", !matrix.build.netrc.empty()},
            {"cache", cache_model(matrix, image)},
            {"copies", List{}},
            {"pip",
             Object{{"options", pip_options(image)}, {"installer", installer(nullptr, wanted_of(image))}}}};
}

// What makes the environment in which `lock` resolves, where the distribution's python does.
List python_packages(const Image& image) {
    if (image.python_from != "distribution") return {};
    auto packages = List{"python3"};
    if (image.package_manager == "apt") packages.emplace_back("python3-venv");
    return List{Object{{"packages", std::move(packages)}}};
}

}  // namespace

ToolkitPaths toolkit_paths(const Image& image) {
    if (image.cuda_from == "archive") {
        return {"/usr/bin/nvcc", image.compiler, "/usr/include", library_folder(image)};
    }
    const auto root = std::string(kToolkit);
    return {root + "/bin/nvcc", image.compiler, root + "/include",
            root + (image.cuda_from == "base" ? "/lib64" : "/lib")};
}

std::string_view resolving_pip() {
    return kPipTool;
}

std::string image_title(const Image& image) {
    const bool bootstrapped = image.base_reference.empty();
    std::string title = bootstrapped ? fmt::format("{} ({})", image.os, image.suite) : image.base_reference;
    if (!image.cuda.empty() && bootstrapped)
        title += fmt::format(", CUDA {} from {}", image.cuda,
                             image.cuda_from == "archive" ? "the archive" : "wheels");
    if (!image.cuda.empty() && !bootstrapped) title += ", CUDA " + image.cuda;
    if (!image.torch.empty()) title += fmt::format(", torch {}+{}", image.torch, image.torch_variant);
    if (!image.python.empty()) title += ", python " + image.python;
    if (image.arch != "x86_64") title += ", " + image.arch;
    return title + ", " + image.flavour;
}

std::string pins_hash(const Image& image, const Lock& lock) {
    if (!lock.covers(image)) return std::string(kUnpinned);
    Lock part;
    if (const auto* base = lock.base(image)) part.bases[image.base_name()] = *base;
    for (const auto& reference : image.references())
        part.references[reference] = *lock.registry_base(reference);
    auto& pins = part.images[image.id] = *lock.pins(image);
    // The same bytes from another mirror are the same image.
    for (const auto& list : kWheelLists) {
        for (auto& wheel : pins.*list.member)
            wheel.url.clear();
    }
    return sha256(lock_text(part));
}

mustache::Data::Object dockerfile_model(const ImageInput& input) {
    const auto& image = input.image;
    const auto wanted = wanted_of(image);
    const auto* pins = input.lock.covers(image) ? input.lock.pins(image) : nullptr;
    const auto pinned = [&](auto member) { return pins == nullptr ? nullptr : &(pins->*member); };

    auto model = common_model(input.matrix, image);
    model["header"] = dockerfile_header(input);
    if (image.references().empty()) {
        model["bootstrap"] =
            Object{{"file", bootstrap_of(image, input.matrix).file},
                   {"sha256", pins == nullptr ? std::string(kUnpinned) : input.lock.base(image)->sha256}};
    } else {
        add_registry_model(model, input.matrix, image, pins == nullptr ? nullptr : &input.lock);
    }
    model["cuda"] = cuda_model(image, pins != nullptr);
    const auto runtime = apt_list(pinned(&ImagePins::runtime), wanted.runtime);
    const auto devel = apt_list(pinned(&ImagePins::devel), wanted.devel);
    model["apt"] = Object{{"devel", devel},
                          {"devel_any", !devel.empty()},
                          {"unpack", apt_list(pinned(&ImagePins::toolkit), wanted.toolkit)},
                          {"python", apt_list(pinned(&ImagePins::python), wanted.python)},
                          {"runtime", runtime},
                          {"runtime_any", !runtime.empty()}};
    model["suite"] =
        Object{{"cxx", image.compiler}, {"compute", text::join(image.compute, ",")}, {"ptx", image.ptx}};
    model["flavour"] = Object{{"devel", image.flavour == "devel"}};
    // A lock was resolved with them: what it pins needs no more.
    const auto constraints = pins == nullptr ? image.constraints : std::vector<std::string>{};
    model["pip"] = Object{{"any", !wanted.wheels.empty()},
                          {"constraints", constraints},
                          {"constraints_any", !constraints.empty()},
                          {"hashed", pins != nullptr},
                          {"no_deps", pins != nullptr},
                          {"options", pip_options(image)},
                          {"installer", installer(pinned(&ImagePins::installer), wanted)},
                          {"requirements", "requirements.txt"},
                          {"venv", kVenv}};
    model["torch"] = Object{{"present", !image.torch.empty()},
                            {"nvidia", image.family == "ngc"},
                            {"version", image.torch},
                            {"cuda", image.torch_cuda}};
    model["user"] = Object{{"name", input.matrix.build.user}, {"id", kUserId}};
    model["workdir"] = input.matrix.build.workdir;
    model["folders"] = image.folders;
    List copies;
    for (const auto& copy : image.copy)
        copies.push_back(
            Object{{"source", fmt::format("{}/{}", kCopyFolder, copy.from)}, {"target", copy.to}});
    model["copies"] = std::move(copies);
    model["path"] = search_path(image);
    model["env"] = environment(image);
    model["healthcheck"] = healthcheck_model(image.healthcheck);
    model["labels"] = labels(input);
    return model;
}

std::map<std::string, mustache::Data> requirements_of(const ImageInput& input) {
    const auto wanted = wanted_of(input.image);
    const auto* pins = input.lock.covers(input.image) ? input.lock.pins(input.image) : nullptr;
    std::map<std::string, mustache::Data> files;
    if (!wanted.wheels.empty())
        files.emplace("requirements.txt",
                      wheel_list(pins == nullptr ? nullptr : &pins->wheels, wanted.wheels));
    if (!wanted.cuda.empty())
        files.emplace("requirements-cuda.txt",
                      wheel_list(pins == nullptr ? nullptr : &pins->cuda, wanted.cuda));
    return files;
}

mustache::Data::Object lock_model(const Matrix& matrix, const Image& image, const Lock* lock) {
    const auto wanted = wanted_of(image);
    auto model = common_model(matrix, image);
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
                              {"pip_tool", kPipTool},
                              {"pip", std::move(pip)}};
    return model;
}

}  // namespace cudamatrix
