// Checks on the bytes of a YAML text that the parser does not make (private to src/matrix, but for
// end_of_quoted, which edits of the text need too).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix::yaml {

/// Line and column (both from 1, the column in bytes) of the byte at `offset`.
[[nodiscard]] Location location_at(std::string_view text, std::size_t offset, std::string_view file);

/// The normalised text, or what makes it unfit for the parser: too large, not UTF-8, a control or
/// direction-changing character, a tab in the indentation, a directive.
[[nodiscard]] Result<std::string> prepared(std::string_view text, std::string_view file,
                                           const Limits& limits);

/// Without byte order mark and tabs that indent nothing, with plain line ends; lines and columns stay what
/// they were.
[[nodiscard]] std::string normalised(std::string_view text);

/// Where a character stands that no value may have: a control other than tab and line end, or a change of
/// direction.
[[nodiscard]] std::optional<std::size_t> forbidden_character(std::string_view text);

/// "U+0007" of the character at `offset` of a valid UTF-8 text.
[[nodiscard]] std::string code_point_name(std::string_view text, std::size_t offset);

/// Offset just behind the quoted scalar that starts at `start`, npos if it does not end.
[[nodiscard]] std::size_t end_of_quoted(std::string_view text, std::size_t start);

/// What is wrong with the flow collection ("[...]", "{...}") at `start` although yaml-cpp takes it: an empty
/// entry, or text after its end.
struct FlowProblem {
    std::size_t offset;
    std::string message;
    std::string fix;
};
[[nodiscard]] std::optional<FlowProblem> check_flow(std::string_view text, std::size_t start);

/// True when only blanks, a comment or the end of the line follow `offset`.
[[nodiscard]] bool rest_is_blank(std::string_view text, std::size_t offset);

/// yaml-cpp's message in our words.
struct Wording {
    std::string message;
    std::string fix;
    bool unclosed = false;  ///< a collection without its closing bracket
};
[[nodiscard]] Wording in_our_words(std::string_view yaml_cpp_message);

}  // namespace cudamatrix::yaml
