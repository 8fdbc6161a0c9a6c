// What differs between two texts, line by line.
#pragma once

#include <string>
#include <string_view>

namespace cudamatrix {

/// The unified diff (three lines of context) that `patch` reads, with its two head lines; empty where the
/// texts are equal. `before_name` and `after_name` stand behind --- and +++. The least edits are looked for
/// (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986) as long as there are at most 1,000
/// of them; beyond, what lies between the first and the last difference is shown as replaced.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after,
                                       std::string_view before_name, std::string_view after_name);

}  // namespace cudamatrix
