// images: what images contain beyond their cells, read and written.
#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/file.hpp"
#include "base/text.hpp"
#include "matrix/deployment/syntax.hpp"
#include "matrix/reader.hpp"

namespace cudamatrix {
namespace {

constexpr std::uint64_t kRequirementsBytes = 1u << 20;

ValueProblem not_exact(std::string_view text, std::string fix) {
    return {
        fmt::format("pip: found {}, expected an exact requirement such as numpy==1.26.4", in_quotes(text)),
        std::move(fix)};
}

std::string fix_for(std::string_view text) {
    if (text.find("--hash") != std::string_view::npos)
        return "delete the hashes: `cudamatrix lock` writes them for every dependency";
    if (text.starts_with('-')) return "write the packages themselves; indexes go under mirrors";
    if (text.find('[') != std::string_view::npos) return "write the packages that the extra installs";
    if (text.find(';') != std::string_view::npos) return "delete the marker: an image has one Python";
    return text.find_first_of("<>~!*=") != std::string_view::npos ? "write NAME==VERSION" : "";
}

using Requirement = std::pair<std::string, std::string>;  // name, version

// "numpy==1.26.4". What is not exact is refused, and so is torch, which is a field of a cell.
std::variant<Requirement, ValueProblem> parse_requirement(std::string_view text) {
    const auto equals = text.find("==");
    if (equals == std::string_view::npos) return not_exact(text, fix_for(text));
    const auto name = text::trim(text.substr(0, equals));
    const auto version = text::trim(text.substr(equals + 2));
    if (text::normalised_project(name) == "torch" && !check_member(Field::packages, "x", version))
        return ValueProblem{"pip: torch is a field of its own",
                            fmt::format("write torch: {} under axes or set", version)};
    if (check_member(Field::packages, name, version)) return not_exact(text, fix_for(text));
    return Requirement{name, version};
}

// A problem where it is not exact, or the package is among the requirements of `image` already.
void add_requirement(std::vector<Diagnostic>& problems, ImageEntry& image, std::string_view text,
                     const Location& where) {
    auto parsed = parse_requirement(text);
    if (auto* problem = std::get_if<ValueProblem>(&parsed)) {
        problems.push_back(
            Diagnostic::error(std::move(problem->message), where).with_fix(std::move(problem->fix)));
        return;
    }
    auto& wanted = std::get<Requirement>(parsed);
    const auto first = std::find_if(image.pip.begin(), image.pip.end(), [&](const Variable& other) {
        return text::normalised_project(other.name) == text::normalised_project(wanted.first);
    });
    if (first != image.pip.end()) {
        problems.push_back(
            Diagnostic::error(
                fmt::format("pip: {} appears twice: first at {}", wanted.first, place(first->where)), where)
                .with_fix("keep one of the two"));
    } else {
        image.pip.push_back({std::move(wanted.first), std::move(wanted.second), where});
    }
}

void read_file(const std::string& matrix_path, const file::Reader& read, ImageEntry& image,
               std::vector<Diagnostic>& problems) {
    const auto path = std::filesystem::path(matrix_path).parent_path() / image.requirements.text;
    const auto refuse = [&](std::string why) {
        problems.push_back(Diagnostic::error("pip: " + std::move(why), image.requirements.where));
    };
    const auto content = read(path, kRequirementsBytes);
    if (!content.ok()) return refuse(content.failure().diagnostics.front().message);
    if (const auto bad = text::invalid_utf8(*content))
        return refuse(fmt::format("{} is not valid UTF-8 at byte {}", image.requirements.text, *bad + 1));
    std::size_t number = 0;
    for (const auto& line : text::split(*content, '\n')) {
        ++number;
        const auto text = text::trim(std::string_view(line).substr(0, line.find('#')));
        if (text.empty()) continue;
        const Location where{path.string(), number, static_cast<std::size_t>(text.data() - line.data()) + 1,
                             text.size()};
        add_requirement(problems, image, text, where);
    }
}

}  // namespace

Status read_requirements(const std::string& matrix_path, std::vector<ImageEntry>& images,
                         const file::Reader& read) {
    std::vector<Diagnostic> problems;
    for (auto& image : images) {
        if (!image.requirements.text.empty()) read_file(matrix_path, read, image, problems);
    }
    if (problems.empty()) return Done{};
    return first_hundred(std::move(problems));
}

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

Json variables_json(const std::vector<Variable>& variables) {
    auto map = Json::object();
    for (const auto& variable : variables)
        append_member(map, variable.name, variable.value);
    return map;
}

Json write_images(const Matrix& matrix) {
    return list_json(matrix.deployment.images, [](const ImageEntry& image) {
        Json entry{{"name", image.name}};
        if (!image.when.clauses.empty()) entry["when"] = condition_json(image.when);
        if (!image.apt.empty())
            entry["apt"] = list_json(image.apt, [](const Word& word) { return Json(word.text); });
        if (!image.requirements.text.empty()) {
            entry["pip"] = image.requirements.text;
        } else if (!image.pip.empty()) {
            entry["pip"] =
                list_json(image.pip, [](const Variable& pin) { return Json(pin.name + "==" + pin.value); });
        }
        if (!image.copy.empty())
            entry["copy"] = list_json(image.copy, [](const Copy& copy) {
                return Json{{"from", copy.from}, {"to", copy.to}};
            });
        if (!image.env.empty()) entry["env"] = variables_json(image.env);
        if (!image.healthcheck.test.empty()) entry["healthcheck"] = healthcheck_json(image.healthcheck);
        return entry;
    });
}

}  // namespace cudamatrix
