// Comments that let a finding be: `# lint: allow ID[, ID...][: reason]`. Behind a value or in front of its
// line it is for that line, above the first line of the file for the whole file.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/matrix.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix::lint {

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

// Where the parts of a matrix file stand, from its own text: a matrix keeps the places of its values only.

class Places {
  public:
    /// Of a matrix that was read; of any other there are no places.
    explicit Places(const Matrix& matrix);

    /// The number of expect_cells, the list of stages.
    [[nodiscard]] Location value_of(std::string_view key) const;
    /// The key of the mirror `from`.
    [[nodiscard]] Location mirror(std::string_view from) const;

    /// The section (exclude, include, rules, waive) and the whole entry of it that a place belongs to.
    struct Entry {
        std::string_view section;
        Location where;
    };
    [[nodiscard]] std::optional<Entry> entry_at(const Location& where) const;

  private:
    yaml::Node root_;
};

}  // namespace cudamatrix::lint
