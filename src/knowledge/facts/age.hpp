// How old what is known is, on a day that the caller names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "knowledge/facts/facts.hpp"

namespace cudamatrix {

/// A fact looked up more days ago than this is said to be old.
inline constexpr std::int64_t kOldAfterDays = 180;

/// Both YYYY-MM-DD; false where one of them is not.
[[nodiscard]] bool is_old(std::string_view as_of, std::string_view today);

[[nodiscard]] std::size_t old_rows(std::span<const Row> rows, std::string_view today);

/// Oldest `as_of` of the rows, empty where none has one.
[[nodiscard]] std::string oldest_date(std::span<const Row> rows);

/// The day by which half of all rows had been looked up: a few newer ones do not move it.
[[nodiscard]] std::string median_date(std::span<const Table> tables);

}  // namespace cudamatrix
