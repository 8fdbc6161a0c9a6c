// Comments that let a finding be: `# lint: allow ID[, ID...][: reason]`. Behind a value or in front of its
// line it is for that line, above the first line of the file for the whole file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace cudamatrix::lint {

class Allowed {
  public:
    Allowed(std::string_view source, std::string_view file);

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

}  // namespace cudamatrix::lint
