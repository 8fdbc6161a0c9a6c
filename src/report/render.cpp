#include "report/matrix_reports.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "base/text.hpp"
#include "render/files/image_folder.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostLines = 20'000;
constexpr std::string_view kNothing = "/dev/null";

std::string fix_line(const DriftReport& report) {
    std::vector<std::string> words;
    for (const auto& word : report.fix)
        words.push_back(pasted(word));
    return text::join(words, " ");
}

std::string diff_of(const Drift& drift) {
    const bool gone = drift.kind == Drift::Kind::stale || drift.kind == Drift::Kind::orphan ||
                      drift.kind == Drift::Kind::edited;
    return unified_diff(drift.before, drift.after,
                        drift.kind == Drift::Kind::missing ? std::string(kNothing) : "a/" + drift.path,
                        gone ? std::string(kNothing) : "b/" + drift.path);
}

std::string_view about(Drift::Kind kind) {
    static constexpr std::array<std::string_view, 7> words{
        "",
        ": it is not there",
        ": its image has no such file any more",
        ": it belongs to no cell any more",
        ": cudamatrix did not write it; move it away",
        ": it belongs to no cell any more, but was changed by hand; move it away",
        ": a render was killed here; the next one finishes it"};
    return words[static_cast<std::size_t>(kind)];
}

// For a terminal; a diff that goes to a file keeps its bytes.
std::string shown(const std::string& diff, const TextOptions& options) {
    if (!options.colour) return diff;
    std::string out;
    auto lines = text::split(diff, '\n');
    lines.pop_back();
    for (const auto& line : lines) {
        const auto colour = line.starts_with("@@")  ? Colour::magenta
                            : line.starts_with('-') ? Colour::red
                            : line.starts_with('+') ? Colour::green
                                                    : Colour::none;
        out += coloured(text::printable(line), colour, true) + "\n";
    }
    return out;
}

bool needs_hand(const Drift& drift) {
    return !is_fixed_by_render(drift.kind);
}

}  // namespace

std::string drift_text(const DriftReport& report) {
    std::string diffs, names;
    std::size_t lines = 0, only_named = 0;
    for (const auto& drift : report.drift) {
        const auto diff = lines < kMostLines ? diff_of(drift) : std::string();
        lines += static_cast<std::size_t>(std::ranges::count(diff, '\n'));
        only_named += lines >= kMostLines && diff.empty() ? 1 : 0;
        diffs += shown(diff, report.text);
        names += fmt::format("{:<10} {}{}\n", to_string(drift.kind), text::printable(drift.path),
                             about(drift.kind));
    }
    if (!diffs.empty()) diffs += "\n";
    if (only_named != 0)
        names += fmt::format("The diffs of {} are left out; --format json has them all.\n",
                             text::count(only_named, "file"));
    if (report.drift.empty()) {
        return fmt::format("{}: {} in {}, all up to date\n", clipped(report.matrix, 60),
                           text::count(report.files, "file"), text::printable(report.output));
    }
    const auto by_hand = std::ranges::any_of(report.drift, needs_hand);
    return diffs + names +
           fmt::format("\n{}: {} in {} {} from the matrix\nfix: {}{}\n", clipped(report.matrix, 60),
                       text::count(report.drift.size(), "file"), text::printable(report.output),
                       report.drift.size() == 1 ? "differs" : "differ",
                       by_hand ? "move foreign and edited files away, then " : "",
                       text::printable(fix_line(report)));
}

std::string drift_json(const DriftReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", report.matrix);
    document.member("output", report.output);
    document.member("files", report.files);
    document.array("drift", report.drift, [&](const auto& drift) {
        return Json{{"path", drift.path},
                    {"kind", to_string(drift.kind)},
                    {"fixed_by_render", is_fixed_by_render(drift.kind)},
                    {"diff", diff_of(drift)}};
    });
    document.member("fix", report.fix);
    document.member("fix_line", report.drift.empty() ? std::string() : fix_line(report));
    return std::move(document).finish();
}

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

// How many are the user's: those that replace ours, and the partials beside them.
struct OwnTemplates {
    std::size_t overridden = 0, added = 0;
};

OwnTemplates count_own(const std::vector<mustache::Library::Listed>& templates) {
    OwnTemplates own;
    for (const auto& one : templates) {
        if (one.own) ++(one.added ? own.added : own.overridden);
    }
    return own;
}

// "43 templates, 1 overridden", and ", 2 added" where some are.
std::string counts_text(const std::vector<mustache::Library::Listed>& templates) {
    const auto own = count_own(templates);
    return fmt::format("{}, {} overridden{}", text::count(templates.size(), "template"), own.overridden,
                       own.added == 0 ? std::string() : fmt::format(", {} added", own.added));
}

}  // namespace

std::string templates_text(const TemplatesReport& report) {
    std::string out;
    std::size_t wide = 0;
    for (const auto& one : report.templates)
        wide = std::max(wide, one.name.size());
    for (const auto& one : report.templates) {
        const auto family = family_of(one.name);
        out += fmt::format("{:<12} {:<{}} {}", family.empty() ? "-" : family, one.name, wide,
                           one.own ? text::printable(one.shown) : "embedded");
        if (one.added) out += ", included by " + text::join(one.included_by, ", ");
        out += '\n';
    }
    return out + fmt::format("\n{}\n", counts_text(report.templates));
}

std::string templates_json(const TemplatesReport& report) {
    JsonDocument document(report.tool);
    document.member("count", report.templates.size());
    document.array("templates", report.templates, [&](const auto& one) {
        return Json{
            {"name", one.name},   {"family", family_of(one.name)},  {"overridden", one.own && !one.added},
            {"added", one.added}, {"included_by", one.included_by}, {"file", one.shown}};
    });
    return std::move(document).finish();
}

std::string template_text(const mustache::Library::Listed& one) {
    return one.text;
}

std::string template_json(const mustache::Library::Listed& one) {
    const Json json{{"name", one.name},
                    {"file", one.shown},
                    {"overridden", one.own && !one.added},
                    {"added", one.added},
                    {"included_by", one.included_by},
                    {"text", one.text}};
    return to_text(json) + "\n";
}

std::string template_check_text(const TemplateCheck& check) {
    return fmt::format("{}, {} filled from a sample, 0 mistakes\n", counts_text(check.templates),
                       text::count(check.filled, "file"));
}

std::string template_check_json(const TemplateCheck& check) {
    const auto own = count_own(check.templates);
    const Json json{{"templates", check.templates.size()},
                    {"overridden", own.overridden},
                    {"added", own.added},
                    {"filled", check.filled}};
    return to_text(json) + "\n";
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
        auto through = json_list(origin.through, place_json);
        document.element(Json{
            {"line", number}, {"text", line}, {"template", place_json(origin.at)}, {"through", through}});
    });
    document.end_array();
    return std::move(document).finish();
}

std::string locked_text(const LockedReport& report) {
    std::string out;
    for (const auto& line : report.changes)
        out += text::printable(line) + "\n";
    return out;
}

std::string locked_json(const LockedReport& report) {
    auto findings = json_list(report.findings, [&](const auto& finding) {
        return Json{{"message", finding.message}, {"notes", finding.notes}, {"fix", finding.fix}};
    });
    return to_text(
               Json{{"schema_version", 1}, {"changes", report.changes}, {"findings", std::move(findings)}}) +
           "\n";
}

}  // namespace cudamatrix::report
