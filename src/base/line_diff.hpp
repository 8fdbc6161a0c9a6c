// What differs between two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace cudamatrix {

/// The unified diff (three lines of context, head lines with the two names); empty where the texts are equal.
/// Up to 1,000 edits it is the shortest (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations",
/// 1986); beyond, everything between the first and the last difference is replaced.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after,
                                       std::string_view before_name, std::string_view after_name);

}  // namespace cudamatrix
