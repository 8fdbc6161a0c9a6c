#include "unit/render/injection/structure.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "matrix/yaml.hpp"
#include "render/files/template_check.hpp"
#include "unit/render/injection/dockerfile_tokens.hpp"

using namespace cudamatrix;

namespace {

std::vector<std::string> yaml_structure(const yaml::Node& node) {
    std::vector<std::string> out;
    for (const auto& [key, value] : node.members) {
        out.push_back("key");
        for (auto& line : yaml_structure(value))
            out.push_back(" " + line);
    }
    for (const auto& item : node.items) {
        out.push_back("item");
        for (auto& line : yaml_structure(item))
            out.push_back(" " + line);
    }
    if (node.kind == yaml::Node::Kind::scalar) out.push_back("scalar");
    return out;
}

// Words and operators of each command of a script whose quotes end on their line.
std::vector<std::string> script_structure(const std::string& content) {
    std::vector<std::string> out;
    for (const auto& line : text::split(text::replace_all(content, "\\\n", " "), '\n')) {
        if (line.starts_with('#')) continue;
        const auto tokens = shell_tokens(line);
        std::string kinds = tokens ? "" : "BROKEN";
        for (const auto& token : tokens.value_or(std::vector<std::string>{})) {
            if (token.starts_with("OP:")) {
                kinds += token + " ";
            } else {
                kinds += token.starts_with("EXPANDS:") ? "expanded " : "w ";
            }
        }
        out.push_back(kinds);
    }
    return out;
}

}  // namespace

std::vector<std::string> structure_of(std::string_view name, const std::string& content) {
    for (const char* dockerfile : {"Dockerfile", "/proof", "/lock", "/attempt"}) {
        if (name.find(dockerfile) != std::string::npos) return dockerfile_structure(content);
    }
    if (name.find("compose") != std::string::npos) {
        const auto parsed = yaml::parse(content, std::string(name));
        return parsed.ok()
                   ? yaml_structure(*parsed)
                   : std::vector<std::string>{"BROKEN " + parsed.failure().diagnostics.front().message};
    }
    if (name.find("make-base") != std::string::npos) return script_structure(content);
    // requirements and .dockerignore: lines, and on each line the number of words.
    std::vector<std::string> out;
    for (const auto& line : text::split(content, '\n')) {
        if (!line.starts_with('#'))
            out.push_back(std::to_string(text::split(line, ' ').size()) +
                          (line.starts_with('-') ? " option" : ""));
    }
    return out;
}

bool is_clean(std::string_view content) {
    return std::all_of(content.begin(), content.end(),
                       [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; });
}

Lock pinned_lock(const std::vector<Image>& images) {
    Lock lock;
    for (const auto& image : images) {
        for (const auto& reference : image.references())
            lock.references[reference] = {"sha256:" + std::string(64, 'c')};
        lock.bases[image.suite] = {std::string(64, 'a'), {"mmdebstrap"}, {{"base-files", "12"}}};
        lock.images[image.id] = sample_pins(image);
    }
    return lock;
}
