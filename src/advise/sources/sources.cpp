#include "advise/sources/sources.hpp"

#include <array>

#include "advise/sources/installers.hpp"
#include "advise/sources/readers.hpp"
#include "advise/sources/requirements.hpp"
#include "base/text.hpp"

namespace cudamatrix::sources {

std::string_view to_string(Kind kind) {
    static constexpr std::array<std::string_view, 7> kNames{
        "Dockerfile",     "compose file", "requirements", "conda environment",
        "pyproject.toml", "uv.lock",      "poetry.lock"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::optional<Kind> kind_by_name(std::string_view path) {
    const auto name = text::lower(file_name(path));
    const bool yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    if (name == "uv.lock") return Kind::uv_lock;
    if (name == "poetry.lock") return Kind::poetry_lock;
    if (name == "pyproject.toml") return Kind::pyproject;
    if (yaml && (name.find("compose") != std::string::npos)) return Kind::compose;
    if (yaml && (name.starts_with("environment") || name.starts_with("conda")))
        return Kind::conda_environment;
    if (name.ends_with(".dockerignore")) return {};
    if (name.starts_with("dockerfile") || name.starts_with("containerfile") ||
        name.ends_with(".dockerfile") || name.ends_with(".containerfile"))
        return Kind::dockerfile;
    const bool of_folder = path.find("requirements/") != std::string_view::npos;
    if (name.ends_with(".txt") && (of_folder || name.find("requirements") != std::string::npos))
        return Kind::requirements;
    return {};
}

std::optional<Kind> kind_of(std::string_view path, std::string_view text) {
    if (const auto named = kind_by_name(path)) return named;
    const auto name = text::lower(file_name(path));
    if (name.ends_with(".yml") || name.ends_with(".yaml"))
        return text.find("\nservices:") != std::string_view::npos || text.starts_with("services:")
                   ? std::optional(Kind::compose)
               : text.find("dependencies:") != std::string_view::npos ? std::optional(Kind::conda_environment)
                                                                      : std::nullopt;
    for (const auto& line : text::split(text, '\n')) {
        const auto shown = text::lower(text::trim(line));
        if (shown.empty() || shown[0] == '#') continue;
        if (shown.starts_with("from ") || shown.starts_with("arg ")) return Kind::dockerfile;
        if (requirement_from(shown, {}) || shown.starts_with("-")) return Kind::requirements;
        return {};
    }
    return {};
}

Source read(Kind kind, std::string path, std::string text, const ReadOptions& options) {
    if (kind == Kind::dockerfile) return read_dockerfile(std::move(path), std::move(text), options);
    if (kind == Kind::compose) return read_compose(std::move(path), std::move(text));
    if (kind == Kind::requirements) return read_requirements(std::move(path), std::move(text));
    if (kind == Kind::conda_environment) return read_conda_environment(std::move(path), std::move(text));
    return read_toml(kind, std::move(path), std::move(text));
}

}  // namespace cudamatrix::sources
