#include "report/drift_report.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/line_diff.hpp"
#include "base/text.hpp"
#include "report/json_document.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kMostLines = 20'000;
constexpr std::string_view kNothing = "/dev/null";

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
    const auto plain = [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return letter || std::string_view("_./+:@%,=-").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    return "'" + text::replace_all(word, "'", "'\\''") + "'";
}

std::string mend_line(const DriftReport& report) {
    std::vector<std::string> words;
    for (const auto& word : report.mend)
        words.push_back(shell_word(word));
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
    switch (kind) {
        case Drift::Kind::changed:
            return "";
        case Drift::Kind::missing:
            return ": it is not there";
        case Drift::Kind::stale:
            return ": its image has no such file any more";
        case Drift::Kind::orphan:
            return ": it belongs to no cell any more";
        case Drift::Kind::foreign:
            return ": cudamatrix did not write it; move it away";
        case Drift::Kind::edited:
            return ": it belongs to no cell any more, but was changed by hand; move it away";
        case Drift::Kind::unfinished:
            return ": a render was killed here; the next one finishes it";
    }
    return "";
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
    return !is_mended_by_render(drift.kind);
}

}  // namespace

std::string drift_text(const DriftReport& report) {
    std::string diffs, names;
    std::size_t lines = 0, only_named = 0;
    for (const auto& drift : report.drift) {
        const auto diff = lines < kMostLines ? diff_of(drift) : std::string();
        lines += static_cast<std::size_t>(std::count(diff.begin(), diff.end(), '\n'));
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
    const auto by_hand = std::any_of(report.drift.begin(), report.drift.end(), needs_hand);
    return diffs + names +
           fmt::format("\n{}: {} in {} {} from the matrix\nfix: {}{}\n", clipped(report.matrix, 60),
                       text::count(report.drift.size(), "file"), text::printable(report.output),
                       report.drift.size() == 1 ? "differs" : "differ",
                       by_hand ? "move foreign and edited files away, then " : "",
                       text::printable(mend_line(report)));
}

std::string drift_json(const DriftReport& report) {
    JsonDocument document(report.tool);
    document.member("matrix", report.matrix);
    document.member("output", report.output);
    document.member("files", report.files);
    document.begin_array("drift");
    for (const auto& drift : report.drift) {
        document.element(Json{{"path", drift.path},
                              {"kind", to_string(drift.kind)},
                              {"mended_by_render", is_mended_by_render(drift.kind)},
                              {"diff", diff_of(drift)}});
    }
    document.end_array();
    document.member("mend", report.mend);
    document.member("mend_line", report.drift.empty() ? std::string() : mend_line(report));
    return std::move(document).finish();
}

}  // namespace cudamatrix::report
