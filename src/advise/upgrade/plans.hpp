// Where a matrix could go: what stays on its line, what is next, what is newest. Each is found by asking the
// rules about every cell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/upgrade/fleet.hpp"
#include "base/result.hpp"

namespace cudamatrix::upgrade {

/// hold: every value to the newest of its line (driver branch, CUDA minor, torch minor) with which no cell
/// gets worse (Fleet::makes_worse). next: beside that the newest software with which none gets worse; a
/// driver or system that ends within `kEndsWithin` months moves to the one that lasts longest, if that
/// outlives all of its axis; beside a torch the toolkit is that of its build; pythons and systems of an axis
/// that have ended are dropped, but for rows with a cell of `keep:`. ambitious: the newest torch (image,
/// CUDA) with which anything works, on the newest hosts, with as many cells as possible; others may be lost.
/// wanted: what the user asks for, and the packages that go with its torch.
enum class Aim : std::uint8_t { hold, next, ambitious, wanted };
[[nodiscard]] std::string_view to_string(Aim aim);
/// Those that are found without being told any value.
inline constexpr std::array kAims{Aim::hold, Aim::next, Aim::ambitious};
inline constexpr int kEndsWithin = 12;

struct UnitPlan {
    std::vector<Values> rows;     ///< what stands in the place of each row
    std::optional<Values> added;  ///< one more row, beside an axis with several
    std::vector<bool> dropped;    ///< by row
};

struct Plan {
    Aim aim = Aim::hold;
    std::vector<UnitPlan> units;
};

/// Input failures: an entry of `keep:` that no cell meets; of what the fleet is asked for a field that the
/// file does not name, in which its rows of `include` differ, or whose value it has.
[[nodiscard]] Result<Plan> plan_for(Fleet& fleet, Aim aim);

}  // namespace cudamatrix::upgrade
