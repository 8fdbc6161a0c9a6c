// images: what images contain beyond their cells.
#include <map>

#include "base/text.hpp"
#include "matrix/deployment/healthcheck.hpp"
#include "matrix/deployment/requirements.hpp"
#include "matrix/deployment/system_folders.hpp"
#include "matrix/entry.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

constexpr std::string_view kExample =
    "{name: train, when: {flavour: devel}, apt: [git], pip: requirements.txt}";

bool is_apt_name(std::string_view text) {
    const auto legal = [](char c) {
        return syntax::is_lower(c) || syntax::is_digit(c) || c == '+' || c == '.' || c == '-';
    };
    return text.size() > 1 && text.size() <= 64 && std::all_of(text.begin(), text.end(), legal) &&
           (syntax::is_lower(text.front()) || syntax::is_digit(text.front()));
}

// What is copied is for the user's programs: not in the place of the system's, or of the proof's suite.
bool is_copy_target(std::string_view text) {
    return is_container_path(text) && !is_system_file(text);
}

void read_pip(const Entry& entry, const yaml::Member& member, ImageEntry& image) {
    constexpr std::string_view accepted =
        "a requirements file next to the matrix file, or a list such as [numpy==1.26.4]";
    const auto& node = member.second;
    if (node.kind != Node::Kind::sequence) {
        if (node.kind == Node::Kind::scalar && node.text.find("==") != std::string::npos) {
            entry.reader().error(node.where,
                                 fmt::format("invalid pip {}: expected {}", in_quotes(node.text), accepted),
                                 "write a list: pip: [...]");
            return;
        }
        image.requirements.text = entry.scalar(member, accepted, is_relative_path);
        image.requirements.where = node.where;
        return;
    }
    for (const auto& item : entry.words(member, {accepted, "a requirement such as numpy==1.26.4",
                                                 [](std::string_view) { return true; }, true})) {
        auto requirement = parse_requirement(item.text);
        if (auto* problem = std::get_if<ValueProblem>(&requirement)) {
            entry.reader().error(item.where, std::move(problem->message), std::move(problem->fix));
            continue;
        }
        auto& [name, version] = std::get<Requirement>(requirement);
        add_requirement(entry.reader().problems, image, {std::move(name), std::move(version), item.where});
    }
}

void read_copies(const Entry& entry, const yaml::Member& member, ImageEntry& image) {
    std::map<std::string, Location> targets;
    entry.each_map(member, "{from: app, to: /workspace}", [&](const Entry& copy) {
        copy.refuse_keys_beside({"from", "to"});
        Copy out;
        if (const auto* from = copy.required("from", "what is copied")) {
            out.from = copy.scalar(
                *from, "a file or folder next to the matrix file such as app (without \".\" or \"..\")",
                is_relative_path);
            out.where = from->second.where;
        }
        if (const auto* to = copy.required("to", "where it is copied to")) {
            out.to = copy.scalar(
                *to,
                "an absolute path in the image such as /workspace, outside system programs and libraries",
                is_copy_target);
            const auto [first, fresh] = targets.try_emplace(out.to, to->second.where);
            if (!fresh && !out.to.empty()) {
                entry.reader().error(to->second.where,
                                     fmt::format("to: {} is copied to twice: first at {}", in_quotes(out.to),
                                                 place(first->second)),
                                     "give each a place of its own");
            }
        }
        image.copy.push_back(std::move(out));
    });
}

void read_image(Reader& reader, const Node& key, const Node& node) {
    const Entry entry(reader, key, node);
    if (!entry.is_map(kExample)) return;
    entry.refuse_keys_beside({"name", "when", "apt", "pip", "copy", "env", "healthcheck"});
    ImageEntry image;
    image.where = node.where;
    if (const auto* name = entry.required("name", "services and image ids are named by it")) {
        image.name = entry.scalar(*name, fmt::format("{} such as train", kEntryNameForm), is_entry_name);
        image.where = name->second.where;
    }
    image.when = entry.condition("when", kEveryCell);
    if (const auto* apt = entry.find("apt"))
        image.apt =
            entry.words(*apt, {"a list of packages such as [git]", "a package such as git", is_apt_name});
    if (const auto* pip = entry.find("pip")) read_pip(entry, *pip, image);
    if (const auto* copy = entry.find("copy")) read_copies(entry, *copy, image);
    if (const auto* env = entry.find("env")) image.env = entry.variables(*env);
    if (const auto* check = entry.find("healthcheck")) read_healthcheck(entry, *check, image.healthcheck);
    for (const auto& other : reader.matrix.deployment.images) {
        if (image.name.empty() || other.name != image.name) continue;
        reader.error(image.where,
                     fmt::format("name {}: an earlier entry of images has it, at {}", in_quotes(image.name),
                                 place(other.where)),
                     "give each entry a name of its own");
    }
    reader.matrix.deployment.images.push_back(std::move(image));
}

}  // namespace

void read_images(Reader& reader, const Node& key, const Node& node) {
    if (node.kind == Node::Kind::null) return;
    if (!reader.expect(key, node, Node::Kind::sequence, fmt::format("a list such as [{}]", kExample))) return;
    if (node.items.empty())
        reader.error(node.where, "images: an empty list: no cell would get an image",
                     "write an entry, or delete the key");
    for (const auto& item : node.items)
        read_image(reader, key, item);
}

}  // namespace cudamatrix
