// A log as its words: what a terminal, a tool or a copy on a web page adds to a message is taken out. Private
// to advise/symptoms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix::symptoms {

class LogText {
  public:
    /// Escape sequences, control characters and the zero bytes of UTF-16 go, a run of blanks and line ends is
    /// one blank, every kind of quote is ' or ".
    explicit LogText(std::string_view bytes);

    /// In lower case.
    [[nodiscard]] std::string_view words() const { return words_; }

    struct Line {
        std::size_t number = 0;  ///< counted from 1, as in the log
        std::string text;        ///< what of it is around the position, as it was written; fit for a terminal
    };
    /// The line in which the word at that position of words() stands.
    [[nodiscard]] Line line_at(std::size_t position) const;

  private:
    struct Start {
        std::uint32_t at;  ///< in words_
        std::uint32_t number;
    };

    void add(char c);
    void end_line();

    std::string words_;
    std::string written_;        ///< words_ before its letters became small: positions are the same
    std::vector<Start> starts_;  ///< of the lines with a word
    std::uint32_t number_ = 1;
    bool in_blank_ = true;
    bool at_start_ = true;
};

}  // namespace cudamatrix::symptoms
