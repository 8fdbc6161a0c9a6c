// YAML as a bounded tree with positions (the only user of yaml-cpp, through its event interface), and the
// checks on the bytes of a YAML text that the parser does not make.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/result.hpp"

namespace cudamatrix::yaml {

struct Member;

struct Node {
    enum class Kind { null, scalar, sequence, map } kind = Kind::null;
    Location where;
    std::string text;  ///< scalar: its text, quoted or not
    bool quoted = false;
    std::vector<Node> items;      ///< sequence
    std::vector<Member> members;  ///< map, keys are scalars and unique

    [[nodiscard]] const Member* member(std::string_view key) const;
    [[nodiscard]] const Node* find(std::string_view key) const;
};

/// A member of a map: its key and its value.
struct Member {
    Node first;
    Node second;
};

/// Limits against hostile input. Facts files use larger ones than matrix files.
struct Limits {
    std::size_t bytes = 1u << 20;
    std::size_t events = 20'000;
    std::size_t depth = 16;
    std::size_t scalar_bytes = 64u << 10;
};

/// Parses one document. Refused with a position: invalid UTF-8, control characters, anchors, aliases, tags,
/// merge keys, duplicate and non-scalar keys, a second document, anything beyond `limits`, and what yaml-cpp
/// refuses.
[[nodiscard]] Result<Node> parse(std::string_view text, std::string_view file_name,
                                 const Limits& limits = {});

// Private to src/matrix, but for end_of_quoted, end_mark and in_the_manner_of, which edits of the text need
// too.

/// Line and column (both from 1, the column in bytes) of the byte at `offset`.
[[nodiscard]] Location location_at(std::string_view text, std::size_t offset, std::string_view file);

/// The normalised text, or what makes it unfit for the parser: too large, not UTF-8, a control or
/// direction-changing character, a tab in the indentation, a directive.
[[nodiscard]] Result<std::string> prepared(std::string_view text, std::string_view file,
                                           const Limits& limits);

/// Without byte order mark and tabs that indent nothing, with plain line ends; lines and columns stay what
/// they were.
[[nodiscard]] std::string normalised(std::string_view text);
/// A normalised text with the byte order mark and the line ends that `raw` has.
[[nodiscard]] std::string in_the_manner_of(std::string_view raw, std::string_view text);

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

/// Offset of the last line that is neither blank nor a comment, where it is "...", which ends a document. No
/// value can hold such a line: it ends every one.
[[nodiscard]] std::optional<std::size_t> end_mark(std::string_view text);

/// yaml-cpp's message in our words.
struct Wording {
    std::string message;
    std::string fix;
    bool unclosed = false;  ///< a collection without its closing bracket
};
[[nodiscard]] Wording in_our_words(std::string_view yaml_cpp_message);

}  // namespace cudamatrix::yaml
