// Where the parts of a matrix file stand, from its own text: a matrix keeps the places of its values only.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "matrix/matrix.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix::lint {

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
