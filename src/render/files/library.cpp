#include "render/files/library.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// "# name = value" before the first instruction, behind a byte order mark and "#!" too; "// syntax = value"
// and {"syntax": "value"} choose another frontend as well: how BuildKit reads directives
// (github:moby/buildkit, frontend/dockerfile/parser/directives.go).
std::string directive_in(std::string_view dockerfile) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (dockerfile.starts_with(byte_order_mark)) dockerfile.remove_prefix(byte_order_mark.size());
    while (!dockerfile.empty()) {
        const auto newline = std::min(dockerfile.find('\n'), dockerfile.size());
        auto rest = text::trim(dockerfile.substr(0, newline));
        dockerfile.remove_prefix(std::min(newline + 1, dockerfile.size()));
        if (rest.empty()) continue;
        // No Dockerfile begins like this.
        if (rest.front() == '{') return "syntax";
        const std::size_t mark = rest.starts_with("//") ? 2 : 1;
        if (rest.front() != '#' && mark == 1) return {};
        rest = text::trim(rest.substr(mark));
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
    CM_TRY_ASSIGN(auto filled, library.fill(name, model));
    if (const auto directive = directive_in(filled); !directive.empty()) {
        return input_failure(
            fmt::format("the template {} gives a Dockerfile that begins with the builder directive \"{}\"",
                        name, directive),
            "begin it with a comment that is not a directive");
    }
    return filled;
}

}  // namespace cudamatrix
