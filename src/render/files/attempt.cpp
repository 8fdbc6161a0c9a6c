#include "render/files/attempt.hpp"

#include "base/text.hpp"
#include "render/files/dockerfile_model.hpp"
#include "render/files/image_folder.hpp"
#include "render/image/resolve_cell.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

}  // namespace

mustache::Data::Object attempt_model(const ImageInput& input, const AttemptRequest& request) {
    auto model = dockerfile_model(input);
    List steps;
    for (const auto& step : request.steps) {
        Object one{{"name", step.name},
                   {"environment", step.environment},
                   {"argv", step.argv},
                   {"seconds", std::to_string(step.seconds)}};
        steps.emplace_back(std::move(one));
    }
    model["attempt"] = Object{{"compiles", request.compiles},
                              {"beside", request.beside},
                              {"beside_any", !request.beside.empty()},
                              {"pip", request.pip},
                              {"pip_tool", input.image.resolver},
                              {"index", request.index},
                              {"steps", std::move(steps)}};
    return model;
}

Result<std::vector<Artifact>> attempt_context(const Matrix& matrix, const Image& image, const Lock& lock,
                                              const AttemptRequest& request, std::string_view run_id,
                                              const RenderSettings& settings) {
    CM_TRY_ASSIGN(auto library, load_templates(settings));
    const ImageInput input{matrix, image, lock, settings};
    auto model = attempt_model(input, request);
    CM_TRY_ASSIGN(auto dockerfile,
                  fill_dockerfile(library, template_folder(image) + "/attempt.mustache", model));
    std::vector<Artifact> files{{"Dockerfile", std::move(dockerfile)},
                                {"attempt/run", std::string(run_id) + "\n"}};
    for (const auto& file : request.files)
        files.push_back({"attempt" / file.path, file.content});
    CM_TRY_ASSIGN(auto packages, package_texts(library, image, input.pins));
    for (auto& [name, text] : packages)
        files.push_back({name, std::move(text)});
    for (auto& [name, wheels] : requirements_of(input)) {
        model["wheels"] = wheels;
        CM_TRY_ASSIGN(auto content, library.fill(template_folder(image) + "/requirements.mustache", model));
        files.push_back({name, std::move(content)});
    }
    return files;
}

}  // namespace cudamatrix
