// Fixes as data: replacements in the text of the matrix file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/lint/suppressions.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::lint {

/// Puts `text` in the place of what stands from one position to another. Lines and columns count from 1,
/// columns in bytes; the end is the first byte that stays.
struct Edit {
    std::size_t line = 1, column = 1;
    std::size_t end_line = 1, end_column = 1;
    std::string text;

    friend bool operator==(const Edit&, const Edit&) = default;
};

/// `source` after all of `edits`, which must not overlap.
[[nodiscard]] std::string applied(std::string_view source, std::vector<Edit> edits);

/// Makes edits of the file that a matrix was read from. Nothing comes back where the text is not written in a
/// way that it understands.
class Editor {
  public:
    /// Both have to outlive it.
    Editor(const Matrix& matrix, const Places& places)
        : matrix_(matrix), places_(places), source_(matrix.source) {}

    /// Takes out the item of a list, or the member of a map, that starts at `where`.
    [[nodiscard]] std::optional<Edit> remove(const Location& where) const;
    /// Takes out the member of a map whose value starts at `value`.
    [[nodiscard]] std::optional<Edit> remove_member(const Location& value, std::string_view key) const;
    /// Writes `text` in the place of the scalar at `where`.
    [[nodiscard]] std::optional<Edit> replace(const Location& where, std::string_view text) const;
    /// Writes "KEY: VALUE" as a new member before the first one of `set`, or as a new `set` at the end of the
    /// file; the value is copied from where it stands.
    [[nodiscard]] std::optional<Edit> add_to_set(std::string_view key, const Location& value) const;
    /// Writes `texts` as new first items of the list that starts at `where`.
    [[nodiscard]] std::optional<Edit> add_to_list(const Location& where,
                                                  const std::vector<std::string>& texts) const;

    /// `edits`, with expect_cells moved to `cells`, if what they make is a matrix file of that many cells;
    /// else none.
    [[nodiscard]] std::vector<Edit> checked(std::vector<Edit> edits, std::uint64_t cells) const;

  private:
    [[nodiscard]] std::optional<std::size_t> offset_of(const Location& where) const;
    [[nodiscard]] std::optional<std::size_t> key_before(std::size_t value, std::string_view key) const;
    [[nodiscard]] Edit between(std::size_t begin, std::size_t end, std::string text = {}) const;
    [[nodiscard]] bool in_flow(std::size_t offset) const;
    [[nodiscard]] std::size_t end_of_item(std::size_t start, bool flow) const;
    [[nodiscard]] std::optional<Edit> remove_from_flow(std::size_t start) const;
    [[nodiscard]] std::optional<Edit> remove_from_block(std::size_t start) const;

    const Matrix& matrix_;
    const Places& places_;
    std::string_view source_;
};

}  // namespace cudamatrix::lint
