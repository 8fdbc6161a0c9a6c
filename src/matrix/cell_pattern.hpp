// Which cells a person means: an id, the 12 digits that end a shortened one, a pattern of ids, or values.
#pragma once

#include <string>

#include "base/result.hpp"
#include "matrix/condition.hpp"

namespace cudamatrix {

/// "drv550.54.15-t4-cu11.8.0", "0123456789ab", "drv470*", or "cuda=11.8,python=3.13", where each covers what
/// it does not say.
class CellPattern {
  public:
    /// Input failures: values that are none of their field, a field that there is not.
    [[nodiscard]] static Result<CellPattern> parse(const std::string& text);

    [[nodiscard]] bool means(const std::string& id, const Cell& cell) const;
    /// As it was given.
    [[nodiscard]] const std::string& text() const { return text_; }
    /// It names values, not ids.
    [[nodiscard]] bool by_values() const { return by_values_; }
    [[nodiscard]] const Condition& values() const { return values_; }

  private:
    std::string text_;
    bool by_values_ = false;
    Condition values_;
};

}  // namespace cudamatrix
