#include "advise/sources/requirements.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix::sources {
namespace {

bool is_project_character(char c) {
    return text::is_word(c) || c == '.' || c == '_' || c == '-';
}

// "==2.1.0, !=2.2" without blanks; nothing for what is no list of clauses.
std::optional<std::string> specifier_of(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == ' ' || c == '\t') continue;
        const bool fits = text::is_word(c) ||
                          std::string_view("<>=!~,.*+-_()").find(c) != std::string_view::npos || c == kOpen;
        if (!fits) return {};
        if (c != '(' && c != ')') out.push_back(c);
    }
    if (!out.empty() && std::string_view("<>=!~").find(out[0]) == std::string_view::npos) return {};
    return out;
}

}  // namespace

std::optional<WheelName> wheel_name(std::string_view path) {
    path = path.substr(0, path.find_first_of("#?"));
    path = path.substr(path.rfind('/') + 1);
    const auto file = text::percent_decoded(path).value_or(std::string(path));
    if (!file.ends_with(".whl")) return {};
    const auto parts = text::split(file.substr(0, file.size() - 4), '-');
    if (parts.size() < 5) return {};
    return WheelName{text::normalised_project(parts[0]), parts[1], parts[parts.size() - 3]};
}

std::optional<Requirement> requirement_from(std::string_view text, const Location& where) {
    text = text::trim(text);
    Requirement out;
    out.where = where;
    if (const auto wheel = wheel_name(text.substr(0, text.find(' ')));
        wheel && text.find('@') == std::string_view::npos) {
        out.name = wheel->name;
        out.url = std::string(text.substr(0, text.find_first_of(" ;")));
        return out;
    }
    std::size_t end = 0;
    while (end < text.size() && is_project_character(text[end]))
        ++end;
    if (end == 0 || !text::is_word(text[0])) return {};
    out.name = text::normalised_project(text.substr(0, end));
    auto rest = text::trim(text.substr(end));
    if (rest.starts_with("[")) {
        const auto close = rest.find(']');
        if (close == std::string_view::npos) return {};
        rest = text::trim(rest.substr(close + 1));
    }
    if (rest.starts_with("@")) {
        rest = text::trim(rest.substr(1));
        out.url = std::string(rest.substr(0, rest.find(' ')));
        const auto marker = rest.find(" ;");
        if (marker != std::string_view::npos) out.marker = std::string(text::trim(rest.substr(marker + 2)));
        return out;
    }
    const auto semicolon = rest.find(';');
    if (semicolon != std::string_view::npos) out.marker = std::string(text::trim(rest.substr(semicolon + 1)));
    auto specifier = specifier_of(text::trim(rest.substr(0, semicolon)));
    if (!specifier) return {};
    out.specifier = *std::move(specifier);
    return out;
}

namespace {

struct Line {
    Script script;
    [[nodiscard]] bool empty() const { return text::trim(script.text).empty(); }
};

// Lines with a backslash at their end joined, comments gone.
std::vector<Line> lines_of(const FileText& file) {
    std::vector<Line> out(1);
    const auto text = file.text();
    bool comment = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
            ++i;
        } else if (c == '\\' && i + 2 < text.size() && text[i + 1] == '\r' && text[i + 2] == '\n') {
            i += 2;
        } else if (c == '\n') {
            out.emplace_back();
            comment = false;
        } else if (c == '#' && (out.back().script.text.empty() || out.back().script.text.back() == ' ' ||
                                out.back().script.text.back() == '\t')) {
            comment = true;
        } else if (!comment && c != '\r') {
            out.back().script.add(c == '\t' ? ' ' : c, i);
        }
    }
    std::erase_if(out, [](const Line& line) { return line.empty(); });
    return out;
}

// Options that a line may have behind its requirement: "--hash=sha256:...".
std::string_view without_options(std::string_view text) {
    return text.substr(0, std::min(text.find(" --"), text.size()));
}

struct Option {
    std::string_view name;
    std::string_view shorter;
};

// The value of an option line, "--index-url URL" or "--index-url=URL", and where it begins.
std::optional<std::pair<std::string, std::size_t>> value_of(std::string_view text, const Option& option) {
    for (const auto name : {option.name, option.shorter}) {
        if (name.empty() || !text.starts_with(name)) continue;
        auto at = name.size();
        if (at < text.size() && text[at] != ' ' && text[at] != '=') {
            if (name.starts_with("--")) continue;
        } else if (at < text.size()) {
            ++at;
        }
        while (at < text.size() && text[at] == ' ')
            ++at;
        auto value = text.substr(std::min(at, text.size()));
        return std::pair(std::string(value.substr(0, value.find(' '))), at);
    }
    return {};
}

}  // namespace

Source read_requirements(std::string path, std::string text) {
    Source out{std::move(path), std::move(text), Kind::requirements, {}, {}, {}};
    const FileText file(out.text, out.path);
    PipInstall install;
    for (const auto& line : lines_of(file)) {
        const auto skip = line.script.text.find_first_not_of(' ');
        const auto script = line.script.from(skip);
        const std::string_view shown = text::trim(script.text);
        const auto where = [&](std::size_t at, std::size_t length) {
            return file.at(script.offset(at), length);
        };
        if (install.where.line == 0) install.where = where(0, shown.size());
        if (shown.starts_with("-")) {
            static constexpr std::pair<Option, IndexKind> kIndexes[] = {
                {{"--index-url", "-i"}, IndexKind::index},
                {{"--extra-index-url", ""}, IndexKind::extra},
                {{"--find-links", "-f"}, IndexKind::find_links}};
            for (const auto& [option, kind] : kIndexes) {
                if (auto value = value_of(shown, option))
                    install.indexes.push_back(
                        {kind, value->first, where(value->second, value->first.size())});
            }
            if (auto value = value_of(shown, {"--requirement", "-r"}))
                install.files.push_back({value->first, where(value->second, value->first.size())});
            continue;  // -e, -c, --pre and the like say nothing about versions of their own
        }
        const auto written = text::trim(without_options(shown));
        if (auto requirement = requirement_from(written, where(0, written.size()))) {
            install.requirements.push_back(*std::move(requirement));
        } else {
            out.skipped.push_back({where(0, written.size()), std::string(written), "no requirement by name"});
        }
    }
    Stage stage;
    stage.where = install.where;
    stage.steps.emplace_back(std::move(install));
    out.stages.push_back(std::move(stage));
    return out;
}

}  // namespace cudamatrix::sources
