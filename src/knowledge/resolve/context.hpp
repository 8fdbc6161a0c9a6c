// What a rule may look at: the fields of a cell that it declares, the facts and the date.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "knowledge/facts/facts.hpp"
#include "knowledge/finding/finding.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix::rules {

/// Which fields of a cell were looked at, in the order of the first look: an answer depends on no others.
class ReadLog {
  public:
    void add(Field field) {
        if (seen_.contains(field)) return;
        seen_.insert(field);
        fields_[count_++] = field;
    }
    [[nodiscard]] std::span<const Field> fields() const { return {fields_.data(), count_}; }

  private:
    FieldSet seen_;
    std::array<Field, kFieldCount> fields_{};
    std::size_t count_ = 0;
};

/// The part of a cell that a rule may see: values of undeclared fields are not in it, whatever the cell
/// holds.
class ProjectedCell {
  public:
    /// `log`, where there is one, learns of every look and must outlive this and its copies.
    ProjectedCell(const Cell& cell, FieldSet visible, ReadLog* log = nullptr);

    [[nodiscard]] bool has(Field field) const { return value(field) != nullptr; }
    [[nodiscard]] const Value* value(Field field) const {
        if (log_ != nullptr) log_->add(field);
        return values_[static_cast<std::size_t>(field)];
    }
    /// The same without the log: for what tells how a rule is asked, which gives the same answer where it
    /// does not look at the field.
    [[nodiscard]] const Value* peek(Field field) const { return values_[static_cast<std::size_t>(field)]; }
    /// The text of the value, empty where the matrix says nothing.
    [[nodiscard]] std::string_view text(Field field) const;
    /// What is visible, as a cell.
    [[nodiscard]] Cell cell() const;
    /// The same view with one value replaced; `value` must outlive the copy. Undeclared fields stay
    /// invisible.
    [[nodiscard]] ProjectedCell with(Field field, const Value* value) const;
    /// The same view with the packages that the cell stands for: with releases in the place of `any`.
    [[nodiscard]] ProjectedCell with_releases(const Value* packages) const;
    /// The same view with the packages as the cell has them.
    [[nodiscard]] ProjectedCell as_written() const;

  private:
    std::array<const Value*, kFieldCount> values_{};
    const Value* written_packages_ = nullptr;  ///< where they are not those of values_
    FieldSet visible_;
    ReadLog* log_ = nullptr;
};

class Memo;

struct Context {
    const ProjectedCell& cell;
    const Facts& facts;
    std::string_view today;           ///< YYYY-MM-DD
    Memo* memo = nullptr;             ///< what was looked up before for the same facts (resolve.hpp)
    Acceptances* accepted = nullptr;  ///< where acceptances go; nullptr: they are silent

    /// The same question about another cell, which must outlive the answer.
    [[nodiscard]] Context about(const ProjectedCell& other) const {
        return {other, facts, today, memo, accepted};
    }
};

}  // namespace cudamatrix::rules
