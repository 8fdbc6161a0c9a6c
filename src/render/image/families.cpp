#include "render/image/families.hpp"

#include <algorithm>

#include "base/image_reference.hpp"
#include "base/text.hpp"
#include "matrix/value.hpp"

namespace cudamatrix::family {
namespace {

using std::string_view;

constexpr string_view kBoth[] = {"x86_64", "aarch64"};
constexpr string_view kIntel[] = {"x86_64"};
constexpr string_view kRuntimeDevel[] = {"runtime", "devel"};
constexpr string_view kAllFlavours[] = {"runtime", "base", "devel"};
constexpr string_view kDistributionFlavours[] = {"base", "runtime", "devel"};
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
        {"debian", kDistributionFlavours, kBoth, kNoCudnn, distribution_steps(), true},
        {"nvidia-cuda", kAllFlavours, kBoth, kNoCompat, nvidia_cuda_steps()},
        {"pytorch", kRuntimeDevel, kIntel, kNoCompat, pytorch_steps()},
        {"ngc", kDevel, kBoth, kNoCudnn, ngc_steps()},
        {"cpu", kRuntimeDevel, kBoth, kNoCudnn, cpu_steps()},
        {"ubuntu", kDistributionFlavours, kBoth, kNoCudnn, distribution_steps(), true},
        {"rockylinux", kDistributionFlavours, kBoth, kNoCudnn, distribution_steps(), true},
    };
    return families;
}

const Family* named(std::string_view name) {
    const auto families = all();
    const auto found =
        std::ranges::find_if(families, [&](const Family& family) { return family.name == name; });
    return found == families.end() ? nullptr : &*found;
}

