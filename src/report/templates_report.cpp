#include "report/templates_report.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "report/json_document.hpp"

namespace cudamatrix::report {
namespace {

std::string family_of(std::string_view name) {
    const auto slash = name.find('/');
    // partials/ beside the families are for all of them.
    return slash == std::string_view::npos || name.starts_with("partials/")
               ? std::string()
               : std::string(name.substr(0, slash));
}

std::string place(const Location& at) {
    return fmt::format("{}:{}", text::printable(at.file), at.line);
}

Json place_json(const Location& at) {
    return Json{{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

// Calls `each` with number, text and origin of the lines that are wanted.
template <class Each>
void for_lines(const OriginReport& report, const Each& each) {
    const auto lines = text::split(report.content, '\n');
    for (std::size_t i = 0; i < std::min(lines.size(), report.lines.size()); ++i) {
        if (report.line == 0 || report.line == i + 1) each(i + 1, lines[i], report.lines[i]);
    }
}

}  // namespace

OwnTemplates count_own(const std::vector<mustache::Library::Listed>& templates) {
    OwnTemplates own;
    for (const auto& one : templates) {
        if (one.own) ++(one.added ? own.added : own.overridden);
    }
    return own;
}

std::string counts_text(const std::vector<mustache::Library::Listed>& templates) {
    const auto own = count_own(templates);
    return fmt::format("{}, {} overridden{}", text::count(templates.size(), "template"), own.overridden,
                       own.added == 0 ? std::string() : fmt::format(", {} added", own.added));
}

std::string templates_text(const std::vector<mustache::Library::Listed>& templates) {
    std::string out;
    std::size_t wide = 0;
    for (const auto& one : templates)
        wide = std::max(wide, one.name.size());
    for (const auto& one : templates) {
        const auto family = family_of(one.name);
        out += fmt::format("{:<12} {:<{}} {}", family.empty() ? "-" : family, one.name, wide,
                           one.own ? text::printable(one.shown) : "embedded");
        if (one.added) out += ", included by " + text::join(one.included_by, ", ");
        out += '\n';
    }
    return out + fmt::format("\n{}\n", counts_text(templates));
}

std::string templates_json(const std::vector<mustache::Library::Listed>& templates, const ToolInfo& tool) {
    JsonDocument document(tool);
    document.member("count", templates.size());
    document.begin_array("templates");
    for (const auto& one : templates) {
        document.element(Json{{"name", one.name},
                              {"family", family_of(one.name)},
                              {"overridden", one.own && !one.added},
                              {"added", one.added},
                              {"included_by", one.included_by},
                              {"file", one.shown}});
    }
    document.end_array();
    return std::move(document).finish();
}

std::string origins_text(const OriginReport& report) {
    std::string out;
    for_lines(report, [&](std::size_t number, const std::string& line, const mustache::Origin& origin) {
        if (report.line != 0) {
            out += fmt::format("{}:{}: {}\n  {}\n", text::printable(report.file), number,
                               text::printable(line), place(origin.at));
            for (const auto& through : origin.through)
                out += "  through " + place(through) + "\n";
            return;
        }
        auto from = place(origin.at);
        for (const auto& through : origin.through)
            from += " < " + place(through);
        out += fmt::format("{:>4}  {}  | {}\n", number, from, text::printable(line));
    });
    return out;
}

std::string origins_json(const OriginReport& report) {
    JsonDocument document(report.tool);
    document.member("file", report.file);
    document.begin_array("lines");
    for_lines(report, [&](std::size_t number, const std::string& line, const mustache::Origin& origin) {
        auto through = Json::array();
        for (const auto& one : origin.through)
            through.push_back(place_json(one));
        document.element(Json{
            {"line", number}, {"text", line}, {"template", place_json(origin.at)}, {"through", through}});
    });
    document.end_array();
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
