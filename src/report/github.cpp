#include "report/github.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {
namespace {

constexpr std::size_t kLongest = 2000;  // of one line of a message, in columns

// The runner's own rules (actions/toolkit, command.ts): '%' first, then line ends; in properties also ':' and
// ','.
std::string escaped_data(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '%':
                out += "%25";
                break;
            case '\r':
                out += "%0D";
                break;
            case '\n':
                out += "%0A";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string escaped_property(std::string_view text) {
    return text::replace_all(text::replace_all(escaped_data(text), ":", "%3A"), ",", "%2C");
}

}  // namespace

std::string_view github_command(Severity severity) {
    switch (severity) {
        case Severity::error:
            return "error";
        case Severity::warning:
            return "warning";
        case Severity::unknown:
            return "warning";
        case Severity::note:
            return "notice";
    }
    return "error";
}

std::string github_annotation(std::string_view command, const Location& where, std::string_view title,
                              const std::vector<std::string>& lines) {
    std::vector<std::string> properties;
    if (!where.file.empty()) properties.push_back("file=" + escaped_property(text::printable(where.file)));
    if (where.line != 0) {
        properties.push_back(fmt::format("line={}", where.line));
        if (where.column != 0) {
            properties.push_back(fmt::format("col={}", where.column));
            properties.push_back(
                fmt::format("endColumn={}", where.column + std::max<std::size_t>(where.length, 1)));
        }
    }
    properties.push_back("title=" + escaped_property(clipped(title, 120)));
    std::vector<std::string> clean;
    for (const auto& line : lines)
        clean.push_back(clipped(line, kLongest));
    return fmt::format("::{} {}::{}\n", command, text::join(properties, ","),
                       escaped_data(text::join(clean, "\n")));
}

}  // namespace cudamatrix::report
