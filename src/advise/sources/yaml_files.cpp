// Compose files and conda's environment.yml.
#include <algorithm>

#include "advise/sources/installers.hpp"
#include "advise/sources/readers.hpp"
#include "advise/sources/requirements.hpp"
#include "base/text.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix::sources {
namespace {

constexpr yaml::Limits kLimits{1u << 20, 100'000, 32, 64u << 10};

// The document, or why there is none.
std::optional<yaml::Node> parsed(Source& out) {
    auto document = yaml::parse(out.text, out.path, kLimits);
    if (!document.ok()) {
        const auto& why = document.failure().diagnostics.front();
        out.skipped.push_back({why.where, "the file", why.message});
        return {};
    }
    return std::move(document).value();
}

Word word_of(const yaml::Node& node) {
    return {node.text, node.where, node.quoted};
}

// ${TAG:-12.1} of a compose file: only defaults are known.
Word interpolated(const yaml::Node& node) {
    const auto nothing = [](std::string_view) -> std::optional<std::string> { return {}; };
    Word out{{}, node.where, node.quoted};
    for (std::size_t i = 0; i < node.text.size();) {
        if (node.text[i] != '$') {
            out.text.push_back(node.text[i++]);
        } else if (node.text.substr(i, 2) == "$$") {
            out.text.push_back('$');
            i += 2;
        } else {
            out.text += expanded_at(node.text, i, nothing);
        }
    }
    return out;
}

// A map, or a list of NAME=VALUE.
std::vector<Variable> variables_of(const yaml::Node* node) {
    std::vector<Variable> out;
    if (node == nullptr) return out;
    for (const auto& member : node->members)
        out.push_back({member.first.text, interpolated(member.second)});
    for (const auto& item : node->items) {
        auto word = interpolated(item);
        const auto equals = word.text.find('=');
        if (equals == std::string::npos) continue;
        auto name = word.text.substr(0, equals);
        word.text.erase(0, equals + 1);
        out.push_back({std::move(name), std::move(word)});
    }
    return out;
}

std::string text_in(const yaml::Node& node, std::string_view key, std::string_view otherwise = {}) {
    const auto* found = node.find(key);
    return found == nullptr || found->kind != yaml::Node::Kind::scalar ? std::string(otherwise)
                                                                       : interpolated(*found).text;
}

void add_service(const yaml::Member& service, Source& out) {
    const auto& node = service.second;
    std::vector<Step> steps;
    for (auto& variable : variables_of(node.find("environment")))
        steps.emplace_back(std::move(variable));
    if (const auto* build = node.find("build")) {
        Build made;
        made.where = build->where;
        made.steps = std::move(steps);
        const bool is_text = build->kind == yaml::Node::Kind::scalar;
        made.context = is_text ? interpolated(*build).text : text_in(*build, "context", ".");
        made.dockerfile = is_text ? "Dockerfile" : text_in(*build, "dockerfile", "Dockerfile");
        if (!is_text) {
            made.target = text::lower(text_in(*build, "target"));
            for (const auto& [name, value] : variables_of(build->find("args"))) {
                if (!value.is_open()) made.arguments[name] = value.text;
            }
            if (build->find("dockerfile_inline") != nullptr) {
                out.skipped.push_back(
                    {build->where, "dockerfile_inline", "a Dockerfile inside a compose file is not read"});
                return;
            }
        }
        out.builds.push_back(std::move(made));
        return;
    }
    const auto* image = node.find("image");
    if (image == nullptr || image->kind != yaml::Node::Kind::scalar) return;
    Stage stage;
    stage.name = service.first.text;
    stage.base = interpolated(*image);
    stage.where = image->where;
    stage.steps = std::move(steps);
    const auto platform = text_in(node, "platform");
    if (platform == "linux/amd64") stage.arch = "x86_64";
    if (platform == "linux/arm64") stage.arch = "aarch64";
    if (stage.base.is_open())
        out.skipped.push_back({stage.base.where, "the image", "a variable in it has no value here"});
    out.stages.push_back(std::move(stage));
}

// One line of the list under pip:, which may be an option.
void add_pip_line(const yaml::Node& item, PipInstall& install) {
    const auto text = std::string(text::trim(item.text));
    for (const auto& [option, kind] :
         {std::pair<std::string_view, IndexKind>{"--index-url", IndexKind::index},
          {"-i", IndexKind::index},
          {"--extra-index-url", IndexKind::extra},
          {"--find-links", IndexKind::find_links},
          {"-f", IndexKind::find_links}}) {
        if (!text.starts_with(option) || text.size() <= option.size() ||
            (text[option.size()] != ' ' && text[option.size()] != '='))
            continue;
        install.indexes.push_back(
            {kind, std::string(text::trim(text.substr(option.size() + 1))), item.where});
        return;
    }
    if (text.starts_with("-r ")) {
        install.files.push_back({std::string(text::trim(text.substr(3))), item.where, false});
    } else if (auto requirement = requirement_from(text, item.where)) {
        install.requirements.push_back(*std::move(requirement));
    }
}

}  // namespace

Source read_compose(std::string path, std::string text) {
    Source out{std::move(path), std::move(text), Kind::compose, {}, {}, {}};
    const auto document = parsed(out);
    const auto* services = document ? document->find("services") : nullptr;
    if (services == nullptr) return out;
    for (const auto& service : services->members) {
        if (service.second.kind == yaml::Node::Kind::map) add_service(service, out);
    }
    return out;
}

Source read_conda_environment(std::string path, std::string text) {
    Source out{std::move(path), std::move(text), Kind::conda_environment, {}, {}, {}};
    const auto document = parsed(out);
    if (!document) return out;
    CondaInstall conda;
    PipInstall pip;
    if (const auto* channels = document->find("channels")) {
        for (const auto& channel : channels->items)
            conda.channels.push_back(channel.text);
    }
    const auto* dependencies = document->find("dependencies");
    if (dependencies == nullptr) return out;
    conda.where = dependencies->where;
    for (const auto& item : dependencies->items) {
        if (item.kind == yaml::Node::Kind::scalar) {
            conda.specs.push_back(conda_spec(word_of(item).text, item.where));
        } else if (const auto* list = item.find("pip")) {
            pip.where = list->where;
            for (const auto& line : list->items)
                add_pip_line(line, pip);
        }
    }
    Stage stage;
    stage.where = conda.where;
    stage.steps.emplace_back(std::move(conda));
    if (pip.where.line != 0) stage.steps.emplace_back(std::move(pip));
    out.stages.push_back(std::move(stage));
    return out;
}

}  // namespace cudamatrix::sources
