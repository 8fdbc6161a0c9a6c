#include "render/image/families.hpp"

#include <algorithm>

#include "base/mirrors.hpp"
#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::family {
namespace {

using std::string_view;

constexpr string_view kBoth[] = {"x86_64", "aarch64"};
constexpr string_view kIntel[] = {"x86_64"};
constexpr string_view kRuntimeDevel[] = {"runtime", "devel"};
constexpr string_view kAllFlavours[] = {"runtime", "base", "devel"};
constexpr string_view kDevel[] = {"devel"};
constexpr Field kNoCudnn[] = {Field::cudnn, Field::cuda_compat};
constexpr Field kNoCompat[] = {Field::cuda_compat};

// "cu124" -> "12.4": what torch.version.cuda says of a build; "None" for one without CUDA.
std::string cuda_of_variant(string_view variant) {
    if (!variant.starts_with("cu") || variant.size() < 4) return "None";
    return fmt::format("{}.{}", variant.substr(2, variant.size() - 3), variant.substr(variant.size() - 1));
}

}  // namespace

std::span<const Family> all() {
    static const Family families[] = {
        {"debian", "debian", kRuntimeDevel, kBoth, kNoCudnn, debian_steps()},
        {"nvidia-cuda", "registry", kAllFlavours, kBoth, kNoCompat, nvidia_cuda_steps()},
        {"pytorch", "registry", kRuntimeDevel, kIntel, kNoCompat, pytorch_steps()},
        {"ngc", "registry", kDevel, kBoth, kNoCudnn, ngc_steps()},
        {"cpu", "registry", kRuntimeDevel, kBoth, kNoCudnn, cpu_steps()},
    };
    return families;
}

const Family* named(std::string_view name) {
    const auto families = all();
    const auto found = std::find_if(families.begin(), families.end(),
                                    [&](const Family& family) { return family.name == name; });
    return found == families.end() ? nullptr : &*found;
}

std::string Request::text(Field field) const {
    const auto* value = cell.get(field);
    return value == nullptr ? "" : value->text;
}

bool holds(std::span<const std::string_view> values, std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

std::string minor_of(std::string_view python) {
    const auto version = Version::parse(python);
    return version ? version->major_minor() + version->suffix() : std::string(python);
}

bool wants_python(const Request& request) {
    return request.cell.has(Field::python) || request.torch || !request.image.packages.empty();
}

std::string other_cudnn(const Request& request, std::string_view tag, std::string_view has) {
    const auto wanted = Version::parse(request.text(Field::cudnn));
    if (!wanted) return {};
    const auto there = Version::parse(has);
    if (there && there->major() == wanted->major()) return {};
    return fmt::format("cudnn {}: the image {} has {}", wanted->text(), tag,
                       has == "none" ? "none"
                       : has.empty() ? "one that no fact names"
                                     : has);
}

std::string repository_of(const Facts& facts, std::string_view family) {
    const auto row = lookup::family_repository(facts, family);
    return row ? std::string(row->text("repository")) : std::string();
}

std::string find_toolkit(Request& request) {
    const auto text = request.text(Field::cuda);
    if (text.empty()) return {};
    request.cuda = lookup::cuda(request.facts, text);
    if (!request.cuda) return fmt::format("cuda {}: no fact knows this release", text);
    request.image.cuda = request.cuda->exact.text();
    if (const auto runtime = request.facts.row(fmt::format("cuda-runtime-{}", request.cuda->exact.major()))) {
        request.image.cudart = runtime->text("soname");
        request.image.wheel_root = runtime->text("wheel_root");
    }
    return {};
}

std::string find_torch(Request& request) {
    auto& image = request.image;
    const auto text = request.text(Field::torch);
    if (const auto* packages = request.cell.get(Field::packages)) image.packages = packages->items;
    std::sort(image.packages.begin(), image.packages.end());
    if (text.empty() || text == "none") return {};
    request.torch = lookup::torch(request.facts, text, image.arch);
    const auto& torch = request.torch;
    if (!torch || !torch->release || torch->variant.empty())
        return fmt::format("torch {}: no fact knows this release", text);
    image.torch = torch->exact.text();
    image.torch_variant = torch->variant;
    image.torch_cuda = torch->wheel && torch->wheel->has("cuda") ? std::string(torch->wheel->text("cuda"))
                                                                 : cuda_of_variant(torch->variant);
    return {};
}

std::string find_torch_index(Request& request) {
    auto& image = request.image;
    if (!request.torch) return {};
    image.torch_index_default = request.torch->index_default;
    if (image.torch_index_default) return {};
    image.torch_index =
        lookup::mirror_of_torch_index(request.facts, request.matrix.mirrors, image.torch_variant);
    if (!image.torch_index.empty()) return {};
    if (const auto row = request.facts.row("index-" + image.torch_variant); row && row->has("url")) {
        image.torch_index = row->text("url");
        return {};
    }
    return fmt::format(
        "torch {}+{} is not the build that the Python index serves, and no fact knows the address of its own "
        "index; write mirrors: {{pytorch: URL}} (the part before /{})",
        image.torch, image.torch_variant, image.torch_variant);
}

// Of NVIDIA's variables only two are rendered, from closed lists: others decide what a privileged hook does.
std::string find_environment(Request& request) {
    const auto* env = request.cell.get(Field::env);
    if (env == nullptr) return {};
    for (const auto& [name, value] : env->items) {
        if (name.starts_with("NVIDIA_")) {
            if (name != "NVIDIA_VISIBLE_DEVICES" && name != "NVIDIA_DRIVER_CAPABILITIES") {
                request.image.env_left_out.push_back(name);
                continue;
            }
            const bool capabilities = name == "NVIDIA_DRIVER_CAPABILITIES";
            if (!is_rendered_variable(name, value) ||
                (capabilities && !lookup::unknown_capability(request.facts, value).empty()))
                return fmt::format("env {} {}: not a value that is rendered", name, value);
        }
        request.image.env.emplace_back(name, value);
    }
    std::sort(request.image.env.begin(), request.image.env.end());
    return {};
}

}  // namespace cudamatrix::family
