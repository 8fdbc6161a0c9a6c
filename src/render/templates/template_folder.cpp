// Folders of users' templates: what they replace, which partials they add, and who includes those.
#include <algorithm>
#include <set>
#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"
#include "render/templates/template.hpp"

namespace cudamatrix::mustache {
namespace {

constexpr std::uint64_t kLargestTemplate = 1u << 20;
constexpr std::string_view kPartials = "partials/";

bool is_partial(std::string_view name) {
    return name.starts_with(kPartials) || name.find("/partials/") != std::string_view::npos;
}

std::string file_name(std::string_view name) {
    return std::string(name.substr(name.rfind('/') + 1));
}

// The templates below `directory`, sorted.
Result<std::vector<std::filesystem::path>> templates_below(const std::filesystem::path& directory) {
    namespace fs = std::filesystem;
    std::error_code error;
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
        if (it->path().extension() == ".mustache") found.push_back(it->path());
    }
    const auto shown = text::printable(directory.string());
    if (error)
        return input_failure(
            fmt::format("cannot read the folder of templates {}: {}", shown, error.message()));
    if (found.empty()) return input_failure(fmt::format("{} holds no *.mustache file", shown));
    std::ranges::sort(found);
    return found;
}

// What a tag asks for and nobody has comes first, whatever its folder.
std::string meant(const std::string& name, const std::vector<std::string>& known,
                  const std::set<std::string>& missing) {
    for (const auto& one : missing) {
        const auto near = text::did_you_mean(file_name(name), {file_name(one)});
        // A file for all families serves this one, too.
        if (near)
            return fmt::format("did you mean {}?",
                               name.starts_with(kPartials) ? std::string(kPartials) + *near : one);
    }
    const auto near = text::did_you_mean(name, known);
    return near ? fmt::format("did you mean {}?", *near) : std::string();
}

}  // namespace

struct Library::Includes {
    std::map<std::string, std::set<std::string>> of;  ///< who includes a partial, by its name
    std::set<std::string> missing;                    ///< names of partials that tags ask for in vain
    std::map<std::string, Failure> unread;            ///< what does not parse: nobody knows what it includes
};

Library::Includes Library::includes() const {
    Includes out;
    // A partial looks for others beside the template that it is filled for.
    std::set<std::pair<std::string, std::string>> seen;
    std::vector<std::pair<std::string, std::string>> open;
    for (const auto& [name, file] : files_) {
        if (!is_partial(name)) open.emplace_back(name.substr(0, name.rfind('/') + 1), name);
    }
    while (!open.empty()) {
        const auto [folder, name] = std::move(open.back());
        open.pop_back();
        if (!seen.insert({folder, name}).second) continue;
        const auto& file = files_.find(name)->second;
        const auto tree = parse_template(file.text, file.shown, "");
        if (!tree.ok()) {
            out.unread.emplace(name, tree.failure());
            continue;
        }
        for (const auto& partial : tree->partials) {
            const auto found = partial_of(folder, partial);
            if (found.empty()) {
                out.missing.insert(fmt::format("{}{}{}.mustache", folder, kPartials, partial));
                continue;
            }
            out.of[found].insert(name);
            open.emplace_back(folder, found);
        }
    }
    return out;
}

Status Library::override_from(const std::filesystem::path& directory) {
    CM_TRY_ASSIGN(const auto found, templates_below(directory));
    std::vector<std::string> known;
    for (const auto& [name, ignored] : files_)
        known.push_back(name);
    std::vector<Diagnostic> mistakes;
    std::vector<std::string> added;
    const auto refuse = [&](const std::string& shown, std::string_view what, std::string fix) {
        mistakes.push_back(
            Diagnostic::error(fmt::format("{} {}", text::printable(shown), what)).with_fix(std::move(fix)));
    };
    for (const auto& path : found) {
        const auto name = path.lexically_relative(directory).generic_string();
        const bool is_new = !has(name);
        if (is_new && !is_partial(name)) {
            refuse(path.string(), "replaces no template of ours", meant(name, known, {}));
            continue;
        }
        CM_TRY_ASSIGN(auto content, file::read(path, kLargestTemplate));
        add(name, std::move(content), path.string());
        if (!is_new) continue;
        files_[name].own = files_[name].added = true;
        added.push_back(name);
    }

    const auto included = includes();
    std::erase_if(added, [&](const std::string& name) { return included.of.count(name) == 1; });
    // What does not parse may include the rest: that comes first.
    for (const auto& [ignored, failure] : included.unread) {
        if (!added.empty())
            mistakes.insert(mistakes.end(), failure.diagnostics.begin(), failure.diagnostics.end());
    }
    for (const auto& name : added) {
        if (!included.unread.empty()) break;
        refuse(files_[name].shown, "replaces no template of ours, and no template includes it",
               meant(name, known, included.missing));
        files_.erase(name);
    }
    if (!mistakes.empty()) return Failure{ExitCode::bad_input, std::move(mistakes)};
    return Done{};
}

std::vector<Library::Listed> Library::list() const {
    const auto included = includes();
    std::vector<Listed> all;
    for (const auto& [name, file] : files_) {
        const auto by = included.of.find(name);
        all.push_back({name, file.shown, file.own, file.added, file.text, {}});
        if (by != included.of.end()) all.back().included_by = {by->second.begin(), by->second.end()};
    }
    return all;
}

}  // namespace cudamatrix::mustache
