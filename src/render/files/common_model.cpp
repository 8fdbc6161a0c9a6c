#include "render/files/common_model.hpp"

#include "base/build_info.hpp"
#include "base/text.hpp"
#include "render/files/dockerfile_header.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/image/wanted.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

// A line of a requirements file; the hash makes pip refuse any other bytes.
std::string installer(const ImagePins* pins, const Wanted& wanted) {
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
        {"image", Object{{"id", image.id}, {"title", image_title(image)}}},
        {"header", List{}},
        {"ca", !matrix.build.ca_bundle.empty()},
        {"netrc", !matrix.build.netrc.empty()},
        {"cache", cache_model(matrix, image)},
        {"copies", List{}},
        {"pip", Object{{"options", pip_options(image)}, {"installer", installer(pins, wanted_of(image))}}},
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

}  // namespace cudamatrix
