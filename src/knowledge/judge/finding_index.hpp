// The findings of a matrix, each once with the number of cells that share it (private to knowledge/judge).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge/judge/judge.hpp"

namespace cudamatrix::rules {

class FindingIndex {
  public:
    /// `matrix` is kept by reference.
    explicit FindingIndex(const Matrix& matrix);

    /// The group that the finding belongs to: the same sentence about the same values, waived by the same
    /// entry. `complete` gives it with its fixes, and is asked for the first of its kind only.
    [[nodiscard]] std::uint32_t of(const Finding& finding, const Cell& cell, const Waiver* waived,
                                   const std::function<Finding()>& complete);
    /// The group of the news that a waiver has ended.
    [[nodiscard]] std::uint32_t of_expiry(const Waiver& waiver, const Finding& news, const Cell& cell);

    /// One more cell of the group.
    void meet(std::uint32_t group, const std::string& cell_id);

    /// In the order of first appearance; a rejection's last fix is to leave the combination out.
    [[nodiscard]] std::vector<FindingGroup> take() &&;

  private:
    [[nodiscard]] std::uint32_t next_id() const { return static_cast<std::uint32_t>(groups_.size()); }
    void add(FindingGroup group, const Cell& cell);

    const Matrix& matrix_;
    std::uint64_t product_;
    std::unordered_map<std::string, std::uint32_t> ids_;
    std::vector<FindingGroup> groups_;
    std::vector<Cell> firsts_;  ///< the cell in which each finding was first seen
};

// The last resort of a rejection: to leave the combination out.

/// The exclude that takes the values of `finding.about` out of the product, as they stand in `cell`. Nothing
/// when none of them varies, when other values would go with them ("570" covers 570.124.06), or when one of
/// them is a map or a list of several names, which no condition can spell.
[[nodiscard]] std::optional<FixOption> exclude_fix(const Matrix& matrix, const Cell& cell,
                                                   const Finding& finding);

}  // namespace cudamatrix::rules
