// The instructions of a Dockerfile, lines joined, with their flags and documents (private to advise/sources).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/sources/text.hpp"

namespace cudamatrix::sources {

struct Heredoc {
    std::string name;
    bool strips_tabs = false;
    Script body;
};

struct Instruction {
    std::string keyword;  // upper case
    Script rest;          // without the flags
    std::vector<std::pair<std::string, std::string>> flags;
    std::vector<Heredoc> heredocs;
    Location where;
};

// Lines in, instructions out.
class Instructions {
  public:
    explicit Instructions(const FileText& file);

    /// Nothing: the file is at its end.
    [[nodiscard]] std::optional<Instruction> next();
    /// What joins lines and escapes characters: a backslash, or what the file says.
    [[nodiscard]] char escape() const { return escape_; }

  private:
    void read_directives();
    void take_heredocs(Instruction& out);

    const FileText& file_;
    std::string_view text_;
    std::size_t at_ = 0;
    char escape_ = '\\';
};

/// A backslash at the end of a line joins it with the next one, in a document too.
[[nodiscard]] Script joined(const Script& body);

}  // namespace cudamatrix::sources
