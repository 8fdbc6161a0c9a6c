#include "render/files/image_folder.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/library.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

// Below that a thread costs more than it saves.
constexpr std::size_t kImagesOfAThread = 64;

Result<std::vector<Artifact>> image_folder(mustache::Library& library, const ImageInput& input) {
    const mustache::Data model(dockerfile_model(input));
    const auto family = template_folder(input.image);
    const auto folder = std::filesystem::path("images") / input.image.id;
    std::vector<Artifact> out;
    const auto put = [&](const std::string& name, std::string content) {
        auto hash = sha256(content);
        out.push_back({folder / name, std::move(content), std::move(hash)});
    };
    CM_TRY_ASSIGN(auto dockerfile, fill_dockerfile(library, family + "/Dockerfile.mustache", model));
    put("Dockerfile", std::move(dockerfile));
    CM_TRY_ASSIGN(auto ignored, library.fill(family + "/dockerignore.mustache", model));
    put(".dockerignore", std::move(ignored));
    for (auto& [name, wheels] : requirements_of(input)) {
        const mustache::Data only(mustache::Data::Object{{"tool", model.object()->at("tool")},
                                                         {"image", model.object()->at("image")},
                                                         {"wheels", wheels}});
        CM_TRY_ASSIGN(auto requirements, library.fill(family + "/requirements.mustache", only));
        put(name, std::move(requirements));
    }
    std::sort(out.begin(), out.end(), [](const Artifact& a, const Artifact& b) { return a.path < b.path; });
    return out;
}

}  // namespace

Result<std::vector<std::vector<Artifact>>> image_folders(const mustache::Library& library,
                                                         const Matrix& matrix,
                                                         const std::vector<Image>& images, const Lock& lock,
                                                         const RenderSettings& settings) {
    std::vector<std::vector<Artifact>> out(images.size());
    const auto least = settings.watch != nullptr ? images.size() : kImagesOfAThread;
    CM_TRY(parallel_for(images.size(), least, [&](std::size_t begin, std::size_t end) -> Status {
        auto templates = library.copy();
        for (auto i = begin; i < end; ++i) {
            CM_TRY_ASSIGN(out[i], image_folder(templates, {matrix, images[i], lock, settings}));
        }
        return Done{};
    }));
    return out;
}

}  // namespace cudamatrix
