#include "base/diagnostic.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kSeverityCount> kNames{"error", "warning", "unknown", "note",
                                                              "notice"};
constexpr std::array<std::string_view, kSeverityCount> kColours{"\x1b[1;31m", "\x1b[1;33m", "\x1b[1;35m",
                                                                "\x1b[1;36m", "\x1b[1;34m"};

std::string_view line_of(std::string_view source, std::size_t line) {
    for (std::size_t current = 1; current < line; ++current) {
        const auto end = source.find('\n');
        if (end == std::string_view::npos) return {};
        source.remove_prefix(end + 1);
    }
    auto text = source.substr(0, source.find('\n'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    return text;
}

// The excerpt and its caret line. Very long lines are windowed around the column.
std::string excerpt(const Location& where, std::string_view source) {
    if (where.line == 0 || source.empty()) return {};
    const auto line = line_of(source, where.line);
    if (line.empty() || where.column == 0 || where.column > line.size() + 1) return {};
    constexpr std::size_t window = 100;
    const std::size_t start = where.column > window ? where.column - window / 2 : 0;
    const auto shown = text::printable(line.substr(start, window + window / 2));
    const auto number = std::to_string(where.line);
    const std::size_t before = text::display_width(line.substr(start, where.column - 1 - start));
    // The mark underlines what the excerpt shows, at least one column, counted in characters.
    const std::size_t shown_end = std::min(line.size(), start + window + window / 2);
    const std::size_t end = std::min(where.column - 1 + std::min(where.length, line.size()), shown_end);
    const std::size_t marks = std::max<std::size_t>(
        1, end > where.column - 1
               ? text::display_width(line.substr(where.column - 1, end - (where.column - 1)))
               : 0);
    return fmt::format("  {} | {}\n  {} | {}^{}\n", number, shown, std::string(number.size(), ' '),
                       std::string(before, ' '), std::string(marks - 1, '~'));
}

}  // namespace

std::string_view to_string(Severity severity) {
    return kNames[static_cast<std::size_t>(severity)];
}

Diagnostic Diagnostic::error(std::string message, Location where) {
    return Diagnostic{Severity::error, std::move(where), std::move(message), {}, {}};
}

Diagnostic Diagnostic::warning(std::string message, Location where) {
    return Diagnostic{Severity::warning, std::move(where), std::move(message), {}, {}};
}

Diagnostic Diagnostic::note(std::string message, Location where) {
    return Diagnostic{Severity::note, std::move(where), std::move(message), {}, {}};
}

Diagnostic Diagnostic::with_fix(std::string text) && {
    fix = std::move(text);
    return std::move(*this);
}

Diagnostic Diagnostic::with_note(std::string text) && {
    notes.push_back(std::move(text));
    return std::move(*this);
}

std::string render(const Diagnostic& diagnostic, std::string_view source, bool colour) {
    std::string out;
    const auto& where = diagnostic.where;
    if (!where.file.empty()) {
        out += text::printable(where.file) + ":";
        if (where.line != 0) out += fmt::format("{}:{}:", where.line, where.column);
        out += " ";
    } else {
        out += "cudamatrix: ";
    }
    const auto label = to_string(diagnostic.severity);
    const auto ink = kColours[static_cast<std::size_t>(diagnostic.severity)];
    out += colour ? fmt::format("{}{}:\x1b[0m ", ink, label) : fmt::format("{}: ", label);
    out += text::printable(diagnostic.message) + "\n" + excerpt(where, source);
    for (const auto& note : diagnostic.notes)
        out += "  note: " + text::printable(note) + "\n";
    if (!diagnostic.fix.empty()) out += "  fix: " + text::printable(diagnostic.fix) + "\n";
    return out;
}

}  // namespace cudamatrix
