#include "render/library.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// "# name = value" before the first instruction: how BuildKit reads directives.
std::string directive_in(std::string_view dockerfile) {
    while (!dockerfile.empty()) {
        const auto newline = std::min(dockerfile.find('\n'), dockerfile.size());
        auto rest = text::trim(dockerfile.substr(0, newline));
        dockerfile.remove_prefix(std::min(newline + 1, dockerfile.size()));
        if (rest.empty()) continue;
        if (rest.front() != '#') return {};
        rest = text::trim(rest.substr(1));
        const auto end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (end == 0 || end == std::string_view::npos) continue;
        if (text::trim(rest.substr(end)).starts_with('=')) return std::string(rest.substr(0, end));
    }
    return {};
}

}  // namespace

Result<mustache::Library> load_templates(const RenderSettings& settings) {
    auto library = embedded_templates();
    library.set_watch(settings.watch);
    if (settings.templates.empty()) return library;
    const auto done = library.override_from(settings.templates);
    // A check has told these mistakes already, and goes on with what there is.
    if (!done.ok() && (settings.watch == nullptr || !settings.watch->check)) return done.failure();
    return library;
}

Result<std::string> fill_dockerfile(mustache::Library& library, const std::string& name,
                                    const mustache::Data& model) {
    auto filled = library.fill(name, model);
    if (!filled.ok()) return filled;
    if (const auto directive = directive_in(*filled); !directive.empty()) {
        return input_failure(
            fmt::format("the template {} gives a Dockerfile that begins with the builder directive \"{}\"",
                        name, directive),
            "begin it with a comment that is no directive");
    }
    return filled;
}

}  // namespace cudamatrix
