#include "render/image/image.hpp"

#include <algorithm>

#include "base/image_reference.hpp"
#include "base/mirrors.hpp"
#include "base/text.hpp"

namespace cudamatrix {

std::vector<std::string> Image::references() const {
    std::vector<std::string> out;
    for (const auto& reference : {base_reference, devel_reference, installer_reference}) {
        if (!reference.empty() && std::find(out.begin(), out.end(), reference) == out.end())
            out.push_back(reference);
    }
    return out;
}

std::string Image::platform() const {
    return fmt::format("linux/{}", oci_architecture(arch));
}

std::string Image::base_name() const {
    return arch == "x86_64" ? suite : fmt::format("{}-{}", suite, oci_architecture(arch));
}

std::string pulled_reference(std::string_view reference, const Mirrors& mirrors) {
    const auto parsed = parse_image_reference(reference);
    const auto place = parsed.ok() ? place_of(*parsed, mirrors) : Result<ImagePlace>(parsed.failure());
    return place.ok() ? place->reference.text() : mirrored(reference, mirrors);
}

}  // namespace cudamatrix
