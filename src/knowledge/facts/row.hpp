// A row of a table of facts. The rows of the binary are positions in constant data: without a pointer in them
// the loader has nothing to relocate, and a page that nobody reads is never loaded.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudamatrix {

/// How a fact came to be known; measured beats read, read beats unverified.
enum class Confidence { measured, read, unverified };
[[nodiscard]] std::string_view to_string(Confidence confidence);

/// What an answer rests on: the row's id, and where anyone can look it up.
struct FactRef {
    std::string id;
    std::vector<std::string> sources;
    std::string as_of;
    Confidence confidence = Confidence::read;
    bool is_old = false;  ///< on the day of the check, see facts/age.hpp; set where an answer is made
};

namespace facts {

struct TextAt {
    std::uint32_t first, size;  ///< in Pool::text
};

struct ColumnAt {
    std::uint32_t name;          ///< in Pool::texts
    std::uint32_t first, count;  ///< of its values, in Pool::texts
    bool is_list;
};

/// What rows point into. It outlives them.
struct Pool {
    const char* text = nullptr;
    const TextAt* texts = nullptr;
    const ColumnAt* columns = nullptr;

    [[nodiscard]] std::string_view at(std::size_t index) const {
        return {text + texts[index].first, texts[index].size};
    }
};

/// Walks over anything small with size() and operator[]; keeps a copy of it.
template <class Range>
class IndexIterator {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = decltype(std::declval<const Range&>()[0]);
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    IndexIterator() = default;
    IndexIterator(const Range& range, std::size_t index)
        : range_(range), index_(static_cast<std::ptrdiff_t>(index)) {}

    reference operator*() const { return range_[static_cast<std::size_t>(index_)]; }
    reference operator[](std::ptrdiff_t n) const { return *(*this + n); }
    IndexIterator& operator+=(std::ptrdiff_t n) {
        index_ += n;
        return *this;
    }
    IndexIterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
    IndexIterator& operator++() { return *this += 1; }
    IndexIterator& operator--() { return *this += -1; }
    IndexIterator operator++(int) {
        auto before = *this;
        ++*this;
        return before;
    }
    IndexIterator operator--(int) {
        auto before = *this;
        --*this;
        return before;
    }
    friend IndexIterator operator+(IndexIterator it, std::ptrdiff_t n) { return it += n; }
    friend IndexIterator operator+(std::ptrdiff_t n, IndexIterator it) { return it += n; }
    friend IndexIterator operator-(IndexIterator it, std::ptrdiff_t n) { return it -= n; }
    friend std::ptrdiff_t operator-(const IndexIterator& a, const IndexIterator& b) {
        return a.index_ - b.index_;
    }
    friend bool operator==(const IndexIterator& a, const IndexIterator& b) { return a.index_ == b.index_; }
    friend auto operator<=>(const IndexIterator& a, const IndexIterator& b) { return a.index_ <=> b.index_; }

  private:
    Range range_;
    std::ptrdiff_t index_ = 0;
};

/// The values of one column.
class Values {
  public:
    using value_type = std::string_view;

    Values() = default;
    Values(const Pool& pool, std::size_t first, std::size_t count)
        : pool_(&pool), first_(first), count_(count) {}

    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::string_view operator[](std::size_t index) const { return pool_->at(first_ + index); }
    [[nodiscard]] std::string_view front() const { return (*this)[0]; }
    [[nodiscard]] std::string_view back() const { return (*this)[count_ - 1]; }
    [[nodiscard]] IndexIterator<Values> begin() const { return {*this, 0}; }
    [[nodiscard]] IndexIterator<Values> end() const { return {*this, count_}; }

  private:
    const Pool* pool_ = nullptr;
    std::size_t first_ = 0, count_ = 0;
};

[[nodiscard]] bool contains(const Values& values, std::string_view value);

}  // namespace facts

/// Flat: every column a scalar or a list of scalars, all text.
class Row {
  public:
    struct Column {
        std::string_view name;
        facts::Values values;  ///< a scalar has one
        bool is_list = false;
    };

    class Columns {
      public:
        Columns() = default;
        Columns(const facts::Pool& pool, std::uint32_t first, std::uint32_t count)
            : pool_(&pool), first_(first), count_(count) {}

        [[nodiscard]] std::size_t size() const { return count_; }
        [[nodiscard]] Column operator[](std::size_t index) const {
            const auto& column = pool_->columns[first_ + index];
            return {pool_->at(column.name), {*pool_, column.first, column.count}, column.is_list};
        }
        [[nodiscard]] facts::IndexIterator<Columns> begin() const { return {*this, 0}; }
        [[nodiscard]] facts::IndexIterator<Columns> end() const { return {*this, count_}; }

      private:
        const facts::Pool* pool_ = nullptr;
        std::uint32_t first_ = 0, count_ = 0;
    };

    explicit Row(const Columns& columns) : columns_(columns) {}

    [[nodiscard]] std::string_view id() const { return text("id"); }
    [[nodiscard]] bool has(std::string_view column) const;
    /// The scalar in `column`, empty where the row has none.
    [[nodiscard]] std::string_view text(std::string_view column) const;
    /// The values in `column`, empty where the row has none.
    [[nodiscard]] facts::Values list(std::string_view column) const;
    [[nodiscard]] const Columns& columns() const { return columns_; }
    [[nodiscard]] FactRef ref() const;
    [[nodiscard]] Confidence confidence() const;

  private:
    Columns columns_;
};

}  // namespace cudamatrix
