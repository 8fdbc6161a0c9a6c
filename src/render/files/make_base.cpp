// The data behind make-base.sh: the commands of bootstrapped bases, as a person runs them.
#include <algorithm>
#include <filesystem>

#include "base/build_info.hpp"
#include "render/files/artifacts.hpp"

namespace cudamatrix {
namespace {

using mustache::Data;
using Object = Data::Object;
using List = Data::List;

struct Place {
    std::string_view stands_for;
    std::string path;
    bool here;  // from the folder of the script: apt wants whole paths
};

// Where the matrix file names a file from its own folder, so does the script: another checkout is the same.
Place place_of(std::string_view stands_for, const std::string& path, const std::string& beside,
               const std::string& matrix_folder) {
    if (beside.empty()) return {stands_for, path, false};
    const auto found = std::filesystem::path(matrix_folder) / beside;
    return {stands_for, found.lexically_normal().generic_string(), true};
}

// One word of the command, in parts where a path of this machine stands in it.
Object word_model(const std::string& word, const std::vector<Place>& places) {
    List parts;
    const auto add = [&](std::string text, bool here) {
        if (!text.empty()) parts.push_back(Object{{"text", std::move(text)}, {"here", here}});
    };
    for (const auto& place : places) {
        const auto at = word.find(place.stands_for);
        if (at == std::string::npos) continue;
        add(word.substr(0, at), false);
        add(place.path, place.here);
        add(word.substr(at + place.stands_for.size()), false);
        return {{"parts", std::move(parts)}};
    }
    add(word, false);
    return {{"parts", std::move(parts)}};
}

Object base_model(const Bootstrap& bootstrap, const std::vector<Place>& places, List images) {
    List environment;
    for (const auto& [name, value] : bootstrap.environment)
        environment.push_back(Object{{"name", name}, {"value", value}});
    const auto output = std::ranges::find(bootstrap.command, "{output}");
    List command;
    for (auto word = bootstrap.command.begin(); word != output; ++word)
        command.push_back(word_model(*word, places));
    List sources;
    for (auto word = output; word != bootstrap.command.end(); ++word) {
        if (word != output) sources.emplace_back(*word);
    }
    return {{"name", bootstrap.base},
            {"file", bootstrap.file},
            {"environment", std::move(environment)},
            {"command", std::move(command)},
            {"sources", std::move(sources)},
            {"images", std::move(images)}};
}

}  // namespace

Object make_base_model(const Matrix& matrix, const std::vector<Bootstrap>& bootstraps,
                       const std::vector<Image>& images, const std::string& matrix_folder) {
    const auto& build = matrix.build;
    const std::vector<Place> places{
        place_of("{ca_bundle}", build.ca_bundle, build.ca_bundle_beside, matrix_folder),
        place_of("{netrc}", build.netrc, build.netrc_beside, matrix_folder)};
    List bases;
    for (const auto& bootstrap : bootstraps) {
        List on_it;
        for (const auto& image : images) {
            if (image.references().empty() && image.base_name() == bootstrap.base)
                on_it.emplace_back(image.id);
        }
        bases.push_back(base_model(bootstrap, places, std::move(on_it)));
    }
    return {{"tool", Object{{"version", kVersion}}}, {"bases", std::move(bases)}};
}

}  // namespace cudamatrix
