// What one step does to the cells by itself: which of them it would make work, which it would break, and by
// which rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/upgrade/fleet.hpp"
#include "knowledge/facts/facts.hpp"

namespace cudamatrix::review {

/// A rule that makes the difference, with what it says of the first of the cells.
struct Reason {
    std::string rule, message;
    std::uint64_t cells = 0;
    std::vector<FactRef> facts;
    Verdict verdict = Verdict::rejected;  ///< what it makes of the cells
};
/// What rejects before what leaves open, then the most cells first.
void sort_reasons(std::vector<Reason>& reasons);

/// One value in the place of another, everything else as it is (packages that go with a torch follow it).
struct Move {
    Field field = Field::torch;
    std::string before, now;
    std::string released;  ///< of `now`: YYYY-MM-DD or YYYY-MM; empty: no fact names the day
    std::uint64_t gained = 0, lost = 0, working = 0;  ///< cells; `working` afterwards, of all
    std::vector<Reason> gained_from;                  ///< what speaks against the cells as they are
    std::vector<Reason> lost_to;                      ///< what would speak against them then
};

/// For each value that moves by itself (of an axis its newest row) the newest one that is out, and the newer
/// minors below it, `most` altogether: newest first. Of the builds of one release the one with which most
/// cells work. Nothing for a value that is the newest.
[[nodiscard]] std::vector<Move> moves_of(upgrade::Fleet& fleet, std::size_t most);

}  // namespace cudamatrix::review
