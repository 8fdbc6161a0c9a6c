// A report for people, in parts that read the same as Markdown, as an HTML page and as text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/inputs.hpp"

namespace cudamatrix::report {

/// What a value stands for: a colour and, where there are no colours, a sign before it.
enum class Tone : std::uint8_t { plain, good, warning, bad, dim };

/// The value of a table's cell. No text in a document is markup; one that is wholly an https address becomes
/// a link.
struct Span {
    std::string text;
    Tone tone = Tone::plain;
    bool is_code = false;

    Span() = default;
    Span(std::string content, Tone meaning = Tone::plain, bool code = false)
        : text(std::move(content)), tone(meaning), is_code(code) {}
    Span(const char* content, Tone meaning = Tone::plain, bool code = false)
        : Span(std::string(content), meaning, code) {}
};

struct DocumentTable {
    std::vector<std::string> head;
    std::vector<std::vector<Span>> rows;
    std::vector<bool> numbers = {};  ///< by column: right aligned; may be shorter than the head
};

struct DocumentList {
    std::vector<std::string> items;
};

struct DocumentCode {
    std::string text;
    std::string language = {};  ///< "sh", "diff", "yaml"
};

/// What happens in which month.
struct Timeline {
    std::string first;  ///< YYYY-MM
    unsigned months = 13;
    struct Line {
        std::string label;
        std::string day;  ///< YYYY-MM-DD or YYYY-MM; before `first` it is shown at the left edge
        Tone tone = Tone::plain;
        std::string what = {};
    };
    std::vector<Line> lines = {};  ///< one whose day is none of these months, or no day, has no mark
};

struct Paragraph {
    std::string text;
};

using Block = std::variant<Paragraph, DocumentList, DocumentTable, DocumentCode, Timeline>;

struct DocumentSection {
    std::string title;
    std::vector<Block> blocks = {};
    bool folded = false;  ///< what few want to read: closed at first where that is possible
};

struct Document {
    std::string title;
    std::vector<std::string> lead = {};  ///< paragraphs
    std::vector<DocumentSection> sections = {};
};

/// For a terminal. No value is cut: what does not fit into its column is wrapped, and a table that is too
/// wide for that is written a line for each value.
[[nodiscard]] std::string document_text(const Document& document, const TextOptions& options);

/// A file in GitHub's Markdown, of any length.
[[nodiscard]] std::string document_markdown(const Document& document);

/// A comment on a pull request, within markdown::kMarkdownLimit. A section comes whole, or is named as left
/// out.
[[nodiscard]] std::string document_comment(const Document& document);

/// A page that stands alone and runs no script, for a screen of any width and for paper.
[[nodiscard]] std::string document_html(const Document& document);

}  // namespace cudamatrix::report
