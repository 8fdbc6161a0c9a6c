// The text that reports share: cleaning, cutting, wrapping, tables, annotations, and XML 1.0 that stays
// well-formed whatever the text was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"

namespace cudamatrix::report {

/// `text` on one line, fit for a terminal, and at most `columns` wide: what is longer loses its end to "...".
[[nodiscard]] std::string clipped(std::string_view text, std::size_t columns);

/// The same, but the middle is lost: for ids, whose ends tell them apart.
[[nodiscard]] std::string clipped_middle(std::string_view text, std::size_t columns);

/// `text` in a URI: letters, digits, "._~-" and the characters of `also` as they are.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::string_view also = {});

/// `text` on lines of at most `columns`, each behind `indent` blanks and with a newline; broken at blanks
/// where there are any. No more than `lines` lines: the last one then ends in "...".
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns,
                                  std::size_t lines);

enum class Colour { none, red, green, yellow, magenta, bold };
[[nodiscard]] std::string coloured(std::string_view text, Colour colour, bool enabled);

/// The colour in which a verdict, an outcome or a status is shown; none for a word that is neither.
[[nodiscard]] Colour colour_of(std::string_view word);

/// A table whose first column is the name of the row. Where a row does not fit, the name gets a line of its
/// own.
class TextTable {
  public:
    struct Column {
        std::string title;
        bool right = false;   ///< numbers
        bool by_row = false;  ///< in the colour of the row
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    void add(std::vector<std::string> row, Colour colour = Colour::none) {
        rows_.push_back(std::move(row));
        colours_.push_back(colour);
    }
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// Every line at most `width` columns. Cells of `colour_of` words are coloured where `colour` is set.
    [[nodiscard]] std::string render(std::size_t width, bool colour) const;
    /// The same with one line for each row: where it does not fit, the widest cells lose their middle.
    [[nodiscard]] std::string render_lines(std::size_t width, bool colour) const;

  private:
    [[nodiscard]] std::vector<std::size_t> widths(std::size_t first) const;
    [[nodiscard]] std::string lines(const std::vector<std::size_t>& widths, bool colour) const;
    [[nodiscard]] std::string line(const std::vector<std::string>& row, std::size_t first,
                                   const std::vector<std::size_t>& widths, bool colour,
                                   Colour of_row = Colour::none) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<Colour> colours_;  ///< one for each row
};

/// "error", "warning" or "notice".
[[nodiscard]] std::string_view github_command(Severity severity);

/// One command on one line, with a newline: the runner shows `lines` at `where`. Every text is escaped, so
/// that none can become a command or a property.
[[nodiscard]] std::string github_annotation(std::string_view command, const Location& where,
                                            std::string_view title, const std::vector<std::string>& lines);

}  // namespace cudamatrix::report

namespace cudamatrix::report::xml {

/// `text` with only characters that XML 1.0 allows: line ends and blanks stay, every other control character,
/// escape sequence, direction mark and byte that is not UTF-8 becomes '?'.
[[nodiscard]] std::string legal(std::string_view text);

/// The text of an attribute's value (without quotes), at most `limit` bytes before escaping; the end is lost
/// to "...".
[[nodiscard]] std::string attribute(std::string_view text, std::size_t limit = 4096);

/// A CDATA section (several where the text holds its end mark); of a longer text the last `limit` bytes.
[[nodiscard]] std::string cdata(std::string_view text, std::size_t limit = 64u << 10);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// `<name a="b">`, or `<name a="b"/>` when `empty`. Names come from the program, never from data.
[[nodiscard]] std::string tag(std::string_view name, const Attributes& attributes, bool empty = false);

}  // namespace cudamatrix::report::xml
