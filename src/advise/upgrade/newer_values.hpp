// Which values could stand in the place of one that a matrix has, on a day: newer ones that were out by then.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "matrix/field.hpp"

namespace cudamatrix::upgrade {

/// When a value of a field began and ends, by the row that says so.
struct Life {
    std::string released;  ///< YYYY-MM-DD or YYYY-MM; empty: no fact names the day
    std::string ends;      ///< likewise; of a distribution with long-term support the end of that
    std::optional<FactRef> fact;
};
/// Of a driver its branch, of a torch its release, of an image what its tag names. All empty where no fact
/// knows the value.
[[nodiscard]] Life life_of(const Facts& facts, Field field, std::string_view text);

/// Whether a life is over on `day` (YYYY-MM-DD).
[[nodiscard]] bool has_ended(const Life& life, std::string_view day);

/// Newest first, each written as the present value is: a bare branch stays one, a build of torch keeps its
/// variant's form.
struct NewerValues {
    std::vector<std::string> on_line;  ///< the same driver branch, CUDA minor, torch minor and variant
    std::vector<std::string> beyond;
};

/// Nothing for a field that does not move by itself: a GPU, a package, words. A release that no fact dates is
/// offered from the day that its row was looked up, for nobody knows about earlier ones. What was yanked is
/// left out.
[[nodiscard]] NewerValues newer_values(const Facts& facts, Field field, std::string_view present,
                                       std::string_view day);

}  // namespace cudamatrix::upgrade