std::string Request::text(Field field) const {
    const auto* value = cell.get(field);
    return value == nullptr ? "" : value->text;
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

std::optional<Row> runtime_row(const Facts& facts, const Version& cuda) {
    return facts.row(fmt::format("cuda-runtime-{}", cuda.major()));
}

std::string find_toolkit(Request& request) {
    const auto text = request.text(Field::cuda);
    if (text.empty()) return {};
    request.cuda = lookup::cuda(request.facts, text);
    if (!request.cuda) return fmt::format("cuda {}: no fact knows this release", text);
    request.image.cuda = request.cuda->exact.text();
    request.image.suite_cuda = request.image.cuda;
    if (const auto runtime = runtime_row(request.facts, request.cuda->exact)) {
        request.image.cudart = runtime->text("soname");
        request.image.wheel_root = runtime->text("wheel_root");
    }
    return {};
}

std::string find_torch(Request& request) {
    auto& image = request.image;
    const auto text = request.text(Field::torch);
    if (const auto* packages = request.cell.get(Field::packages)) image.packages = packages->items;
    const auto refused =
        std::erase_if(image.packages, [](const auto& package) { return package.second == kNoPackage; });
    image.refuses_numpy = refused != 0 && !text.empty() && text != "none";
    std::ranges::sort(image.packages);
    if (text.empty() || text == "none") return {};
    if (const auto nightly = nightly_of(text)) {
        return fmt::format("torch {} is a nightly build: {}; torch {} can be", text,
                           request.facts.row("policy-torch-nightlies")->text("says"), nightly->release());
    }
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
    std::ranges::sort(request.image.env);
    return {};
}

// nvidia-cuda: NVIDIA's images of a toolkit on Ubuntu and Rocky Linux; the devel tag of the same release
// compiles the suite where the image itself has no compiler.

namespace {

constexpr std::string_view kName = "nvidia-cuda";

// Distributions that images can be rendered on, of which NVIDIA has tags.
std::vector<Row> distributions(const Facts& facts) {
    std::vector<Row> out;
    for (const auto& os : facts.rows("operating_systems")) {
        const auto tags = facts.rows("cuda_images");
        const bool tagged = std::ranges::any_of(tags, [&](const Row& row) {
            return row.text("status") != "deleted" && holds(row.list("os"), os.text("os"));
        });
        if (os.has("package_manager") && tagged) out.push_back(os);
    }
    return out;
}

std::string refusal_of(const Request& request, const lookup::CudaTag& tag) {
    const auto name = fmt::format("{}:{}", repository_of(request.facts, kName), tag.text());
    const auto release = lookup::cuda_release_images(request.facts, tag.cuda);
    const auto row = lookup::cuda_image_row(release, tag);
    const bool deleted = row ? row->text("status") == "deleted"
                             : !release.rows.empty() && release.rows.front().text("status") == "deleted" &&
                                   !release.rows.front().has("os");
    if (deleted) return fmt::format("the image {} was deleted", name);
    if (!row) return fmt::format("the facts know no image {}", name);
    const auto archs = row->list("arch");
    if (row->has("arch") ? holds(archs, request.image.arch) : request.image.arch == "x86_64") return {};
    if (!row->has("arch"))
        return fmt::format("no fact says that {} is built for {}", name, request.image.arch);
    return fmt::format("the image {} is not built for {}: it is for {}", name, request.image.arch,
                       text::join(std::vector<std::string>(archs.begin(), archs.end()), ", "));
}

lookup::CudaTag tag_on(const Request& request, std::string_view os, std::string_view flavour) {
    return lookup::family_cuda_tag(request.facts, request.cuda->exact.text(), os, flavour,
                                   request.cell.has(Field::cudnn));
}

// torch brings CUDA's libraries in its wheels: nobody loads a second set of them. One without CUDA does not.
std::string find_flavour(Request& request) {
    const bool is_said = request.cell.has(Field::flavour) || request.cell.has(Field::cudnn);
    if (request.torch && !is_said && request.image.torch_cuda != "None") request.image.flavour = "base";
    return {};
}

std::string find_os(Request& request) {
    if (!request.cuda)
        return fmt::format(
            "family {} is an image of a toolkit: the cell names no cuda; write cuda: VERSION, or another family",
            kName);
    if (const auto from = request.text(Field::cuda_from); !from.empty())
        return fmt::format("cuda_from {}: the images of family {} bring the toolkit", from, kName);
    const auto wanted = request.text(Field::os);
    const auto python = minor_of(request.text(Field::python));
    std::vector<std::string> names;
    std::optional<Row> best;
    for (const auto& os : distributions(request.facts)) {
        const auto name = os.text("os");
        names.emplace_back(name);
        if (!wanted.empty() ? name != wanted
                            : !refusal_of(request, tag_on(request, name, request.image.flavour)).empty())
            continue;
        if (best && has_compiler(request, *best) && !has_compiler(request, os)) continue;
        // The newest, but rather one whose own python is the cell's.
        if (!best || python.empty() || os.text("python") == python || best->text("python") != python)
            best = os;
    }
    if (!best && wanted.empty()) {
        return fmt::format("the facts know no image of CUDA {} with flavour {} ({} were tried)",
                           request.image.cuda, request.image.flavour, text::join(names, ", "));
    }
    if (!best) {
        return fmt::format("os {} is judged but not rendered: family {} is rendered on {}", wanted, kName,
                           text::join(names, ", "));
    }
    request.os = best;
    request.image.os = best->text("os");
    request.image.package_manager = best->text("package_manager");
    return {};
}

std::string find_base(Request& request) {
    auto& image = request.image;
    const auto repository = repository_of(request.facts, kName);
    const auto tag = tag_on(request, image.os, image.flavour);
    if (auto refused = refusal_of(request, tag); !refused.empty()) return refused;
    const auto row = lookup::cuda_image_row(lookup::cuda_release_images(request.facts, tag.cuda), tag);
    const auto holds = tag.has_cudnn() ? std::string(row->text("cudnn")) : std::string("none");
    if (auto refused = other_cudnn(request, tag.text(), holds); !refused.empty()) return refused;
    image.base_reference = repository + ":" + tag.text();
    image.cuda_from = "base";
    if (image.flavour == "devel") return {};
    auto devel = lookup::family_cuda_tag(request.facts, request.cuda->exact.text(), image.os, "devel", false);
    if (auto refused = refusal_of(request, devel); !refused.empty())
        return refused + ", which compiles the suite";
    image.devel_reference = repository + ":" + devel.text();
    return {};
}

}  // namespace

std::span<const Step> nvidia_cuda_steps() {
    static constexpr Step steps[] = {find_toolkit,    find_torch,       find_torch_index, find_flavour,
                                     find_os,         find_base,        find_compiler,    find_python,
                                     find_companions, find_constraints, find_environment};
    return steps;
}

}  // namespace cudamatrix::family
