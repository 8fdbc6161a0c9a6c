// The files of the output folder: Dockerfiles, requirements, compose files and the sources of the suite.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "render/image/image.hpp"
#include "render/lock/lock_file.hpp"
#include "render/output/output_folder.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix {

struct RenderSettings {
    std::filesystem::path
        templates;  ///< folder of templates that replace ours by name, and of their partials; empty: none
    std::filesystem::path
        suite;  ///< folder with kernels/ and fatbin/ instead of the embedded suite; empty: embedded
    std::string facts_hash;            ///< Facts::hash()
    std::string facts_date;            ///< Facts::date()
    mustache::Watch* watch = nullptr;  ///< looks over the shoulder of the templates; null: nobody does
    /// The matrix file's folder as seen from the output folder ("../.."): volumes of services are relative
    /// to it.
    std::string matrix_folder = ".";
};

/// In the folder of each image, beside its Dockerfile: the image with the compiled suite.
inline constexpr std::string_view kProofFile = "proof.Dockerfile";
/// What the reference of an image ends with that it gives.
inline constexpr std::string_view kProofEnding = "-proof";

/// Where a proof has the program that runs the tests.
inline constexpr std::string_view kSuiteProgram = "/opt/cudamatrix/bin/suite";

/// On images: RenderedImage::inputs (of a proof proof_inputs), by which a current one is told.
inline constexpr std::string_view kInputsLabel = "io.cudamatrix.inputs";

/// In the output folder where an image stands on a bootstrapped base: the script that makes these by hand.
inline constexpr std::string_view kMakeBaseFile = "make-base.sh";

struct RenderedImage {
    std::string id;
    std::filesystem::path folder;  ///< "images/ID", relative to the output folder; the context of its builds
    std::string reference;         ///< "cudamatrix/NAME:ID": what target `runtime` is tagged
    std::string proof_reference;   ///< "cudamatrix/NAME:ID-proof": what kProofFile gives
    std::string inputs;  ///< hash of all that is rendered for it; with the hash of what images: copies it
                         ///< goes on the image as kInputsLabel
    std::string proof_inputs;  ///< the same of its proof, `inputs` among it
    bool pinned = false;       ///< the lock covers it
};

struct Rendering {
    std::vector<Artifact> artifacts;    ///< sorted by path
    std::vector<RenderedImage> images;  ///< in the order of the plan
    std::vector<Bootstrap> bootstraps;  ///< one for each suite, sorted
    std::vector<SuiteFile> suite;       ///< of the kernels; `build` puts it into the contexts
    std::string templates_hash;
};

/// Everything that the output folder gets, as bytes: no clock, no machine, no network. An image that `lock`
/// does not cover is rendered with its pins reading `unpinned`.
[[nodiscard]] Result<Rendering> render_artifacts(const Matrix& matrix, const std::vector<Image>& images,
                                                 const Lock& lock, const RenderSettings& settings);

/// Whether the context of `image` gets that file of the suite: without a toolkit there is no kernel in it.
[[nodiscard]] bool is_in_context(std::string_view suite_path, const Image& image);

/// "cudamatrix/NAME": repository of a matrix's images.
[[nodiscard]] std::string image_repository(const Matrix& matrix);

// The data behind compose.yaml and its GPU overlays (names: templates/README.md).

struct ComposeInput {
    const Matrix& matrix;
    const std::vector<Image>& images;
    const std::vector<RenderedImage>& rendered;  ///< rendered[i] belongs to images[i]
    const std::string& matrix_folder;            ///< RenderSettings::matrix_folder
};

/// The services of plan_services, built from the folders of their images; fails as that does.
[[nodiscard]] Result<mustache::Data::Object> compose_model(const ComposeInput& input);

// The data behind make-base.sh (names: templates/README.md).

/// The commands of `bootstraps`, and which of `images` stand on each.
[[nodiscard]] mustache::Data::Object make_base_model(const Matrix& matrix,
                                                     const std::vector<Bootstrap>& bootstraps,
                                                     const std::vector<Image>& images,
                                                     const std::string& matrix_folder);

}  // namespace cudamatrix
