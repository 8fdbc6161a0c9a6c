// Text in GitHub's Markdown: whatever it is, it stays text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::report::markdown {

/// `text` on one line without markup, HTML, or mention of a person or an issue; cut to 2,000 columns.
[[nodiscard]] std::string plain(std::string_view text);

/// The same where a block begins: neither a list nor a rule either.
[[nodiscard]] std::string block(std::string_view text);

/// The same between HTML tags, where Markdown does not reach: with its line ends, not cut.
[[nodiscard]] std::string inside_html(std::string_view text);

/// "| a | b |", and the line under the titles of a table.
[[nodiscard]] std::string row(const std::vector<std::string>& cells);
[[nodiscard]] std::string rule(std::size_t columns);

inline constexpr std::size_t kMarkdownLimit = 65'536;  ///< of the body of a comment, in characters

/// Text up to that limit. What is added comes whole or is counted.
class Comment {
  public:
    void add(std::string_view text) { text_ += text; }

    /// `head`, the items that fit below `room`, `tail`. Where none fits: nothing.
    void section(std::string_view head, const std::vector<std::string>& items, std::string_view tail,
                 std::string_view noun, std::size_t room = kMarkdownLimit - kKept);
    /// The text, if it fits; else `name` is among what is left out.
    void whole(std::string_view text, std::string name);
    /// The text, and a sentence that says what is left out.
    [[nodiscard]] std::string finish() &&;

  private:
    static constexpr std::size_t kKept = 1000;  // characters, for that sentence

    std::string text_;
    std::vector<std::string> left_out_;
};

}  // namespace cudamatrix::report::markdown
