// The files of images' folders, filled from their templates.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "render/files/artifacts.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

/// The files of one image, with paths below the output folder and with their hashes; each list is sorted.
struct ImageFolder {
    std::vector<Artifact> image;  ///< what makes the image that ships
    std::vector<Artifact> proof;  ///< what only proof.Dockerfile needs, and that file
};

/// packages.mustache, filled with each of package_files(): name -> text.
[[nodiscard]] Result<std::map<std::string, std::string>> package_texts(mustache::Library& library,
                                                                       const Image& image,
                                                                       const ImagePins* pins);

/// In the order of `images`. Many images are shared out to all processors, except where somebody watches the
/// templates. A failure is that of the first image that has one.
[[nodiscard]] Result<std::vector<ImageFolder>> image_folders(const mustache::Library& library,
                                                             const Matrix& matrix,
                                                             const std::vector<Image>& images,
                                                             const Lock& lock,
                                                             const RenderSettings& settings);

// The templates of one render.

/// The embedded templates, replaced by those of settings.templates where it has some.
[[nodiscard]] Result<mustache::Library> load_templates(const RenderSettings& settings);

/// library.fill, and a check that no comment at the top of the file is a directive of the builder ("#
/// syntax=" chooses a frontend, "# escape=" another grammar): the first lines are ours.
[[nodiscard]] Result<std::string> fill_dockerfile(mustache::Library& library, const std::string& name,
                                                  const mustache::Data& model);

// What stands at the head of a Dockerfile: which image it is, and the commands that make the image by hand.

/// The lines of the comment, without "# ".
[[nodiscard]] mustache::Data::List dockerfile_header(const ImageInput& input);
/// ... of kProofFile.
[[nodiscard]] mustache::Data::List proof_header(const ImageInput& input);

/// A word of a command line that a person pastes into a shell, quoted only where it must be.
[[nodiscard]] std::string pasted(const std::string& word);

/// What tells images apart, in the words of the matrix file.
[[nodiscard]] Json image_contents(const Image& image);

/// Whether packages and wheels stay in cache mounts of BuildKit.
[[nodiscard]] bool uses_cache_mounts(const Matrix& matrix);

/// What rendered files say where `build: network` is none: empty otherwise.
[[nodiscard]] std::string no_network_note(const Matrix& matrix);

}  // namespace cudamatrix
