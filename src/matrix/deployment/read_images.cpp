// images: what images contain beyond their cells.
#include "matrix/deployment/requirements.hpp"
#include "matrix/deployment/system_folders.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

using yaml::Node;

bool is_apt_name(std::string_view text) {
    return text.size() > 1 && text.size() <= 64 && text.find_first_of("+.-") != 0 &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+.-") == std::string_view::npos;
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
                                                 [](std::string_view) { return true; }, true}))
        add_requirement(entry.reader().problems, image, item.text, item.where);
}

void read_copies(const Entry& entry, const yaml::Member& member, ImageEntry& image) {
    std::map<std::string, Location> targets;
    entry.each_map(member, "{from: app, to: /workspace}", [&](const Entry& copy) {
        copy.refuse_keys_beside({"from", "to"});
        const auto from =
            copy.word("from", "what is copied",
                      "a file or folder next to the matrix file such as app (without \".\" or \"..\")",
                      is_relative_path);
        const auto to = copy.word(
            "to", "where it is copied to",
            "an absolute path in the image such as /workspace, outside system programs and libraries",
            is_copy_target);
        if (!to.text.empty())
            entry.reader().first_time(targets, to.text, to.where,
                                      fmt::format("to: {} is copied to twice", in_quotes(to.text)),
                                      "give each a place of its own");
        image.copy.push_back({from.text, to.text, from.where});
    });
}

}  // namespace

void read_images(Reader& reader, const Node& key, const Node& node) {
    auto& images = reader.matrix.deployment.images;
    for (const auto& item : node.items) {
        const Entry entry(reader, key, item);
        if (!entry.is_map(kImageExample)) continue;
        entry.refuse_keys_beside({"name", "when", "apt", "pip", "copy", "env", "healthcheck"});
        ImageEntry image;
        const auto name = entry.word("name", "services and image ids are named by it",
                                     fmt::format("{} such as train", kEntryNameForm), is_entry_name);
        image.name = name.text;
        image.where = name.where;
        image.when = entry.condition("when", kEveryCell);
        entry.optional("apt", image.apt,
                       {"a list of packages such as [git]", "a package such as git", is_apt_name});
        if (const auto* pip = entry.find("pip")) read_pip(entry, *pip, image);
        if (const auto* copy = entry.find("copy")) read_copies(entry, *copy, image);
        entry.variables("env", image.env);
        read_healthcheck(entry, image.healthcheck);
        entry.refuse_name_of(images, image, &ImageEntry::name, "an earlier entry of images", "entry");
        images.push_back(std::move(image));
    }
}

}  // namespace cudamatrix
