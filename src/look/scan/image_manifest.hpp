// Which blobs are the layers of an image: manifest.json of docker save, index and manifest of OCI (image
// specification, "Image Layout", "Image Index", "Image Manifest").
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cudamatrix::scan {

/// The text of a file of the image ("blobs/sha256/HEX", "index.json"); an input failure where there is none.
using ImageText = std::function<Result<std::string>(const std::string& path)>;

/// Paths of the layers, the lowest first. From manifest.json (`docker`) or from index.json, whose manifest
/// for linux on `arch` ("x86_64", "aarch64") is taken. Input failures: more than one image, none for that
/// architecture, JSON that is none of these, a digest other than sha256.
[[nodiscard]] Result<std::vector<std::string>> image_layers(const ImageText& text_of, bool docker,
                                                            const std::string& label, std::string_view arch);

/// "blobs/sha256/HEX" of "sha256:HEX"; empty for anything else.
[[nodiscard]] std::string blob_path(std::string_view digest);
/// HEX of "blobs/sha256/HEX"; empty for any other path.
[[nodiscard]] std::string digest_in(std::string_view path);

}  // namespace cudamatrix::scan
