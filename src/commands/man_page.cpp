#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "commands/command_line.hpp"

namespace cudamatrix {
namespace {

// A text in which roff sees nothing of its own.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if (c == '\'') {
            out += "\\(aq";
        } else if (c == '`') {
            out += "\\(ga";
        } else if (c == '~') {
            out += "\\(ti";
        } else if (c == '^') {
            out += "\\(ha";
        } else {
            out += c;
        }
    }
    return out;
}

std::string upper(std::string text) {
    for (auto& c : text) {
        if (text::is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

// A word as the argument of a macro: never one itself ("No", "Ar"), nor punctuation.
std::string argument(std::string_view text) {
    return "\"\\&" + text::replace_all(escaped(text), "\"", "\\(dq") + "\"";
}

// Running text. Lines are short, and each sentence has its own: mdoc's typesetter decides what follows a dot.
std::string prose(std::string_view text) {
    std::string out;
    std::size_t width = 0;
    for (const auto& word : text::split(text::replace_all(text, "\n", " "), ' ')) {
        if (word.empty()) continue;
        const auto shown = escaped(word);
        if (width != 0 && width + 1 + shown.size() > 76) {
            out += '\n';
            width = 0;
        }
        if (width == 0 && (shown.front() == '.' || shown.front() == '\\')) out += "\\&";
        out += (width == 0 ? "" : " ") + shown;
        width += 1 + shown.size();
        const auto end = word.find_last_not_of(")\"'`");
        if (end != std::string::npos && std::string_view(".!?").find(word[end]) != std::string_view::npos) {
            out += '\n';
            width = 0;
        }
    }
    return width == 0 ? out : out + "\n";
}

std::string sentence(const std::string& text) {
    return text.ends_with('.') ? text : text + ".";
}

std::string literal(const std::vector<std::string>& lines) {
    std::string out = ".Bd -literal\n";
    for (const auto& line : lines)
        out += "\\&" + escaped(line) + "\n";
    return out + ".Ed\n";
}

bool stands_alone(std::string_view line) {
    return line.starts_with(' ') || line.starts_with('`');
}

// Paragraphs of the details; one with columns or rows stays as it is written.
std::string paragraphs(const std::string& details) {
    std::string out;
    std::vector<std::string> lines;
    std::vector<std::string> rows;
    const auto flush_rows = [&] {
        if (!rows.empty()) out += literal(rows);
        rows.clear();
    };
    const auto flush = [&] {
        if (lines.empty()) return;
        if (!out.empty()) out += ".Pp\n";
        std::string running;
        for (const auto& line : lines) {
            if (line.starts_with(' ')) {
                out += prose(running);
                running.clear();
                rows.push_back(line);
                continue;
            }
            flush_rows();
            if (stands_alone(line) && running.ends_with('.')) {
                out += prose(running) + ".Pp\n";
                running.clear();
            }
            running += (running.empty() ? "" : " ") + line;
        }
        flush_rows();
        out += prose(running);
        lines.clear();
    };
    for (const auto& line : text::split(details, '\n')) {
        if (line.empty()) {
            flush();
        } else {
            lines.push_back(line);
        }
    }
    flush();
    return out;
}

struct Footer {
    std::string details;
    std::string example;
};

Footer footer_of(const CommandLine& command) {
    const auto at = command.footer.rfind("Example: ");
    if (at == std::string::npos) return {command.footer, ""};
    return {std::string(text::trim(command.footer.substr(0, at))),
            std::string(text::trim(command.footer.substr(at + 9)))};
}

std::string options_of(const CommandLine& command) {
    std::string out = ".Bl -tag -width Ds\n";
    for (const auto& option : command.options) {
        out += ".It Sy " + argument(option.usage()) + "\n" + prose(sentence(option.help));
        const auto conditions = option.conditions();
        if (!conditions.empty()) out += prose("(" + conditions + ")");
    }
    return out + ".El\n";
}

// A command of a command: all that can be said of it, one level down.
std::string nested(const CommandLine& command) {
    std::string out;
    for (const auto& one : command.subcommands) {
        out += ".Ss " + escaped(one.path) + "\n" + prose(sentence(one.summary));
        out += ".Pp\nUsage:\n" + prose(one.usage()) + options_of(one);
        const auto [details, example] = footer_of(one);
        if (!details.empty()) out += ".Pp\n" + paragraphs(details);
        if (!example.empty()) out += ".Pp\nExample:\n" + literal({example});
        out += nested(one);
    }
    return out;
}

std::string date_of(std::string_view date) {
    static constexpr std::array kMonths{"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
    const auto parts = text::split(date, '-');
    if (parts.size() != 3) return std::string(date);
    const auto month = static_cast<std::size_t>((parts[1][0] - '0') * 10 + (parts[1][1] - '0'));
    if (month == 0 || month > kMonths.size()) return std::string(date);
    return fmt::format("{} {}, {}", kMonths[month - 1],
                       parts[2].starts_with('0') ? parts[2].substr(1) : parts[2], parts[0]);
}

}  // namespace

std::string man_page(const CommandLine& whole, const CommandLine& command, std::string_view date) {
    const bool all = command.path == whole.path;
    const auto name = text::replace_all(command.path, " ", "-");
    const auto [details, example] = footer_of(command);
    std::string out = fmt::format(
        ".Dd {}\n.Dt {} 1\n.Os\n.Sh NAME\n.Nm {}\n.Nd {}\n.Sh SYNOPSIS\n", date_of(date), upper(name), name,
        escaped(command.summary.substr(0, command.summary.find_last_not_of('.') + 1)));
    out += ".Sy " + argument(command.usage()) + "\n.Sh DESCRIPTION\n" + prose(sentence(command.summary));
    if (!all && !details.empty()) out += ".Pp\n" + paragraphs(details);
    if (all) {
        out += ".Pp\nThe commands, each with a page of its own:\n.Bl -tag -width Ds\n";
        for (const auto& one : whole.subcommands)
            out += ".It Sy " + argument(one.name) + "\n" + prose(sentence(one.summary));
        out += ".El\n";
    }
    out += ".Sh OPTIONS\n" + options_of(command);
    if (!all && !command.subcommands.empty()) out += ".Sh COMMANDS\n" + nested(command);
    out +=
        ".Sh EXIT STATUS\n"
        ".Bl -tag -width Ds\n"
        ".It 0\nNothing to act on.\n"
        ".It 1\nFindings or failures.\n"
        ".It 2\nBad input or usage.\n"
        ".It 3\nEnvironment or I/O.\n"
        ".It 4\nPassed as far as possible without a GPU.\n"
        ".It 130\nInterrupted.\n"
        ".El\n";
    if (!example.empty()) out += ".Sh EXAMPLES\n" + literal({example});
    out += ".Sh SEE ALSO\n";
    if (!all) return out + ".Xr cudamatrix 1\n";
    std::vector<std::string> names;
    for (const auto& one : whole.subcommands)
        names.push_back(one.name);
    std::sort(names.begin(), names.end());
    for (const auto& one : names)
        out += ".Xr " + name + "-" + one + " 1" + (one == names.back() ? "\n" : " ,\n");
    return out;
}

}  // namespace cudamatrix
