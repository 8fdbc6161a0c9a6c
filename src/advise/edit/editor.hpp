// A matrix file changed in place: edits of its text that leave comments and layout as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.hpp"
#include "matrix/matrix.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix {

// Where the parts of a matrix file stand, from its own text: a matrix keeps the places of its values only.

class Places {
  public:
    /// Of a matrix that was read; of any other there are no places.
    explicit Places(const Matrix& matrix);

    /// The value of a key of the file's top level.
    [[nodiscard]] Location value_of(std::string_view key) const;
    /// The value of `key` in the map that starts at `map`.
    [[nodiscard]] Location member_of(const Location& map, std::string_view key) const;
    /// The key of the mirror `from`.
    [[nodiscard]] Location mirror(std::string_view from) const;

    /// The section (exclude, include, rules, waive) and the whole entry of it that a place belongs to.
    struct Entry {
        std::string_view section;
        Location where;
    };
    [[nodiscard]] std::optional<Entry> entry_at(const Location& where) const;
    [[nodiscard]] const yaml::Node& root() const { return root_; }

  private:
    yaml::Node root_;
};

/// Puts `text` in the place of what stands from one position to another. Lines and columns count from 1,
/// columns in bytes; the end is the first byte that stays.
struct Edit {
    std::size_t line = 1, column = 1;
    std::size_t end_line = 1, end_column = 1;
    std::string text;

    friend bool operator==(const Edit&, const Edit&) = default;
};

/// `source` after all of `edits`, which must not overlap.
[[nodiscard]] std::string edited(std::string_view source, std::vector<Edit> edits);

/// What makes the numbers of `expect` and `expect_cells` right for a file of `cells` cells and `keys` keys;
/// `root` is the file. Another key takes no edit.
[[nodiscard]] std::vector<Edit> recounted(const yaml::Node& root, std::uint64_t cells, std::size_t keys);

/// Makes edits of the file that a matrix was read from. Nothing comes back where the text is not written in a
/// way that it understands.
class Editor {
  public:
    /// Both have to outlive it. `names`: the spellings that the file was read with.
    Editor(const Matrix& matrix, const Places& places, Spelling names = {})
        : matrix_(matrix), places_(places), source_(matrix.source), names_(std::move(names)) {}

    /// Takes out the item of a list, or the member of a map, that starts at `where`.
    [[nodiscard]] std::optional<Edit> remove(const Location& where) const;
    /// Takes out the member of a map whose value starts at `value`.
    [[nodiscard]] std::optional<Edit> remove_member(const Location& value, std::string_view key) const;
    /// The scalar at `where` as it is written, without quotes.
    [[nodiscard]] std::string_view text_at(const Location& where) const;
    /// Writes `text` in the place of the scalar at `where`.
    [[nodiscard]] std::optional<Edit> replace(const Location& where, std::string_view text) const;
    /// Writes "KEY: VALUE" as a new member before the first one of `set`, or as a new `set` at the end of the
    /// file; the value is copied from where it stands.
    [[nodiscard]] std::optional<Edit> add_to_set(std::string_view key, const Location& value) const;
    /// Writes `text`, which is an `expect`, behind `version` or in the place of `expect_cells`, and marks the
    /// end.
    [[nodiscard]] std::vector<std::optional<Edit>> add_expect(std::string_view text) const;
    /// Writes `texts` as new first items of the list that starts at `where`.
    [[nodiscard]] std::optional<Edit> add_to_list(const Location& where,
                                                  const std::vector<std::string>& texts) const;

    /// Writes `text` as a new item behind the item of a list that starts at `item` and that ends on its line.
    [[nodiscard]] std::optional<Edit> add_behind(const Location& item, std::string_view text) const;
    /// What stands from `where` to the end of its value, as it is written.
    [[nodiscard]] std::string_view source_at(const Location& where) const;

    /// `edits`, and those of what the file expects of itself, if what they make is a matrix file of `cells`
    /// cells; else none.
    [[nodiscard]] std::vector<Edit> checked(std::vector<Edit> edits, std::uint64_t cells) const;

  private:
    [[nodiscard]] std::optional<std::size_t> offset_of(const Location& where) const;
    [[nodiscard]] std::optional<std::size_t> key_before(std::size_t value, std::string_view key) const;
    [[nodiscard]] Edit between(std::size_t begin, std::size_t end, std::string text = {}) const;
    [[nodiscard]] Edit add_line(std::size_t at, std::string_view text) const;
    [[nodiscard]] bool in_flow(std::size_t offset) const;
    [[nodiscard]] std::size_t end_of_item(std::size_t start, bool flow) const;
    [[nodiscard]] std::size_t end_of_block(std::size_t start, std::size_t indent, bool is_item) const;
    [[nodiscard]] std::optional<Edit> remove_from_flow(std::size_t start) const;
    [[nodiscard]] std::optional<Edit> remove_from_block(std::size_t start) const;

    const Matrix& matrix_;
    const Places& places_;
    std::string_view source_;
    Spelling names_;
};

}  // namespace cudamatrix
