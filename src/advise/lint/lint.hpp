// What in a matrix file does nothing, or not what its author thinks: unused values, conditions that match
// nothing, cells that share an image, names that cannot exist, waivers at their end.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/edit/editor.hpp"
#include "base/diagnostic.hpp"
#include "knowledge/facts/facts.hpp"
#include "knowledge/judge/judge.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::lint {

// Comments that let a finding be: `# lint: allow ID[, ID...][: reason]`. Behind a value or in front of its
// line it is for that line, above the first line of the file for the whole file.

class Suppressions {
  public:
    Suppressions(std::string_view source, std::string_view file);

    [[nodiscard]] bool covers(std::string_view id, const Location& where) const;

    struct Word {
        std::string id;
        Location where;
    };
    /// Every id that a comment names.
    [[nodiscard]] const std::vector<Word>& words() const { return words_; }

  private:
    std::vector<std::string> everywhere_;
    std::map<std::size_t, std::vector<std::string>> by_line_;
    std::vector<Word> words_;
};

/// One thing that is looked for. The id is stable: comments of matrix files name it.
struct Check {
    std::string_view id;
    Severity severity;       ///< error, warning or note
    std::string_view about;  ///< one line for the help
};

/// THE list of checks.
[[nodiscard]] std::span<const Check> checks();

struct Finding {
    std::string_view id;  ///< of its check
    Severity severity = Severity::warning;
    Location where;  ///< nowhere: of no line of the file
    std::string message;
    std::vector<std::string> notes;
    std::string fix;  ///< in words
    std::vector<Edit>
        edits;  ///< the fix as data; empty where somebody has to decide, or to write more than one value
};

struct Input {
    const Matrix& matrix;
    const Facts& facts;
    const Judgement& judgement;      ///< with its cells
    std::string_view today;          ///< YYYY-MM-DD
    unsigned within = 30;            ///< days before its end in which a waiver is "about to end"
    std::string facts_warning = {};  ///< that the facts are old; empty: they are not
    bool edits = true;  ///< false: the matrix is not what its file says, so nothing can be edited there
};

struct Report {
    std::vector<Finding> findings;  ///< in the order of the file
    std::size_t suppressed = 0;     ///< findings that comments of the file allow (see suppressions.hpp)
    std::size_t images = 0;         ///< images that the cells would be rendered into

    [[nodiscard]] std::size_t count(Severity severity) const;
};

[[nodiscard]] Report lint(const Input& input);

}  // namespace cudamatrix::lint
