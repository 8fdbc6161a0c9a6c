#include <algorithm>

#include "base/text.hpp"
#include "commands/command_line.hpp"

namespace cudamatrix {
namespace {

constexpr std::size_t kColumn = 30;  // where what an option means begins

// The words of `line` in lines of at most `columns`, all but the first after `indent` spaces.
std::string wrapped(std::string_view line, std::size_t columns, std::size_t indent, std::size_t at) {
    std::string out;
    bool first = true;
    for (const auto& word : text::split(line, ' ')) {
        if (word.empty()) continue;
        const auto width = text::display_width(word);
        if (!first && at + 1 + width > columns) {
            out += "\n" + std::string(indent, ' ');
            at = indent;
            first = true;
        }
        if (!first) {
            out += ' ';
            ++at;
        }
        out += word;
        at += width;
        first = false;
    }
    return out;
}

std::string row(const std::string& left, std::string_view right, std::size_t columns) {
    std::string out = "  " + left;
    if (right.empty()) return out + "\n";
    const auto indent = columns < 60 ? 6 : kColumn;
    if (text::display_width(out) + 2 > indent) {
        // An option with many values is longer than a line.
        if (text::display_width(out) > columns && left.find('|') != std::string::npos)
            out = "  " + text::replace_all(wrapped(text::replace_all(left, "|", " |"), columns - 2, 6, 2),
                                           " |", "|");
        out += "\n" + std::string(indent, ' ');
    } else {
        out.resize(indent, ' ');
    }
    return out + wrapped(right, columns, indent, indent) + "\n";
}

std::string option_row(const OptionLine& option, std::size_t columns) {
    const auto conditions = option.conditions();
    if (conditions.empty()) return row(option.usage(), option.help, columns);
    const auto left = option.usage() + "   (" + conditions + ")";
    // `--format text|json   (default: text)`, where it fits.
    if (!option.positional && text::display_width(left) + 2 <= columns)
        return row(left, option.help, columns);
    return row(option.usage(), option.help + " (" + conditions + ")", columns);
}

bool starts_row(std::string_view line) {
    return line.starts_with(' ') || line.starts_with('`') || line.starts_with("Example: ");
}

// Lines of the details stay as they are written where they fit; a paragraph in which one does not is filled
// anew.
std::string filled(const std::string& footer, std::size_t columns) {
    std::string out;
    std::vector<std::string> paragraph;
    const auto flush = [&] {
        const bool fits = std::all_of(paragraph.begin(), paragraph.end(), [&](const std::string& line) {
            return text::display_width(line) <= columns;
        });
        std::string joined;
        const auto put = [&] {
            if (joined.empty()) return;
            const auto indent = std::min(joined.find_first_not_of(' '), columns / 2);
            out += std::string(indent, ' ') + wrapped(joined, columns, indent, indent) + "\n";
            joined.clear();
        };
        for (const auto& line : paragraph) {
            if (fits) {
                out += line + "\n";
                continue;
            }
            // Text in columns keeps its spaces.
            if (line.starts_with(' ') && text::display_width(line) <= columns) {
                put();
                out += line + "\n";
                continue;
            }
            if (starts_row(line)) put();
            joined += (joined.empty() ? "" : " ") + line;
        }
        put();
        paragraph.clear();
    };
    for (const auto& line : text::split(footer, '\n')) {
        if (!line.empty()) {
            paragraph.push_back(line);
            continue;
        }
        flush();
        out += "\n";
    }
    flush();
    return out;
}

}  // namespace

std::string help_text(const CommandLine& command, std::size_t columns) {
    std::string out = wrapped(command.summary, columns, 0, 0) + "\n";
    out += wrapped("Usage: " + command.usage(), columns, 7, 0) + "\n";
    const auto positional = [](const OptionLine& option) { return option.positional; };
    if (std::any_of(command.options.begin(), command.options.end(), positional)) out += "\n";
    for (const auto& option : command.options) {
        if (option.positional) out += option_row(option, columns);
    }
    out += "\nOptions:\n";
    for (const auto& option : command.options) {
        if (!option.positional) out += option_row(option, columns);
    }
    if (!command.subcommands.empty()) out += "\nCommands:\n";
    for (const auto& one : command.subcommands)
        out += row(one.name, one.summary, columns);
    if (!command.footer.empty()) out += "\n" + filled(command.footer, columns);
    return out;
}

}  // namespace cudamatrix
