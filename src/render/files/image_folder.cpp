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
    const auto put = [&](const std::string& name, Result<std::string> content) -> Status {
        if (!content.ok()) return content.failure();
        auto hash = sha256(*content);
        out.push_back({folder / name, std::move(content).value(), std::move(hash)});
        return Done{};
    };
    auto done = put("Dockerfile", fill_dockerfile(library, family + "/Dockerfile.mustache", model));
    if (done.ok()) done = put(".dockerignore", library.fill(family + "/dockerignore.mustache", model));
    for (auto& [name, wheels] : requirements_of(input)) {
        if (!done.ok()) break;
        const mustache::Data only(mustache::Data::Object{{"tool", model.object()->at("tool")},
                                                         {"image", model.object()->at("image")},
                                                         {"wheels", wheels}});
        done = put(name, library.fill(family + "/requirements.mustache", only));
    }
    if (!done.ok()) return done.failure();
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
    const auto done = parallel_for(images.size(), least, [&](std::size_t begin, std::size_t end) -> Status {
        auto templates = library.copy();
        for (auto i = begin; i < end; ++i) {
            auto folder = image_folder(templates, {matrix, images[i], lock, settings});
            if (!folder.ok()) return folder.failure();
            out[i] = std::move(folder).value();
        }
        return Done{};
    });
    if (!done.ok()) return done.failure();
    return out;
}

}  // namespace cudamatrix
