#include "render/files/dockerfile_model.hpp"

#include <algorithm>
#include <map>

#include "base/build_info.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/resolve_cell.hpp"
#include "render/lock/lock_file.hpp"
#include "render/templates/context.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

constexpr std::string_view kToolkit = "/usr/local/cuda";
constexpr std::string_view kUserId =
    "65532";  // the number that hardened images use for "nobody in particular"

// The archive's multiarch folder.
std::string library_folder(const Image& image) {
    return fmt::format("/usr/lib/{}-linux-gnu", image.arch);
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

Object cuda_model(const Image& image, bool pinned) {
    const bool archive = image.cuda_from == "archive";
    const bool wheels = image.cuda_from == "wheels";
    const auto root = std::string(kToolkit);
    const auto paths = toolkit_paths(image);
    Object cuda{{"present", !image.suite_cuda.empty()},
                {"beside", image.compiles_beside()},
                {"version", image.suite_cuda},
                {"from_archive", archive},
                {"from_wheels", wheels},
                {"unpack", archive && !package_requests(image).toolkit.empty()},
                {"nvcc", paths.nvcc},
                {"ccbin", paths.ccbin},
                {"include", paths.include},
                {"lib", paths.lib},
                {"requirements", kCudaRequirements},
                {"hashed", pinned},
                {"wheel_root", image.wheel_root},
                {"libraries", wheels && !image.cuda_libraries.empty()},
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

// Nothing about hosts: an image is the same for every driver and GPU that it serves.
List labels(const ImageInput& input) {
    std::vector<std::pair<std::string, std::string>> all{
        {"org.opencontainers.image.title", image_title(input.image)},
        {"io.cudamatrix.image", input.image.id},
        {"io.cudamatrix.lock", pins_hash(input.image, input.lock, input.pins)},
        {"io.cudamatrix.matrix", input.matrix.name},
        {"io.cudamatrix.version", kVersion}};
    const auto& reference = input.image.base_reference;
    if (!reference.empty()) all.emplace_back("org.opencontainers.image.base.name", reference);
    if (const auto* base = input.lock.registry_base(reference); base != nullptr && input.pins != nullptr)
        all.emplace_back("org.opencontainers.image.base.digest", base->digest);
    List out;
    for (const auto& [name, value] : all)
        out.push_back(Object{{"name", name}, {"value", value}});
    return out;
}

std::string search_path(const Image& image) {
    std::string path;
    if (has_venv(image)) path += std::string(kVenv) + "/bin:";
    if (!image.cuda.empty() && image.cuda_from == "wheels" && image.flavour == "devel")
        path += std::string(kToolkit) + "/bin:";
    return path + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
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

std::string image_title(const Image& image) {
    const bool bootstrapped = image.base_reference.empty();
    std::string title = bootstrapped ? fmt::format("{} ({})", image.os, image.suite) : image.base_reference;
    const bool brought = image.cuda_from == "base";
    if (!image.cuda.empty() && !brought)
        title += fmt::format(", CUDA {} from {}", image.cuda,
                             image.cuda_from == "archive" ? "the archive" : "wheels");
    if (!image.cuda.empty() && brought) title += ", CUDA " + image.cuda;
    if (!image.torch.empty()) title += fmt::format(", torch {}+{}", image.torch, image.torch_variant);
    if (!image.python.empty()) title += ", python " + image.python;
    if (image.arch != "x86_64") title += ", " + image.arch;
    return title + ", " + image.flavour;
}

std::string pins_hash(const Image& image, const Lock& lock, const ImagePins* of_image) {
    if (of_image == nullptr) return std::string(kUnpinned);
    Lock part;
    if (const auto* base = lock.base(image)) part.bases[image.base_name()] = *base;
    for (const auto& reference : image.references())
        part.references[reference] = *lock.registry_base(reference);
    auto& pins = part.images[image.id] = *of_image;
    // The same bytes from another mirror are the same image.
    for (const auto& list : kWheelLists) {
        for (auto& wheel : pins.*list.member)
            wheel.url.clear();
    }
    pins.held.clear();  // no part of what is built
    pins.sum.clear();
    return sha256(lock_text(part));
}

mustache::Data::Object dockerfile_model(const ImageInput& input) {
    const auto& image = input.image;
    const auto wanted = package_requests(image);
    const auto* pins = input.pins;
    const auto pinned = [&](auto member) { return pins == nullptr ? nullptr : &(pins->*member); };

    auto model = common_model(input.matrix, image, pins);
    model["header"] = dockerfile_header(input);
    if (image.references().empty()) {
        model["bootstrap"] =
            Object{{"file", bootstrap_of(image, input.matrix).file},
                   {"sha256", pins == nullptr ? std::string(kUnpinned) : input.lock.base(image)->sha256}};
    } else {
        add_registry_model(model, input.matrix, image, pins == nullptr ? nullptr : &input.lock);
    }
    model["cuda"] = cuda_model(image, pins != nullptr);
    const auto runtime = package_list(pinned(&ImagePins::runtime), wanted.runtime);
    const auto devel = package_list(pinned(&ImagePins::devel), wanted.devel);
    model["apt"] = Object{{"devel", devel},
                          {"devel_any", !devel.empty()},
                          {"runtime", runtime},
                          {"runtime_any", !runtime.empty()}};
    model["proof"] = Object{{"header", proof_header(input)}};
    model["suite"] = Object{{"stage", image.compiles_beside() ? "nvcc" : "devel"},
                            {"cxx", image.compiler},
                            {"compute", text::join(image.compute, ",")},
                            {"ptx", image.ptx}};
    model["flavour"] = Object{{"devel", image.flavour == "devel"}};
    // A lock was resolved with them: what it pins needs no more.
    const auto constraints = pins == nullptr ? image.constraints : std::vector<std::string>{};
    auto pip = *model["pip"].object();
    pip.insert({{"any", !wanted.wheels.empty()},
                {"constraints", constraints},
                {"constraints_any", !constraints.empty()},
                {"hashed", pins != nullptr},
                {"no_deps", pins != nullptr},
                {"requirements", "requirements.txt"},
                {"venv", kVenv}});
    model["pip"] = std::move(pip);
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

std::map<std::string, mustache::Data> package_files(const Image& image, const ImagePins* pins) {
    std::map<std::string, mustache::Data> files;
    if (image.package_manager == "dnf") return files;
    const auto wanted = package_requests(image);
    for (const auto& list : kAptLists) {
        auto packages = package_list(pins == nullptr ? nullptr : &(pins->*list.member), wanted.*list.wanted);
        // Where the base has all of them already no stage asks for the file.
        if (packages.empty()) continue;
        files.emplace(list.name == "runtime" ? "packages.lock" : fmt::format("packages-{}.lock", list.name),
                      std::move(packages));
    }
    return files;
}

bool is_for_devel(std::string_view package_file) {
    return package_file == "packages-devel.lock" || package_file == "packages-toolkit.lock";
}

std::map<std::string, mustache::Data> requirements_of(const ImageInput& input) {
    const auto wanted = package_requests(input.image);
    const auto* pins = input.pins;
    std::map<std::string, mustache::Data> files;
    if (!wanted.wheels.empty())
        files.emplace("requirements.txt",
                      wheel_list(pins == nullptr ? nullptr : &pins->wheels, wanted.wheels));
    if (!wanted.cuda.empty())
        files.emplace(std::string(kCudaRequirements),
                      wheel_list(pins == nullptr ? nullptr : &pins->cuda, wanted.cuda));
    return files;
}

}  // namespace cudamatrix
