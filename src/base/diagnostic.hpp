// Diagnostics with positions, printed as a compiler prints them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix {

/// A place in a user's file. Lines and columns count from 1; line 0 means "the file as a whole", an empty
/// file "nowhere".
struct Location {
    std::string file;
    std::size_t line = 0;
    std::size_t column = 0;
    std::size_t length = 1;  ///< columns that the caret line underlines

    friend bool operator==(const Location&, const Location&) = default;
};

enum class Severity { error, warning, unknown, note, notice };
inline constexpr std::size_t kSeverityCount = 5;

[[nodiscard]] std::string_view to_string(Severity severity);

struct Diagnostic {
    Severity severity = Severity::error;
    Location where;
    std::string message;
    std::vector<std::string> notes;
    std::string fix;  ///< what to do about it; empty when there is nothing to do

    [[nodiscard]] static Diagnostic error(std::string message, Location where = {});
    [[nodiscard]] static Diagnostic warning(std::string message, Location where = {});
    [[nodiscard]] static Diagnostic note(std::string message, Location where = {});
    [[nodiscard]] Diagnostic with_fix(std::string text) &&;
    [[nodiscard]] Diagnostic with_note(std::string text) &&;
};

/// Renders one diagnostic, newline at the end:
///     file:line:col: error: message
///       4 |   driver: ["470.161.03"]
///         |            ^~~~~~~~~~~~
///       note: ...
///       fix: ...
/// `source` is the text of the file in `where`; empty: no excerpt. Control characters are replaced: hostile
/// input cannot drive the terminal.
[[nodiscard]] std::string render(const Diagnostic& diagnostic, std::string_view source, bool colour = false);

}  // namespace cudamatrix
